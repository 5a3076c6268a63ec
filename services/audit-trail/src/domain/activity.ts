/** The figures (measures) of the activity page, in their order on the page. */
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

/** Returns whether the text is the name of a measure. */
export function isMeasure(name: string): name is ActivityMeasure {
  return Object.hasOwn(activityMeasures, name);
}

/** The number of events of one interval, client, type, outcome and reason. */
export type ActivityRow = {
  /** Milliseconds since 1970 */
  readonly begin: number;
  readonly client: string | null;
  readonly type: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly count: number;
  /** The number of launches that were not opened in time. */
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

/** The types of event that the activity page counts. */
export const activityTypes: readonly string[] = [
  ...Object.keys(measureOfType),
  'launch.url.refused.v1',
  'launch.token.refused.v1',
  'desktop.launch.refused.v1',
  'access.token.refused.v1',
  'resource.refused.v1',
];

/** Returns the amount that a row adds to a measure. */
export function amountOf({ type, outcome, count, expired }: ActivityRow, measure: ActivityMeasure): number {
  if (measure === 'expired') return expired;
  if (measure === 'refused') return outcome === 'success' ? 0 : count;
  return measureOfType[type] === measure ? count : 0;
}

/** Returns the search criteria for the events of a measure. @param now milliseconds since 1970 */
export function criteriaOf(measure: ActivityMeasure, now: number) {
  const typesOf = (wanted: ActivityMeasure) => activityTypes.filter((type) => measureOfType[type] === wanted);
  if (measure === 'expired') return { types: typesOf('issued'), unopenedAt: new Date(now) };
  if (measure !== 'refused') return { types: typesOf(measure) };
  const types = activityTypes.filter((type) => measureOfType[type] === undefined);
  return { types, outcomes: ['refused', 'failed'] as const };
}

/** The types of event that record the opening of a launch. */
export const openedTypes: readonly string[] = activityTypes.filter(
  (type) => measureOfType[type] === 'opened',
);
