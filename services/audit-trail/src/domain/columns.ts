type Column = {
  readonly type: 'bigint' | 'integer' | 'uuid' | 'timestamptz' | 'text' | 'text[]' | 'boolean';
  readonly isNullable?: true;
  /** The member of an entry with this value. Absent if searches do not return the column. */
  readonly entry?: string;
  /** An event that has no value in this column inherits the value from the event that started its launch. */
  readonly inheritedWith?: 'client_id' | 'user_name' | 'practice' | 'patient' | 'action';
  /**
   * The attribute of exported log records with this value. Such columns describe no patient, and no content
   * of an order.
   */
  readonly attribute?: string;
};

const nullable = { isNullable: true } as const;
// The name and the code of a user or practice always come from the same event.
const ofClient = { isNullable: true, inheritedWith: 'client_id' } as const;
const ofUser = { isNullable: true, inheritedWith: 'user_name' } as const;
const ofPractice = { isNullable: true, inheritedWith: 'practice' } as const;

/**
 * The columns of the log, in the order in which they are hashed. A new column must be last. It also changes
 * the hashed text of existing rows, so that their stored hashes no longer match.
 */
export const columns = {
  /** Starts at 1 in each partition and has no gaps. */
  sequence: { type: 'bigint', entry: 'sequence', attribute: 'clinical_launch.audit.sequence' },
  id: { type: 'uuid', entry: 'id', attribute: 'cloudevents.event_id' },
  time: { type: 'timestamptz', entry: 'time' },
  correlation_id: { type: 'uuid', entry: 'correlationId', attribute: 'clinical_launch.correlation_id' },
  /** The GUID of the launch that the event refers to, if this GUID differs from the correlation id. */
  launch_id: { type: 'uuid', entry: 'launchId', ...nullable, attribute: 'clinical_launch.launch.id' },
  trace_id: { type: 'text', entry: 'traceId' },
  source: { type: 'text', entry: 'source', attribute: 'cloudevents.event_source' },
  type: { type: 'text', entry: 'type', attribute: 'cloudevents.event_type' },
  outcome: { type: 'text', entry: 'outcome', attribute: 'clinical_launch.outcome' },
  reason: { type: 'text', entry: 'reason', ...nullable, attribute: 'clinical_launch.reason' },
  status: { type: 'integer', entry: 'status', ...nullable, attribute: 'http.response.status_code' },
  issuer: { type: 'text', entry: 'issuer', ...ofClient, attribute: 'clinical_launch.issuer' },
  client_id: { type: 'text', entry: 'client', ...ofClient, attribute: 'clinical_launch.client.id' },
  user_name: { type: 'text', entry: 'user', ...ofUser, attribute: 'user.name' },
  user_key: { type: 'text', ...ofUser },
  user_display: { type: 'text', entry: 'userDisplay', ...ofUser },
  practice: { type: 'text', entry: 'practice', ...ofPractice, attribute: 'clinical_launch.practice' },
  practice_name: { type: 'text', entry: 'practiceName', ...ofPractice },
  /** A keyed pseudonym, never an identifier. */
  patient: { type: 'text', entry: 'patient', ...nullable, inheritedWith: 'patient' },
  address: { type: 'text', entry: 'address', ...nullable, attribute: 'client.address' },
  action: {
    type: 'text',
    entry: 'action',
    ...nullable,
    inheritedWith: 'action',
    attribute: 'clinical_launch.action',
  },
  order_guid: { type: 'uuid', entry: 'orderGuid', ...nullable },
  order_references: { type: 'text[]', entry: 'orderReferences', ...nullable },
  /** The hash of the identifier that the caller gave to the launch. */
  originating_id: { type: 'text', ...nullable },
  /**
   * True if this event started a launch and was stored after other events of the launch. The rows of those
   * other events lack the details of the launch.
   */
  is_late: { type: 'boolean' },
  /** The event as JSON, without the fields sealed for other consumers. */
  event: { type: 'text', entry: 'event' },
} as const satisfies Readonly<Record<string, Column>>;

type Columns = typeof columns;
export type ColumnName = keyof Columns;

/** The values as the drivers of PostgreSQL return them. */
type Values = {
  readonly bigint: string;
  readonly integer: number;
  readonly uuid: string;
  readonly timestamptz: Date;
  readonly text: string;
  readonly 'text[]': string[];
  readonly boolean: boolean;
};
type ValueOf<C extends Column> = Values[C['type']] | (C extends { isNullable: true } ? null : never);

/** The columns of a stored row that have `Flag`. */
export type StoredWith<Flag> = {
  -readonly [Name in ColumnName as Columns[Name] extends Flag ? Name : never]: ValueOf<Columns[Name]>;
};

/** The names of the columns, in the order of hashing. */
export const columnNames = Object.keys(columns) as readonly ColumnName[];

/** Returns the names of the columns that have a flag, in the order of hashing. */
export const columnsWith = <Flag extends 'entry' | 'inheritedWith' | 'attribute'>(flag: Flag) =>
  columnNames.filter((name) => flag in columns[name]) as (keyof StoredWith<Required<Pick<Column, Flag>>>)[];

/** Returns the member of an entry for a column. @throws TypeError if searches do not return the column */
export function entryNameOf(name: ColumnName): string {
  const { entry }: Column = columns[name];
  if (entry === undefined) throw new TypeError(`${name} is no member of an entry`);
  return entry;
}

/** The members of an entry, by the names of the API. */
export type EntryOf<Event, Outcome> = {
  readonly [Name in ColumnName as Columns[Name] extends { entry: infer Member extends string }
    ? Member
    : never]: Name extends 'event' ? Event : Name extends 'outcome' ? Outcome : ValueOf<Columns[Name]>;
};
