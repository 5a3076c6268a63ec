import type { EventType } from '@clinical-launch/contracts/events/catalogue';
import { type AuditEntry, factOf, numberOf } from './audit-entry.ts';

/** The groups of events in the search form, in order. */
export const eventGroups = {
  launches: 'Launches from a practice system',
  orders: 'Test requests',
  documents: 'Order documents',
  desktop: 'Launches of partner applications',
  records: 'Patient records read by applications',
  access: 'Access tokens of applications',
  searches: 'Use of this audit trail',
} as const;

export type EventGroup = keyof typeof eventGroups;

type EventWords = {
  readonly group: EventGroup;
  /** The event in a few words, such as "Launch opened". */
  readonly what: string;
  /** The user's access to patient data in the event, for “Who has seen this patient”. */
  readonly seen?: string;
};

const eventWords: Readonly<Record<EventType, EventWords>> = {
  'launch.url.issued.v1': { group: 'launches', what: 'Launch requested' },
  'launch.url.refused.v1': { group: 'launches', what: 'Launch refused' },
  'launch.token.redeemed.v1': { group: 'launches', what: 'Launch opened', seen: 'Opened a launch' },
  'launch.token.refused.v1': { group: 'launches', what: 'Opening of a launch refused' },
  'launch.session.ended.v1': { group: 'launches', what: 'Signed out' },
  'launch.window.locked.v1': {
    group: 'launches',
    what: 'Window locked: another patient or user was opened',
  },
  'launch.window.unlocked.v1': { group: 'launches', what: 'Window unlocked by the user' },
  'launch.ended.v1': { group: 'launches', what: 'Launch ended by an operator' },
  'launches.ended.v1': { group: 'launches', what: 'Several launches ended' },
  'order.submitted.v1': { group: 'orders', what: 'Tests submitted', seen: 'Ordered' },
  'order.viewed.v1': { group: 'orders', what: 'Request viewed', seen: 'Viewed a request' },
  'orders.listed.v1': { group: 'orders', what: 'Requests listed', seen: 'Listed requests' },
  'order.printed.v1': { group: 'orders', what: 'Form or labels printed', seen: 'Printed' },
  'order.patient.confirmed.v1': {
    group: 'orders',
    what: 'Patient confirmed: the date of birth was corrected',
  },
  'order.document.rendered.v1': { group: 'documents', what: 'Order document prepared' },
  'order.document.returned.v1': {
    group: 'documents',
    what: 'Order document returned to the practice system',
    seen: 'Received the order document',
  },
  'order.document.delivered.v1': { group: 'documents', what: 'Order document delivered' },
  'order.document.delivery.failed.v1': { group: 'documents', what: 'Order document not delivered' },
  'desktop.launch.issued.v1': { group: 'desktop', what: 'Application launch requested' },
  'desktop.launch.refused.v1': { group: 'desktop', what: 'Application launch refused' },
  'desktop.code.issued.v1': { group: 'desktop', what: 'Application opened' },
  'desktop.tokens.issued.v1': {
    group: 'desktop',
    what: 'Application signed in',
    seen: 'Opened an application',
  },
  'desktop.chain.revoked.v1': { group: 'desktop', what: 'Application launch ended' },
  'desktop.logout.delivered.v1': { group: 'desktop', what: 'Application notified of the end' },
  'desktop.logout.delivery.failed.v1': { group: 'desktop', what: 'Application not notified of the end' },
  'resource.read.v1': { group: 'records', what: 'Record read', seen: 'Read the record in an application' },
  'resource.refused.v1': { group: 'records', what: 'Access to a record refused' },
  'access.token.issued.v1': { group: 'access', what: 'Access token issued' },
  'access.token.refused.v1': { group: 'access', what: 'Access token refused' },
  'access.token.revoked.v1': { group: 'access', what: 'Access token revoked' },
  'access.introspected.v1': { group: 'access', what: 'Access token checked' },
  'audit.searched.v1': { group: 'searches', what: 'Audit trail searched' },
  'audit.session.started.v1': { group: 'searches', what: 'Signed in to the audit trail' },
  'audit.refused.v1': { group: 'searches', what: 'Access to the audit trail refused' },
};

const known = new Map<string, EventWords>(Object.entries(eventWords));

type Happened = Pick<AuditEntry, 'type' | 'event'>;

/** Describes a type of event in a few words. */
export const typeWords = (type: string): string => known.get(type)?.what ?? type;

/**
 * Describes an event in a few words. For a submission, states whether it is an order, a change or samples. A
 * check of a payload by `Validate` is no refused launch.
 */
export function entryWords(entry: Happened): string {
  if (entry.type === 'order.submitted.v1') return submissionOf(entry);
  return factOf(entry, 'step') === 'validate' ? 'Payload checked: not accepted' : typeWords(entry.type);
}

/**
 * Describes a submission. Each change submits the request again. Events of earlier releases contain the
 * version of the request but not the step.
 */
function submissionOf(entry: Happened): string {
  const step = factOf(entry, 'step') ?? ((numberOf(entry, 'orderVersion') ?? 1) > 1 ? 'change' : 'order');
  if (step === 'samples')
    return `Samples recorded (${factOf(entry, 'samplesCollected')} of ${factOf(entry, 'samples')})`;
  return step === 'change' ? 'Request changed' : 'Tests submitted';
}

/** Describes the access to patient data in an event. Returns undefined for an event without such access. */
export const accessWords = (type: string): string | undefined => known.get(type)?.seen;

/** The types of event in which a user accessed patient data. */
export const accessTypes: readonly string[] = [...known]
  .filter(([, { seen }]) => seen !== undefined)
  .map(([type]) => type);

/** Returns the types of a group. */
export const typesOf = (group: EventGroup): readonly string[] =>
  [...known].filter(([, words]) => words.group === group).map(([type]) => type);

/** Returns whether the text is the name of a group. */
export const isEventGroup = (text: string): text is EventGroup => Object.hasOwn(eventGroups, text);

/** The names of the services for readers of the pages, in the order of a launch. */
const serviceNames: Readonly<Record<string, string>> = {
  '/launch-api': 'Launch requests',
  '/identity-provider': 'Identity provider',
  '/launch-gateway': 'Opening of launches',
  '/ordering': 'Test requesting',
  '/order-renderer': 'Order documents',
  '/resource-api': 'Patient records',
  '/audit-trail': 'Audit trail',
  '/operator': 'Operator',
};

/** Returns the display name of the service that sent an event. */
export const serviceNameOf = (source: string): string => serviceNames[source] ?? source;
