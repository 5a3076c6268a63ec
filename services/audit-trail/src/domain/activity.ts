import type { AuditOutcome } from './audit-row.ts';

/** What the charts count, in their order. */
export const activityMeasures = {
  issued: 'Launches requested',
  opened: 'Launches opened',
  expired: 'Launches never opened',
  refused: 'Refused',
  orders: 'Orders submitted',
  deliveries: 'Documents delivered',
} as const;

export type ActivityMeasure = keyof typeof activityMeasures;
export const measureNames = Object.keys(activityMeasures).filter(isMeasure);

/** Returns whether a text names a measure. */
export function isMeasure(name: string): name is ActivityMeasure {
  return Object.hasOwn(activityMeasures, name);
}

/** What happened in one interval, for one client, by one type and reason. */
export type ActivityRow = {
  /** Milliseconds since 1970 */
  readonly begin: number;
  readonly client: string | null;
  readonly type: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly count: number;
  /** Of launches: how many nobody opened in time. */
  readonly expired: number;
};

const measureOfType: Readonly<Record<string, ActivityMeasure>> = {
  'launch.url.issued.v1': 'issued',
  'desktop.launch.issued.v1': 'issued',
  'launch.token.redeemed.v1': 'opened',
  'desktop.code.issued.v1': 'opened',
  'order.submitted.v1': 'orders',
  'order.document.delivered.v1': 'deliveries',
};

/** The types that the charts count. */
export const activityTypes: readonly string[] = [
  ...Object.keys(measureOfType),
  'launch.url.refused.v1',
  'launch.token.refused.v1',
  'desktop.launch.refused.v1',
  'access.token.refused.v1',
  'resource.refused.v1',
];

/** Returns how much a row adds to a measure. */
export function amountOf({ type, outcome, count, expired }: ActivityRow, measure: ActivityMeasure): number {
  if (measure === 'expired') return expired;
  if (measure === 'refused') return outcome === 'success' ? 0 : count;
  return measureOfType[type] === measure ? count : 0;
}

/** What finds the events that a measure counts. */
export type MeasureCriteria = {
  readonly types: readonly string[];
  readonly outcomes?: readonly AuditOutcome[];
  /** Only launches that nobody opened until then. */
  readonly unopenedAt?: Date;
};

/** Returns the criteria of a measure. @param now milliseconds since 1970 */
export function criteriaOf(measure: ActivityMeasure, now: number): MeasureCriteria {
  const typesOf = (wanted: ActivityMeasure) => activityTypes.filter((type) => measureOfType[type] === wanted);
  if (measure === 'expired') return { types: typesOf('issued'), unopenedAt: new Date(now) };
  if (measure !== 'refused') return { types: typesOf(measure) };
  const types = activityTypes.filter((type) => measureOfType[type] === undefined);
  return { types, outcomes: ['refused', 'failed'] };
}

/** The types of the events that open a launch. */
export const openedTypes: readonly string[] = activityTypes.filter(
  (type) => measureOfType[type] === 'opened',
);
