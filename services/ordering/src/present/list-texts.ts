import type { Action } from '@clinical-launch/contracts';

type ListTexts = {
  readonly title: string;
  /** What the list has, below the title. */
  readonly lead: string;
  /** What to do when it has nothing. */
  readonly empty: { readonly title: string; readonly text: string };
};

const startAgain = 'To order tests, go back to your practice system and start test requesting there.';

const samplesOfPatient: ListTexts = {
  title: 'Samples to take',
  lead: 'Requests of this patient that still wait for samples. Choose one to record what was taken.',
  empty: { title: 'No samples of this patient are waiting to be taken', text: startAgain },
};

const reportsOfPatient: ListTexts = {
  title: 'Requests of this patient',
  lead: 'Choose a request to see its tests, samples and history.',
  empty: { title: 'Nothing has been requested for this patient here', text: startAgain },
};

/** What the list of each action says. OrderTest has none. */
export const listTexts: Readonly<Record<Exclude<Action, 'OrderTest'>, ListTexts>> = {
  UpdateTest: {
    title: 'Requests that can be changed',
    lead: 'Requests of this patient that still wait for samples. Choose one to add or remove tests.',
    empty: {
      title: 'No request of this patient can be changed',
      text: `A request whose samples are all taken is with the laboratory. ${startAgain}`,
    },
  },
  PatientSampleQueue: samplesOfPatient,
  PatientRequestList: samplesOfPatient,
  LocationSampleQueue: {
    title: 'Samples to take in this practice',
    lead: 'Requests that still wait for samples. Choose one to record what was taken.',
    empty: {
      title: 'No samples are waiting to be taken in this practice',
      text: 'A request that needs samples appears here as soon as it is ordered. Reload this page to look again.',
    },
  },
  PatientReport: reportsOfPatient,
  PatientReportList: reportsOfPatient,
  LocationReportList: {
    title: 'Requests of this practice',
    lead: 'Choose a request to see its tests, samples and history.',
    empty: {
      title: 'Nothing has been requested in this practice yet',
      text: 'A request appears here as soon as it is ordered. Reload this page to look again.',
    },
  },
};
