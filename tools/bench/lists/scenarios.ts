import type { Action, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { OrderingDatabase } from '@clinical-launch/ordering/store/database';
import { inventPatient } from '../../../services/ordering/test/stored/invented-requests.ts';

export type Scenario = {
  readonly name: string;
  readonly action: Action;
  readonly practice: LaunchRequest['practice'];
  readonly patient?: LaunchRequest['patient'];
  readonly search?: string;
  readonly priority?: 'urgent' | 'routine';
  /** The path below the launch; by default the first page of a list. */
  readonly path?: string;
};

export type Stored = {
  readonly database: OrderingDatabase;
  readonly large: LaunchRequest['practice'];
  readonly single: LaunchRequest['practice'];
};

/** Returns the list pages and searches to measure for the stored requests. */
export async function scenariosOf(stored: Stored): Promise<Scenario[]> {
  const { large, single } = stored;
  const { newest, middle } = await placesOf(stored);
  const { name, identifiers, birthDate } = newest.parties.patient;
  const [nhs, hospital] = identifiers.map(({ value }) => value);
  const spaced = nhs?.replace(/^(\d{3})(\d{3})/, '$1 $2 ');
  const reports = { action: 'LocationReportList', practice: large } as const;
  const queue = { action: 'LocationSampleQueue', practice: large } as const;
  const patient = { practice: large, patient: newest.parties.patient } as const;
  const heavy = { practice: single, patient: inventPatient(single, 0) } as const;
  return [
    { name: 'practice reports: first page', ...reports },
    { name: 'practice reports: page 2', ...reports, path: `requests?before=${newest.guid}` },
    { name: 'practice reports: in the middle', ...reports, path: `requests?before=${middle}` },
    { name: 'practice reports: back from the middle', ...reports, path: `requests?after=${middle}` },
    { name: 'practice reports: urgent only', ...reports, priority: 'urgent' },
    { name: 'practice queue: first page', ...queue },
    { name: 'practice queue: urgent only', ...queue, priority: 'urgent' },
    { name: 'search, narrow: name', ...reports, search: `${name.family} ${name.given.join(' ')}` },
    { name: 'search, narrow: NHS number', ...reports, search: spaced ?? '' },
    { name: 'search, narrow: hospital number', ...reports, search: hospital ?? '' },
    {
      name: 'search, narrow: date of birth',
      ...reports,
      search: birthDate.split('-').toReversed().join('/'),
    },
    { name: 'search, narrow: order reference', ...reports, search: newest.batches[0]?.orderReference ?? '' },
    { name: 'search, wide: one letter', ...reports, search: 'a' },
    { name: 'search, wide: one digit', ...reports, search: '9' },
    { name: 'search, wide: common name', ...reports, search: 'smith' },
    { name: 'search, wide: requester', ...reports, search: 'dr bairstow' },
    { name: 'search, wide: in the middle', ...reports, search: 'dr', path: `requests?before=${middle}` },
    { name: 'search, wide: urgent only', ...reports, search: 'smith', priority: 'urgent' },
    { name: 'search, wide: in the queue', ...queue, search: 's' },
    { name: 'search, wide and old: requester who left', ...reports, search: 'penhaligon' },
    { name: 'search, wide and old: in the queue', ...queue, search: 'penhaligon' },
    { name: 'search, none: unknown name', ...reports, search: 'xyzzy' },
    { name: 'search, none: two wide words', ...reports, search: 'penhaligon bairstow' },
    { name: 'patient reports', action: 'PatientReportList', ...patient },
    { name: 'patient sample list', action: 'PatientRequestList', ...patient },
    { name: 'patient, tests to change', action: 'UpdateTest', ...patient },
    { name: 'patient of very many requests', action: 'PatientReportList', ...heavy },
    {
      name: 'patient of very many requests: search',
      action: 'PatientReportList',
      ...heavy,
      search: 'full blood',
    },
    { name: 'one request', ...reports, path: `requests/${newest.guid}` },
  ];
}

async function placesOf({ database, large }: Stored) {
  const newestFirst = database
    .selectFrom('test_requests')
    .where('practice_code', '=', large.identifier.value)
    .orderBy('created_at', 'desc');
  const newest = await newestFirst.selectAll().limit(1).executeTakeFirstOrThrow();
  const { count } = await database
    .selectFrom('test_requests')
    .where('practice_code', '=', large.identifier.value)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  const half = Math.floor(Number(count) / 2);
  const { guid: middle } = await newestFirst.select('guid').offset(half).limit(1).executeTakeFirstOrThrow();
  return { newest, middle };
}
