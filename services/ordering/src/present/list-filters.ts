import { codeKeyOf } from '@clinical-launch/contracts/coded-identifiers';
import type { Action, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { ActionRule } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import type { ListFilters, ListSearch } from '../domain/list-search.ts';
import { fullName } from '../domain/person-name.ts';
import { laboratoryKeyOf } from '../domain/request-search.ts';
import type { Priority } from '../domain/test-request.ts';

type Filtering = {
  readonly search: ListSearch;
  readonly rule: ActionRule;
  /** The catalogue of the launch's laboratory, if it has one. */
  readonly catalogue: Catalogue | undefined;
  /** The requesters to filter by; empty for the list of a patient. */
  readonly requesters: readonly LaunchRequest['requester'][];
};

const dayTexts = { today: 'Today', yesterday: 'Yesterday', week: 'Last 7 days' } as const satisfies Record<
  NonNullable<ListFilters['day']>,
  string
>;
const priorityTexts = { urgent: 'Urgent', routine: 'Routine' } as const satisfies Record<Priority, string>;
const overdueText = 'Overdue (over a day)';

/** Presents the filters of a list: the options of each list box with the chosen option. */
export function presentFilters({ search, rule, catalogue, requesters }: Filtering) {
  const { filters, priority } = search;
  const statuses: readonly Item[] = [
    ...rule.lists.map((status): Item => [status, status]),
    ['overdue', overdueText],
    ['elsewhere', 'Collected elsewhere'],
  ];
  const tests = [...(catalogue?.orderables.values() ?? [])].map(
    ({ code, name, abbreviation }): Item => [
      code,
      abbreviation === undefined ? name : `${name} (${abbreviation})`,
    ],
  );
  return {
    day: boxOf('Any day', Object.entries(dayTexts), filters.day),
    test: boxOf('Any test', byText(tests), filters.test),
    status: boxOf('Any status', rule.lists.length === 1 ? statuses.slice(1) : statuses, filters.status),
    laboratory: boxOf(
      'Any laboratory',
      (catalogue?.locations ?? []).map(({ code, name }): Item => [laboratoryKeyOf(code), name]),
      filters.laboratory,
    ),
    requester: boxOf(
      'Anyone',
      byText(requesters.map(({ identifier, name }): Item => [codeKeyOf(identifier), fullName(name)])),
      filters.requester,
    ),
    priority: boxOf('Any priority', Object.entries(priorityTexts), priority),
  };
}

type Item = readonly [value: string, text: string];

const byText = (items: readonly Item[]) =>
  items.toSorted(([, one], [, other]) => one.localeCompare(other, 'en-GB'));

/** Returns the options of a list box; none if there is nothing to choose. */
const boxOf = (any: string, items: readonly Item[], chosen: string | undefined) =>
  items.length === 0
    ? []
    : [['', any] as const, ...items].map(([value, text]) => ({
        value,
        text,
        selected: value === (chosen ?? ''),
      }));

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
