import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { elsewhereWord, isWord } from '../domain/request-search.ts';
import type { Priority, RequestStatus } from '../domain/test-request.ts';
import type { OrderingTables, OrderingTransaction } from './database.ts';
import { isSamePerson, isVisible, ofEachCode, type SoughtPatient, type Visibility } from './keys.ts';
import { searchCondition } from './request-words.ts';

/** The conditions of a list. */
export type ListFilter = {
  readonly visibility: Visibility;
  readonly statuses: readonly RequestStatus[];
  readonly priority?: Priority;
  /** The period in which a request was made: from `since`, inclusive, to `before`, exclusive. ISO 8601. */
  readonly since?: string;
  readonly before?: string;
  /** Hides requests that were made since then and wait only for samples from another place. ISO 8601. */
  readonly hidesElsewhereSince?: string;
};

/** The position of a request in a list. Every list sorts by time, then by GUID. */
export type Place = { guid: string; created_at: Date };

/** Keyset pagination: up to `limit` rows beyond `place`, or from the start if `place` is absent. */
export type Page = {
  readonly place?: Place | undefined;
  readonly go: 'older' | 'newer';
  readonly limit: number;
};

type Query<Columns> = SelectQueryBuilder<OrderingTables, 'test_requests', Columns>;

/** Returns the positions of the requests on a page of a list. */
export function readList(tx: OrderingTransaction, filter: ListFilter, page: Page): Promise<Place[]> {
  return nextOf(tx, filter, page).execute();
}

