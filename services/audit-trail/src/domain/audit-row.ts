import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { columns, columnsWith, type StoredWith } from './columns.ts';

/**
 * Whether a request succeeded, was refused, or failed because of an error of the platform or the receiver.
 */
export const outcomes = ['success', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof outcomes)[number];

/** The details of a launch. An event without a detail inherits it from the event that started the launch. */
export type LaunchColumns = Readonly<StoredWith<{ readonly inheritedWith: string }>>;

/** A row to be written. */
export type AuditRow = Readonly<Omit<StoredWith<unknown>, 'sequence' | 'time' | 'outcome'>> & {
  readonly sequence: number;
  /** RFC 3339, UTC, milliseconds */
  readonly time: string;
  readonly outcome: AuditOutcome;
};

/** The columns of an event, before the log assigns a sequence number. */
export type AuditColumns = Omit<AuditRow, 'sequence' | 'is_late'>;

/**
 * The events that start a launch. These events contain the client, user, practice, patient and action of the
 * launch.
 */
export const launchTypes: readonly string[] = ['launch.url.issued.v1', 'desktop.launch.issued.v1'];

/** Returns whether an event starts a launch of the launch API. */
export const isLaunchUrlIssued = (event: CloudEvent): event is CloudEvent<'launch.url.issued.v1'> =>
  event.type === 'launch.url.issued.v1';

/** The members of `data` that become columns. Each type of event contains some of these members. */
type KnownData = {
  readonly issuer?: string;
  readonly clientId?: string;
  readonly hostClientId?: string;
  readonly step?: string;
  readonly user?: { readonly username: string; readonly name?: string };
  readonly practice?: { readonly code: string; readonly name?: string };
  readonly patient?: string;
  readonly address?: string;
  readonly action?: string;
  readonly launchId?: string;
  readonly orderGuid?: string;
  readonly orderReferences?: readonly string[];
  readonly reason?: string;
  /** The HTTP status as a number. Events of orders contain the order's status in this member, as a string. */
  readonly status?: number | string;
  readonly claim?: { readonly name: string };
};

/** Returns the columns of an event. */
export function columnsOf(event: CloudEvent): AuditColumns {
  const { sealed: _sealed, ...data } = { sealed: undefined, ...event.data };
  const known = data as KnownData;
  return {
    ...launchColumnsOf(event.type, known),
    id: event.id,
    time: event.time,
    correlation_id: event.correlationid,
    launch_id: known.launchId === event.correlationid ? null : orNull(known.launchId),
    trace_id: event.traceparent.slice(3, 35),
    source: event.source,
    type: event.type,
    outcome: outcomeOf(event.type, known),
    reason: orNull(known.reason),
    status: typeof known.status === 'number' ? known.status : null,
    address: orNull(known.address),
    order_guid: orNull(known.orderGuid),
    order_references: known.orderReferences?.length ? [...known.orderReferences] : null,
    originating_id: orNull(known.claim?.name),
    event: JSON.stringify({ ...event, data }),
  };
}

function launchColumnsOf(type: EventType, data: KnownData): LaunchColumns {
  return {
    issuer: orNull(data.issuer),
    client_id: orNull(actingClientOf(type, data)),
    user_name: orNull(data.user?.username),
    user_key: data.user === undefined ? null : userKeyOf(data.user.username),
    user_display: orNull(data.user?.name),
    practice: data.practice === undefined ? null : keyOf(data.practice.code),
    practice_name: orNull(data.practice?.name),
    patient: orNull(data.patient),
    action: orNull(data.action),
  };
}

const orNull = <Value>(value: Value | undefined): Value | null => value ?? null;

/**
 * Returns the client to which an event is attributed. When a desktop launch starts or ends, this is the host
 * application, and `clientId` is the partner application.
 */
function actingClientOf(type: string, { clientId, hostClientId, step }: KnownData): string | undefined {
  const isHosts = type === 'desktop.launch.issued.v1' || step === 'launches' || step === 'end';
  return isHosts ? (hostClientId ?? clientId) : (clientId ?? hostClientId);
}

function outcomeOf(type: string, { status = 0 }: KnownData): AuditOutcome {
  const [first, ...others] = outcomesOfType(type);
  return Number(status) >= 500 ? (others[0] ?? first) : first;
}

/** Returns the possible outcomes of a type of event: a refusal with a status from 500 is a failure. */
export function outcomesOfType(type: string): readonly [AuditOutcome, ...AuditOutcome[]] {
  if (type.endsWith('.failed.v1')) return ['failed'];
  return type.endsWith('.refused.v1') ? ['refused', 'failed'] : ['success'];
}

const inherited = columnsWith('inheritedWith');

/** Completes the columns of an event with the columns of its launch. */
export function withLaunch(row: AuditColumns, launch: LaunchColumns): AuditColumns {
  const missing = inherited.filter((name) => row[columns[name].inheritedWith] === null);
  return { ...row, ...Object.fromEntries(missing.map((name) => [name, launch[name]])) };
}

/**
 * The maximum number of characters of an index key. The longest names that callers may send do not fit into
 * an index.
 */
const maxKeyLength = 200;

/**
 * Returns the indexed part of a text: its first characters, or the whole text if it is short, as codes are.
 */
export const keyOf = (text: string): string => Array.from(text).slice(0, maxKeyLength).join('');

/** Returns the case-insensitive form of a username, for comparisons. */
export const userKeyOf = (name: string): string => keyOf(name.normalize('NFC').toLowerCase());
