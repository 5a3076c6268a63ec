import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { openedTypes } from '../domain/activity.ts';
import { type AuditOutcome, keyOf, outcomesOfType, userKeyOf } from '../domain/audit-row.ts';
import type { AuditDatabase, AuditTables } from './tables.ts';

type TextCriterion =
  | 'id'
  | 'client'
  | 'user'
  | 'practice'
  | 'patient'
  | 'orderReference'
  | 'orderGuid'
  | 'action'
  | 'reason'
  | 'address';

/** The criteria of a search. A row must match all given criteria. */
export type AuditCriteria = { readonly [Name in TextCriterion]?: string | undefined } & {
  /** The GUID of a launch or request. Also matches events that refer to this GUID as their launch. */
  readonly correlationId?: string | undefined;
  /** A patient's pseudonym, for events of lists that showed the patient. */
  readonly listedPatient?: string | undefined;
  /** The caller's identifier of a launch (IdByCaller), of `client` if it is given, otherwise of any client. */
  readonly identifier?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly outcomes?: readonly AuditOutcome[] | undefined;
  /** Matches only launches that nobody has opened and that had expired at this time. */
  readonly unopenedAt?: Date | undefined;
  readonly from?: Date | undefined;
  /** The end of the period, exclusive. */
  readonly to?: Date | undefined;
};

/** A boolean SQL expression about a row. */
export type Condition = RawBuilder<boolean>;
export type Column = keyof AuditTables['audit_event'];

/** The conditions that rows must meet. */
export type Conditions = {
  readonly launch: readonly (readonly [Column, string])[];
  /**
   * Returns the conditions on the columns that an event never inherits. `alias` is the table in the query.
   */
  readonly own: (alias: string) => readonly Condition[];
};

/** Returns a column as SQL, qualified by the alias of its table. */
export const columnOf = (alias: string, column: Column) => sql.ref(`${alias}.${column}`);

/** Returns the conditions for criteria, or undefined if no row can meet them. */
export async function conditionsOf(
  database: AuditDatabase,
  criteria: AuditCriteria,
): Promise<Conditions | undefined> {
  const names = await originatingNames(database, criteria);
  const types = possibleTypes(criteria);
  if (names?.length === 0 || types?.length === 0) return undefined;
  const launch = [
    ['client_id', criteria.client],
    ['user_key', criteria.user === undefined ? undefined : userKeyOf(criteria.user)],
    ['practice', criteria.practice === undefined ? undefined : keyOf(criteria.practice)],
    ['patient', criteria.patient],
    ['action', criteria.action],
  ] as const;
  const own = [
    ['id', criteria.id],
    ['order_guid', criteria.orderGuid],
    ['reason', criteria.reason],
    ['address', criteria.address],
  ] as const;
  const given = <Name extends Column>(pairs: readonly (readonly [Name, string | undefined])[]) =>
    pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return {
    launch: given(launch),
    own: (alias) => [
      ...given(own).map(([name, value]) => equal(alias, name, value)),
      ...oneOf(alias, 'type', types),
      ...outcomeConditions(alias, criteria.outcomes),
      ...oneOf(alias, 'originating_id', names),
      ...(criteria.orderReference === undefined
        ? []
        : [
            sql<boolean>`${columnOf(alias, 'order_references')} @> array[${criteria.orderReference}]::text[]`,
          ]),
      ...listedConditions(alias, criteria.listedPatient),
      ...unopenedConditions(alias, criteria.unopenedAt),
      ...(criteria.from === undefined ? [] : [sql<boolean>`${columnOf(alias, 'time')} >= ${criteria.from}`]),
      ...(criteria.to === undefined ? [] : [sql<boolean>`${columnOf(alias, 'time')} < ${criteria.to}`]),
    ],
  };
}

/** Returns the condition that a column equals a value. */
export const equal = (alias: string, column: Column, value: string): Condition =>
  sql<boolean>`${columnOf(alias, column)} = ${value}`;

/** Returns the conditions on lists, in the same form as their partial index. */
function listedConditions(alias: string, patient: string | undefined): Condition[] {
  if (patient === undefined) return [];
  const listed = sql`${columnOf(alias, 'event')}::jsonb -> 'data' -> 'patients'`;
  return [
    sql<boolean>`${columnOf(alias, 'type')} = 'orders.listed.v1'`,
    sql<boolean>`(${listed}) @> ${JSON.stringify([patient])}::jsonb`,
  ];
}

function unopenedConditions(alias: string, at: Date | undefined): Condition[] {
  if (at === undefined) return [];
  const lifetime = sql`((${columnOf(alias, 'event')}::jsonb -> 'data' ->> 'ttlSeconds') || ' seconds')::interval`;
  return [
    sql<boolean>`${columnOf(alias, 'time')} + ${lifetime} < ${at}`,
    sql<boolean>`not exists (select from audit_trail.audit_event opening
      where opening.correlation_id = ${columnOf(alias, 'correlation_id')}
        and opening.type = any(${openedTypes}))`,
  ];
}

function oneOf(alias: string, column: Column, values: readonly string[] | undefined): Condition[] {
  if (values === undefined) return [];
  const [only, ...more] = values;
  if (only !== undefined && more.length === 0) return [equal(alias, column, only)];
  return [sql<boolean>`${columnOf(alias, column)} = any(${values})`];
}

/** Returns the types that can have the wanted outcomes, because the type limits the outcome. */
const possibleTypes = ({ types, outcomes }: AuditCriteria) =>
  outcomes === undefined
    ? types
    : types?.filter((type) => outcomesOfType(type).some((outcome) => outcomes.includes(outcome)));

/** Excludes success explicitly, so that the planner can use the partial index of refusals and failures. */
function outcomeConditions(alias: string, outcomes: readonly AuditOutcome[] | undefined): Condition[] {
  if (outcomes === undefined) return [];
  const isWithoutSuccess = outcomes.length > 0 && !outcomes.includes('success');
  const rare = isWithoutSuccess ? [sql<boolean>`${columnOf(alias, 'outcome')} <> 'success'`] : [];
  return [...rare, ...oneOf(alias, 'outcome', outcomes)];
}

/**
 * Returns the hashes under which the identifier of a caller may be recorded, one for each client. Returns
 * undefined if the identifier is not a criterion.
 */
async function originatingNames(
  database: AuditDatabase,
  { identifier, client }: AuditCriteria,
): Promise<readonly string[] | undefined> {
  if (identifier === undefined) return undefined;
  const clients = await database
    .selectFrom('launching_client')
    .selectAll()
    .$if(client !== undefined, (query) => query.where('client_id', '=', client ?? ''))
    .execute();
  return clients.map((known) =>
    hash('sha256', JSON.stringify([known.issuer, known.client_id, identifier]), 'base64url'),
  );
}