/** Counts the requests of a list, up to a limit. */
export async function countList(tx: OrderingTransaction, filter: ListFilter, limit: number): Promise<number> {
  // Counts a patient's requests without splitting them into runs (`runsOf`), because a
  // request may be in two runs.
  const runs = filter.visibility.patient === undefined ? runsOf(tx, filter) : [filtered(tx, filter)];
  const places = runs.map((run) => run.select(['guid', 'created_at']).limit(limit));
  const { count } = await tx
    .selectFrom(unionOf(tx, filter, places).limit(limit).as('counted'))
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Finds all matches of a search (`tsquery`) by the GIN index of words. This index has no order, so the query
 * counts and sorts the matches.
 */
export async function findMatches(
  tx: OrderingTransaction,
  filter: ListFilter,
  { condition, ...page }: Page & { readonly condition: string },
): Promise<{ places: Place[]; count: number }> {
  // If the list covers only a short period, the database can read the index that sorts a run instead of the
  // index of words.
  const isRun = filter.visibility.patient === undefined && (filter.since ?? filter.before) !== undefined;
  const runs = isRun ? runsOf(tx, filter) : [filtered(tx, filter)];
  const found = runs.map((run) => run.where(isMatch(condition)).select(['guid', 'created_at']));
  const matches = unionOf(tx, filter, found);
  const direction = directions[page.go];
  const rows = await tx
    .with(
      (cte) => cte('matches').materialized(),
      () => matches,
    )
    .selectFrom((by) =>
      by
        .selectFrom('matches')
        .select(({ fn }) => fn.countAll<string>().as('count'))
        .as('counted'),
    )
    // Returns the count even if no match is beyond `place`.
    .leftJoin(
      (by) =>
        by
          .selectFrom('matches')
          .select(['guid', 'created_at'])
          .where(isBeyond(page))
          .orderBy('created_at', direction)
          .orderBy('guid', direction)
          .limit(page.limit)
          .as('place'),
      (join) => join.onTrue(),
    )
    .select(['count', 'guid', 'created_at'])
    .orderBy('created_at', direction)
    .orderBy('guid', direction)
    .execute();
  return {
    places: rows.flatMap(({ guid, created_at }) =>
      guid === null || created_at === null ? [] : [{ guid, created_at }],
    ),
    count: Number(rows[0]?.count ?? 0),
  };
}

/** Finds the matches of a search among the next `bound` requests of a list. */
export function findNear(
  tx: OrderingTransaction,
  filter: ListFilter,
  { condition, bound, ...page }: Page & { readonly condition: string; readonly bound: number },
): Promise<Place[]> {
  const direction = directions[page.go];
  const near = tx.selectFrom(nextOf(tx, filter, { ...page, limit: bound }).as('near'));
  return (
    tx
      .selectFrom('test_requests')
      .select(['guid', 'created_at'])
      .where(sql<SqlBool>`guid = any(array(${near.select('guid')}))`)
      // `is true` prevents the use of the full-text index, because a scan of that index
      // would read all matches.
      .where(sql<SqlBool>`(${isMatch(condition)}) is true`)
      .orderBy('created_at', direction)
      .orderBy('guid', direction)
      .limit(page.limit)
      .execute()
  );
}

/** Uses the index of words to return the searches (`tsquery`) that match at least one visible request. */
export async function findKnown(
  tx: OrderingTransaction,
  visibility: Visibility,
  conditions: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom(
      sql<{ condition: string }>`unnest(${sql.val([...conditions])}::text[])`.as<'sought'>(
        sql`sought(condition)`,
      ),
    )
    .select('condition')
    .where((outer) =>
      outer.exists(
        outer
          .selectFrom((by) =>
            by
              .selectFrom('test_requests')
              .selectAll()
              .where(sql<SqlBool>`words @@ sought.condition::tsquery`)
              // `offset 0` prevents the planner from reading every visible request.
              .offset(0)
              .as('test_requests'),
          )
          .select('guid')
          .where(isVisible(visibility)),
      ),
    )
    .execute();
  return new Set(rows.map(({ condition }) => condition));
}

const directions = { older: 'desc', newer: 'asc' } as const;

/** Returns the query for a page. It reads at most `limit` rows of each run, in the order of an index. */
function nextOf(tx: OrderingTransaction, filter: ListFilter, page: Page) {
  const direction = directions[page.go];
  const runs = runsOf(tx, filter).map((run) =>
    run
      .select(['guid', 'created_at'])
      .where(isBeyond(page))
      .orderBy('created_at', direction)
      .orderBy('guid', direction)
      .limit(page.limit),
  );
  return unionOf(tx, filter, runs)
    .orderBy('created_at', direction)
    .orderBy('guid', direction)
    .limit(page.limit);
}

/**
 * Returns a query for each run of a list: the requests of one status and one priority, sorted by an index. In
 * the list of a practice, also of one code.
 */
function runsOf(
  tx: OrderingTransaction,
  { statuses, priority, visibility, ...period }: ListFilter,
): Query<object>[] {
  const priorities: readonly Priority[] = priority === undefined ? ['routine', 'urgent'] : [priority];
  const { patient, ...ofPractice } = visibility;
  return statuses.flatMap((status) =>
    priorities.flatMap((each) => {
      const runOf = (seen: Visibility) =>
        filtered(tx, { visibility: seen, statuses: [status], priority: each, ...period });
      if (patient === undefined) return ofEachCode(ofPractice).map(runOf);
      return isOfPatientWith(patient).map((is) => runOf(ofPractice).where(is));
    }),
  );
}

/** Returns the conditions for a patient's runs. A patient without a valid identifier has no requests. */
const isOfPatientWith = ({ keys, ...patient }: SoughtPatient) =>
  keys.length === 0
    ? [sql<SqlBool>`false`]
    : keys.flatMap(hasKey).map((has) => sql<SqlBool>`${has} and ${isSamePerson('test_requests', patient)}`);

/**
 * Returns a condition for each of the two indexed expressions, because a patient may have two identifiers.
 */
const hasKey = (key: string) => [
  sql<SqlBool>`patient_keys[1] = ${key}`,
  sql<SqlBool>`patient_keys[2] = ${key}`,
];

function filtered(tx: OrderingTransaction, filter: ListFilter): Query<object> {
  const { visibility, statuses, priority, since, before, hidesElsewhereSince: hides } = filter;
  return tx
    .selectFrom('test_requests')
    .where(isVisible(visibility))
    .where('status', 'in', statuses)
    .$if(priority !== undefined, (query) => query.where('priority', '=', priority ?? 'routine'))
    .$if(since !== undefined, (query) => query.where(sql<SqlBool>`created_at >= ${since}::timestamptz`))
    .$if(before !== undefined, (query) => query.where(sql<SqlBool>`created_at < ${before}::timestamptz`))
    .$if(hides !== undefined, (query) =>
      // Reads the words only of requests since then.
      query.where(sql<SqlBool>`(created_at < ${hides}::timestamptz or not (${isMatch(isElsewhere)}))`),
    );
}

/**
 * Returns the union of all runs. A request that contains both identifiers of a patient is in two runs, but
 * the union contains it once.
 */
function unionOf(tx: OrderingTransaction, { visibility }: ListFilter, runs: readonly Query<Place>[]) {
  const operator = visibility.patient === undefined ? 'unionAll' : 'union';
  const [first, ...others] = runs.map((run) => tx.selectFrom(run.as('run')).selectAll());
  if (first === undefined) throw new TypeError('A list must have at least one run');
  const all = others.reduce((union, run) => union[operator](run), first);
  return tx.selectFrom(all.as('place')).selectAll();
}

/** Every request has its words for the lists of patients, so one condition serves every list. */
const isElsewhere = searchCondition([[[isWord(elsewhereWord)]]], {});

const isMatch = (condition: string) => sql<SqlBool>`words @@ ${condition}::tsquery`;

function isBeyond({ place, go }: Page) {
  if (place === undefined) return sql<SqlBool>`true`;
  const { created_at, guid } = place;
  const beyond = go === 'older' ? sql`<` : sql`>`;
  return sql<SqlBool>`(created_at, guid) ${beyond} (${created_at.toISOString()}::timestamptz, ${guid}::uuid)`;
}
