import { randomUUID } from 'node:crypto';
import type { Action, CloudEvent, LaunchContext, LaunchRequest } from '@clinical-launch/contracts';
import type { Clock } from '@clinical-launch/service';
import { appendToOutbox } from '@clinical-launch/storage';
import type { Selectable, Transaction } from 'kysely';
import type { Draft } from '../domain/draft.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { jsonb, type OrderingDatabase, type OrderingTables } from './database.ts';
import { type BeginDraft, type DraftPlace, keepDraft, lockDraft } from './drafts.ts';
import { isInSight, originatingKeyOf, patientKeysOf, practiceKeyOf, type Sight, sightOf } from './keys.ts';
import { requestWords } from './request-words.ts';
import { type SubmissionWork, submissionWork } from './submission-work.ts';

/** One step of a request's history: which launch brought it to which version. */
export type Submission = {
  readonly requestGuid: string;
  readonly requestVersion: number;
  readonly launchId: string;
  readonly action: Action;
  readonly author: LaunchRequest['author'];
  /** ISO 8601 instant */
  readonly at: string;
};

/** Tells of a request that was stored; its events go out with it or not at all. */
export type EventsOf = (request: TestRequest) => readonly CloudEvent[];

export type NewOrder = {
  readonly context: LaunchContext;
  /** The request as the draft has it; undefined when the draft may not be submitted as it is. */
  readonly make: (draft: Draft, work: SubmissionWork) => Promise<TestRequest | undefined>;
  readonly eventsOf: EventsOf;
};

export type Amendment = {
  readonly context: LaunchContext;
  readonly guid: string;
  /** GUID that the page was made with: the same form that comes twice is stored once. */
  readonly submissionId: string;
  /** Changes the request; undefined when what was sent may not be stored. */
  readonly change: (
    current: TestRequest,
    work: SubmissionWork,
    draft: Draft | undefined,
  ) => Promise<TestRequest | undefined>;
  /** The version that the page showed; of a change that is drafted, the draft has it. */
  readonly seenVersion?: number;
  /** The draft that the change comes from. Once stored, it begins anew from what is stored. */
  readonly draft?: {
    readonly place: DraftPlace;
    readonly begin: (request: TestRequest) => BeginDraft;
    /** The request as the page has it. */
    readonly seen: TestRequest;
  };
  readonly eventsOf: EventsOf;
};

export type AmendOutcome =
  /** Stored now, or by the same form before. */
  | { readonly outcome: 'stored'; readonly version: number }
  /** Somebody changed the request since the page was made. */
  | { readonly outcome: 'conflict'; readonly current: TestRequest }
  /** OLTR: Request status. Complete is immutable. */
  | { readonly outcome: 'complete' }
  | { readonly outcome: 'refused' }
  /** There is no such request, or this launch does not see it. */
  | { readonly outcome: 'absent' };

export type TestRequests = {
  /** The request that a launch ordered. */
  findByLaunch(launchId: string): Promise<TestRequest | undefined>;
  /** A request that is within sight. */
  find(guid: string, sight: Sight): Promise<TestRequest | undefined>;
  /**
   * The request that the caller's identifier names, if the launch sees it: the newest, when an identifier came round
   * again.
   */
  findNamed(context: LaunchContext): Promise<TestRequest | undefined>;
  /** The history of a request, oldest first. */
  submissionsTo(guid: string): Promise<Submission[]>;
  /** What a launch submitted: each request once, at its newest version, the newest submission first. */
  submissionsOf(launchId: string): Promise<Submission[]>;
  /**
   * Submits the draft of a launch: the request and its events are kept in one transaction. A launch orders once:
   * whoever comes second is given the request that is there.
   */
  order(order: NewOrder): Promise<TestRequest | undefined>;
  /** Amends a request that is within sight of the launch, unless somebody else did meanwhile. */
  amend(amendment: Amendment): Promise<AmendOutcome>;
};

/** Keeps the requests that were submitted. */
export function createTestRequests(database: OrderingDatabase, clock: Clock): TestRequests {
  return {
    findByLaunch: (launchId) => findOne(database, { launchId }),
    find: async (guid, sight) => {
      const row = await selectRequests(database, sight).where('guid', '=', guid).executeTakeFirst();
      return row === undefined ? undefined : toTestRequest(row);
    },
    findNamed: async (context) => {
      const key = originatingKeyOf(context.client, context.request.originatingId);
      const row = await selectRequests(database, sightOf(context))
        .where('originating_key', '=', key)
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : toTestRequest(row);
    },
    submissionsTo: async (guid) => {
      const rows = await database
        .selectFrom('submissions')
        .selectAll()
        .where('request_guid', '=', guid)
        .orderBy('request_version')
        .execute();
      return rows.map(toSubmission);
    },
    submissionsOf: async (launchId) => {
      const rows = await database
        .selectFrom('submissions')
        .selectAll()
        .where('launch_id', '=', launchId)
        .orderBy('submitted_at', 'desc')
        .orderBy('request_version', 'desc')
        .execute();
      const newest = new Map(rows.toReversed().map((row) => [row.request_guid, row]));
      return rows.filter((row) => newest.get(row.request_guid) === row).map(toSubmission);
    },
    order: (newOrder) => database.transaction().execute((transaction) => order(transaction, newOrder, clock)),
    amend: (amendment) =>
      database.transaction().execute((transaction) => amend(transaction, amendment, clock)),
  };
}

