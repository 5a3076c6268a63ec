/**
 * The service level objectives, and the rules that follow from each: the share of errors in several windows,
 * and alerts by the rate at which errors use up the budget (Google SRE workbook, chapter 5, "Multiwindow,
 * Multi-Burn-Rate Alerts").
 */
export type Slo = {
  readonly name: string;
  readonly alert: string;
  /** What users notice, as the summary of the alert begins. */
  readonly says: string;
  /** The share of good events over thirty days. */
  readonly objective: number;
  /** The severity of an alert about a fast burn. */
  readonly fast: 'page' | 'ticket';
  /** The share of bad events in a window, in PromQL. */
  readonly errors: (window: string) => string;
};

const duration = 'http_server_request_duration_seconds';

/** A request that is answered 5xx is bad, 503 with Retry-After included. */
const unavailable = (selector: string) => (window: string) =>
  `(sum(rate(${duration}_count{${selector},http_response_status_code=~"5.."}[${window}])) or vector(0)) / sum(rate(${duration}_count{${selector}}[${window}]))`;

/** Of the requests that are not answered 5xx, the slower ones are bad. */
const slow = (selector: string, seconds: string) => {
  const answered = `${selector},http_response_status_code!~"5.."`;
  return late(duration, seconds, answered);
};

/** @param seconds a boundary of the histogram, as it is in its label `le` */
function late(histogram: string, seconds: string, selector = ''): (window: string) => string {
  const withBound = selector === '' ? `le="${seconds}"` : `${selector},le="${seconds}"`;
  const all = selector === '' ? '' : `{${selector}}`;
  return (window) =>
    `1 - sum(rate(${histogram}_bucket{${withBound}}[${window}])) / sum(rate(${histogram}_count${all}[${window}]))`;
}

type Endpoint = {
  readonly name: string;
  readonly alert: string;
  readonly title: string;
  readonly selector: string;
};

const endpoints: readonly (Endpoint & { readonly within: string; readonly speed: string })[] = [
  {
    name: 'token',
    alert: 'Token',
    title: 'The token endpoint',
    selector: 'http_route=~".*/oauth2/v2.0/token"',
    within: '0.25',
    speed: 'a quarter of a second',
  },
  {
    name: 'request_launch_url',
    alert: 'LaunchUrl',
    title: 'RequestLaunchUrl',
    selector: 'http_route="/AccessApi/RequestLaunchUrl"',
    within: '0.25',
    speed: 'a quarter of a second',
  },
  {
    name: 'secure_launch',
    alert: 'SecureLaunch',
    title: 'secureLaunch',
    selector: 'http_route="/secureLaunch"',
    within: '0.25',
    speed: 'a quarter of a second',
  },
  {
    name: 'submit',
    alert: 'Submit',
    title: 'Submitting an order or samples',
    selector:
      'http_request_method="POST",http_route=~"/oltr/:launchId(/requests/:guid/tests)?/review|/oltr/:launchId/requests/:guid/samples"',
    within: '1.0',
    speed: 'a second',
  },
];

/** Every objective. */
export const slos: readonly Slo[] = [
  ...endpoints.flatMap(({ name, alert, title, selector, within, speed }): Slo[] => [
    {
      name: `${name}_availability`,
      alert: `${alert}Unavailable`,
      says: `${title} fails for`,
      objective: 0.999,
      fast: 'page',
      errors: unavailable(selector),
    },
    {
      name: `${name}_latency`,
      alert: `${alert}Slow`,
      says: `${title} needs more than ${speed} for`,
      objective: 0.99,
      fast: 'page',
      errors: slow(selector, within),
    },
  ]),
  {
    name: 'audit_freshness',
    alert: 'AuditLate',
    says: 'The audit trail stores later than a minute',
    objective: 0.999,
    fast: 'page',
    errors: late('clinical_launch_audit_lag_seconds', '60.0'),
  },
  {
    name: 'delivery',
    alert: 'DeliveryLate',
    says: 'Callback addresses get later than in five minutes',
    objective: 0.99,
    // The receiver is a practice system, which nobody here can repair at night.
    fast: 'ticket',
    errors: late('clinical_launch_delivery_duration_seconds', '300.0'),
  },
];

type Burn = { readonly long: string; readonly short: string; readonly rate: number };

/** How fast a budget of thirty days is used up, in a long window, and still in a short one. */
const fastBurns: readonly Burn[] = [
  { long: '1h', short: '5m', rate: 14.4 },
  { long: '6h', short: '30m', rate: 6 },
];
const slowBurns: readonly Burn[] = [
  { long: '1d', short: '2h', rate: 3 },
  { long: '3d', short: '6h', rate: 1 },
];
const windows = new Set([...fastBurns, ...slowBurns].flatMap(({ long, short }) => [short, long]));

/** The series of the share of errors in a window, with the label `slo`. */
export const errorRatio = (window: string) => `clinical_launch:slo_errors:ratio_rate${window}`;
/** The series of the objectives, with the label `slo`. */
export const objectiveSeries = 'clinical_launch:slo_objective:ratio';

/** Returns the address of the page of an alert; the place of the pages is an external label of Prometheus. */
export const runbookOf = (alert: string) => `{{ $externalLabels.runbooks }}/${pageOf(alert)}`;

/** Returns the file name of the page of an alert: `TokenSlow` has `token-slow.md`. */
export const pageOf = (alert: string) => `${alert.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

/** Returns the rules of all objectives, as Prometheus reads them. */
export function sloRules(): object {
  const record = (window: string) =>
    slos.map(({ name, errors }) => ({
      record: errorRatio(window),
      labels: { slo: name },
      expr: errors(window),
    }));
  return {
    groups: [
      {
        name: 'slo-objectives',
        rules: slos.map(({ name, objective }) => ({
          record: objectiveSeries,
          labels: { slo: name },
          expr: `vector(${objective})`,
        })),
      },
      { name: 'slo-errors', rules: [...windows].flatMap(record) },
      // The budget itself, for the dashboard.
      { name: 'slo-budget', interval: '5m', rules: record('30d') },
      { name: 'slo-alerts', rules: slos.flatMap(alertsOf) },
    ],
  };
}

function alertsOf(slo: Slo) {
  const { name, alert, says, objective, fast } = slo;
  const budget = Number((1 - objective).toFixed(6));
  const alertOn = (severity: 'page' | 'ticket', burns: readonly Burn[], speed: string) => ({
    alert,
    expr: burns
      .map(({ long, short, rate }) => {
        const most = Number((rate * budget).toFixed(6));
        const over = (window: string) => `${errorRatio(window)}{slo="${name}"} > ${most}`;
        return `(${over(long)} and ${over(short)})`;
      })
      .join('\nor\n'),
    labels: { severity, slo: name, burn: speed },
    annotations: {
      summary: `${says} {{ $value | humanizePercentage }} of the events`,
      description: `The objective is ${objective * 100}% over thirty days. ${consequences[speed]}`,
      runbook_url: runbookOf(alert),
    },
  });
  return [alertOn(fast, fastBurns, 'fast'), alertOn('ticket', slowBurns, 'slow')];
}

const consequences: Readonly<Record<string, string>> = {
  fast: 'At this rate the error budget of the month is used up within five days, or within two.',
  slow: 'At this rate the error budget of the month does not last.',
};
