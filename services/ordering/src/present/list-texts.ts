import type { Action } from '@clinical-launch/contracts/launch-context';

type ListTexts = {
  readonly title: string;
  /** The description of the list, below the title. */
  readonly lead: string;
  /** The title and the next step if the list is empty. */
  readonly empty: { readonly title: string; readonly text: string };
};

const startAgain = 'To request tests, go back to your practice system and start test requesting there.';

const samplesOfPatient: ListTexts = {
  title: 'Samples to collect',
  lead: 'Requests for this patient that are waiting for samples. Choose one to record the samples that have been collected.',
  empty: { title: 'No samples are waiting to be collected for this patient', text: startAgain },
};

const reportsOfPatient: ListTexts = {
  title: 'This patient’s requests',
  lead: 'Choose a request to see its tests, samples and history.',
  empty: { title: 'No tests have been requested for this patient here', text: startAgain },
};

/** The texts of the list of each action. OrderTest has no list. */
export const listTexts: Readonly<Record<Exclude<Action, 'OrderTest'>, ListTexts>> = {
  UpdateTest: {
    title: 'Requests that can be changed',
    lead: 'Requests for this patient that are waiting for samples. Choose one to add or remove tests.',
    empty: {
      title: 'You cannot change any request for this patient',
      text: `When all samples have been collected, a request is with the laboratory. ${startAgain}`,
    },
  },
  PatientSampleQueue: samplesOfPatient,
  PatientRequestList: samplesOfPatient,
  LocationSampleQueue: {
    title: 'Samples to collect in this practice',
    lead: 'Requests that are waiting for samples. Choose one to record the samples that have been collected.',
    empty: {
      title: 'No samples are waiting to be collected in this practice',
      text: 'Requests that need samples appear here as soon as they are made. Reload this page to check again.',
    },
  },
  PatientReport: reportsOfPatient,
  PatientReportList: reportsOfPatient,
  LocationReportList: {
    title: 'Practice requests',
    lead: 'Choose a request to see its tests, samples and history.',
    empty: {
      title: 'No tests have been requested in this practice yet',
      text: 'Requests appear here as soon as they are made. Reload this page to check again.',
    },
  },
};