async function order(
  transaction: Transaction<OrderingTables>,
  { context, make, eventsOf }: NewOrder,
  clock: Clock,
): Promise<TestRequest | undefined> {
  const { launchId } = context;
  // Held to the end: a second submit of this launch waits here.
  const draft = await lockDraft(transaction, { launchId, target: launchId }, { now: clock.now() });
  const submitted = await findOne(transaction, { launchId });
  if (submitted !== undefined) return submitted;
  const request = await make(draft, submissionWork(transaction));
  if (request === undefined) return undefined;
  await insert(transaction, request);
  await keepSubmission(transaction, { id: draft.submissionId, request, context });
  await appendToOutbox(transaction, eventsOf(request));
  return request;
}

async function amend(
  transaction: Transaction<OrderingTables>,
  { context, guid, submissionId, change, seenVersion, draft: drafted, eventsOf }: Amendment,
  clock: Clock,
): Promise<AmendOutcome> {
  const now = clock.now();
  const draft =
    drafted && (await lockDraft(transaction, drafted.place, { now, begin: drafted.begin(drafted.seen) }));
  // Held to the end: of two amendments at once the second sees what the first has stored.
  const row = await selectRequests(transaction, sightOf(context))
    .where('guid', '=', guid)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return { outcome: 'absent' };
  const repeated = await findSubmission(transaction, { submissionId, guid, launchId: context.launchId });
  if (repeated !== undefined) return { outcome: 'stored', version: repeated.request_version };
  const current = toTestRequest(row);
  if (current.status === 'Complete') return { outcome: 'complete' };
  if (current.version !== (seenVersion ?? draft?.base?.version)) return { outcome: 'conflict', current };

  const changed = await change(current, submissionWork(transaction), draft);
  if (changed === undefined) return { outcome: 'refused' };
  const request = { ...changed, version: current.version + 1 };
  await update(transaction, request);
  await keepSubmission(transaction, { id: submissionId, request, context });
  if (drafted !== undefined) {
    await keepDraft(transaction, drafted.place, { draft: drafted.begin(request)(randomUUID()), now });
  }
  await appendToOutbox(transaction, eventsOf(request));
  return { outcome: 'stored', version: request.version };
}

type Queries = OrderingDatabase | Transaction<OrderingTables>;

const selectRequests = (database: Queries, sight: Sight) =>
  database.selectFrom('test_requests').selectAll().where(isInSight(sight));

async function findOne(database: Queries, sight: Sight): Promise<TestRequest | undefined> {
  const row = await selectRequests(database, sight).executeTakeFirst();
  return row === undefined ? undefined : toTestRequest(row);
}

const findSubmission = (
  database: Queries,
  { submissionId, guid, launchId }: { submissionId: string; guid: string; launchId: string },
) =>
  database
    .selectFrom('submissions')
    .select('request_version')
    .where('id', '=', submissionId)
    .where('request_guid', '=', guid)
    .where('launch_id', '=', launchId)
    .executeTakeFirst();

async function insert(transaction: Transaction<OrderingTables>, request: TestRequest): Promise<void> {
  await transaction.insertInto('test_requests').values(newRow(request)).execute();
}

/** A new request as the row of `test_requests` that keeps it. */
export function newRow(request: TestRequest) {
  const { client, parties, originatingId } = request;
  const { practice } = parties;
  return {
    guid: request.guid,
    launch_id: request.launchId,
    issuer: client.issuer,
    client_id: client.clientId,
    originating_id: originatingId,
    originating_key: originatingKeyOf(client, originatingId),
    practice_system: practice.identifier.system,
    practice_code: practice.identifier.value,
    practice_key: practiceKeyOf(practice, client),
    patient_keys: patientKeysOf(parties, client),
    version: request.version,
    parties: jsonb(parties),
    created_at: request.createdAt,
    ...amendable(request),
  };
}

async function update(transaction: Transaction<OrderingTables>, request: TestRequest): Promise<void> {
  await transaction
    .updateTable('test_requests')
    .set({ version: request.version, ...amendable(request) })
    .where('guid', '=', request.guid)
    .execute();
}

const amendable = (request: TestRequest) => ({
  status: request.status,
  clinical_details: request.clinicalDetails,
  priority: request.priority,
  answers: jsonb([...request.answers]),
  batches: jsonb([...request.batches]),
  ...requestWords(request),
  updated_at: request.updatedAt,
});

async function keepSubmission(
  transaction: Transaction<OrderingTables>,
  { id, request, context }: { id: string; request: TestRequest; context: LaunchContext },
): Promise<void> {
  await transaction
    .insertInto('submissions')
    .values({
      id,
      request_guid: request.guid,
      request_version: request.version,
      launch_id: context.launchId,
      action: context.request.action,
      author: jsonb(context.request.author),
      submitted_at: request.updatedAt,
    })
    .execute();
}

/** A row of `test_requests` as the request that it keeps. */
export function toTestRequest(row: Selectable<OrderingTables['test_requests']>): TestRequest {
  return {
    guid: row.guid,
    launchId: row.launch_id,
    client: { issuer: row.issuer, clientId: row.client_id },
    originatingId: row.originating_id,
    version: row.version,
    status: row.status,
    parties: row.parties,
    clinicalDetails: row.clinical_details,
    priority: row.priority,
    answers: row.answers,
    batches: row.batches,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function toSubmission(row: Selectable<OrderingTables['submissions']>): Submission {
  return {
    requestGuid: row.request_guid,
    requestVersion: row.request_version,
    launchId: row.launch_id,
    action: row.action,
    author: row.author,
    at: row.submitted_at.toISOString(),
  };
}
