import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findAmtool, findPrometheus } from '@clinical-launch/testing/servers/prometheus';
import { describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { alerts, dashboardExpressions, root, ruleFiles } from './rule-files.ts';

const folder = fileURLToPath(new URL('deploy/telemetry/prometheus/', root));

/** Series by name, each with the values of one hour in promtool's notation. */
type Series = Readonly<Record<string, string>>;

const always = (value: number) => `${value}x60`;
/** Returns a counter that grows by `byMinute` each minute. */
const growing = (byMinute: number) => `0+${byMinute}x60`;

const serviceNames = [
  'identity-provider',
  'launch-api',
  'launch-gateway',
  'ordering',
  'order-renderer',
  'audit-trail',
  'resource-api',
];
const of = (service: string) => `service_namespace="clinical-launch",service_name="${service}"`;
const at = (service: string) => `${of(service)},instance="${service}:9090"`;
const target = (service: string) => `target_info{${at(service)}}`;

const endpoints = {
  Token: ['identity-provider', '/*realm/oauth2/v2.0/token', '0.25'],
  LaunchUrl: ['launch-api', '/AccessApi/RequestLaunchUrl', '0.25'],
  SecureLaunch: ['launch-gateway', '/secureLaunch', '0.25'],
  Submit: ['ordering', '/oltr/:launchId/review', '1.0'],
} as const;
type Endpoint = keyof typeof endpoints;

const requests = 'http_server_request_duration_seconds';
function request(endpoint: Endpoint, status: number, part: 'count' | 'bucket' = 'count'): string {
  const [service, route, le] = endpoints[endpoint];
  const bound = part === 'bucket' ? `,le="${le}"` : '';
  return `${requests}_${part}{${of(service)},http_request_method="POST",http_route="${route}",http_response_status_code="${status}"${bound}}`;
}

/** Returns the series of sixty requests a minute, of which `slow` are slow. */
const answered = (endpoint: Endpoint, slow: number): Series => ({
  [request(endpoint, 200)]: growing(60),
  [request(endpoint, 200, 'bucket')]: growing(60 - slow),
});

/** Returns the series of sixty events a minute, of which `late` are late. */
const timely = (histogram: string, le: string, late: number): Series => ({
  [`${histogram}_bucket{le="${le}"}`]: growing(60 - late),
  [`${histogram}_count`]: growing(60),
});

const audited = (late: number) => timely('clinical_launch_audit_lag_seconds', '60.0', late);
const delivered = (late: number) => timely('clinical_launch_delivery_duration_seconds', '300.0', late);

const outboxAge = 'clinical_launch_outbox_oldest_age_seconds{clinical_launch_outbox_name="tickets"}';
const outboxRejected = `clinical_launch_outbox_rejected_total{clinical_launch_outbox_name="tickets",${at('launch-api')}}`;
const dropped = `clinical_launch_refusals_dropped_total{${at('launch-api')}}`;
const refused = `clinical_launch_events_refused_total{clinical_launch_consumer_name="audit-trail",${at('audit-trail')}}`;
const uptime = (service: string) => `process_uptime_seconds{${at(service)}}`;
const deadLetters = 'rabbitmq_detailed_queue_messages{queue="clinical-launch.order-renderer.dead-letters"}';
const fetches = (outcome: string) =>
  `clinical_launch_issuer_keys_fetches_total{clinical_launch_issuer="https://issuer.example",clinical_launch_outcome="${outcome}"}`;
const fetched =
  'clinical_launch_issuer_keys_fetched_time_seconds{clinical_launch_issuer="https://issuer.example"}';
const credential = (kind: string) =>
  `clinical_launch_credential_expiry_seconds{clinical_launch_credential_kind="${kind}",clinical_launch_credential_owner="demo pms"}`;
const certificate =
  'clinical_launch_certificate_expiry_seconds{clinical_launch_certificate_name="edge:8443"}';
const redis = (series: string) => `${series}{server_address="redis:6379",${at('launch-api')}}`;
const postgres = (series: string) => `postgresql_${series}{${at('ordering')}}`;
const verified = 'clinical_launch_audit_verified_time_seconds';
const loopDelay = `nodejs_eventloop_delay_p99_seconds{${at('launch-api')}}`;
const pending = `db_client_connection_pending_requests{${at('ordering')}}`;
const broker = 'up{job="clinical-launch-rabbitmq",instance="rabbitmq:15692"}';

const daySeconds = 86_400;

/** Time series of a developer portal that answers only errors, and cannot reach an issuer. */
const failingPortal: Series = {
  [`${requests}_count{${at('developer-portal')},http_response_status_code="503"}`]: growing(60),
  [`clinical_launch_issuer_keys_fetches_total{${at('developer-portal')},clinical_launch_issuer="https://sandbox.example",clinical_launch_outcome="failed"}`]:
    growing(1),
};

/** The series of a healthy platform. Time starts at 0. */
const healthy: Series = {
  ...Object.fromEntries(serviceNames.map((service) => [target(service), always(1)])),
  [broker]: always(1),
  ...answered('Token', 0),
  ...answered('LaunchUrl', 0),
  ...answered('SecureLaunch', 0),
  ...answered('Submit', 0),
  ...audited(0),
  ...delivered(0),
  [outboxAge]: always(1),
  [outboxRejected]: always(0),
  [dropped]: always(0),
  [refused]: always(0),
  [uptime('launch-api')]: '360000+60x60',
  [uptime('audit-trail')]: '360000+60x60',
  [deadLetters]: always(0),
  [fetches('ok')]: growing(1),
  [fetches('failed')]: always(0),
  [fetched]: growing(60),
  [credential('client_secret')]: always(30 * daySeconds),
  [credential('signing_key')]: always(20 * daySeconds),
  [certificate]: always(60 * daySeconds),
  [redis('redis_memory_used_bytes')]: always(1e8),
  [redis('redis_maxmemory_bytes')]: always(1e9),
  [postgres('backends')]: always(40),
  [postgres('connection_max')]: always(100),
  [postgres('db_size_bytes')]: always(1e9),
  [pending]: always(0),
  [loopDelay]: always(0.02),
  clinical_launch_delivery_oldest_age_seconds: always(3),
  clinical_launch_delivery_dead: always(0),
  clinical_launch_audit_chain_faults: always(0),
  clinical_launch_audit_export_oldest_age_seconds: always(2),
  [verified]: always(0),
  ...failingPortal,
};

/** Returns the series of an endpoint that answers a share of its requests with 503. */
const failing = (endpoint: Endpoint, share: number): Series => ({
  [request(endpoint, 503)]: growing(60 * share),
});

type Cause = readonly [alert: string, severity: 'page' | 'ticket', name: string, series: Series];

const ofObjectives = (Object.keys(endpoints) as Endpoint[]).flatMap((endpoint): Cause[] => [
  [`${endpoint}Unavailable`, 'page', '3% are answered 503', failing(endpoint, 0.03)],
  [`${endpoint}Unavailable`, 'ticket', '0.2% are answered 503', failing(endpoint, 0.002)],
  [`${endpoint}Slow`, 'page', '20% are slow', answered(endpoint, 12)],
  [`${endpoint}Slow`, 'ticket', '2% are slow', answered(endpoint, 1.2)],
]);

/** The causes that make each alert fire. */
const causes: readonly Cause[] = [
  ...ofObjectives,
  ['AuditLate', 'page', '3% of the events are stored late', audited(1.8)],
  ['AuditLate', 'ticket', '0.2% of the events are stored late', audited(0.12)],
  ['DeliveryLate', 'ticket', '20% of the documents are late', delivered(12)],
  ['ServiceMissing', 'page', 'no replica answers', { [target('ordering')]: '1x10 stale' }],
  ['ServiceMissing', 'page', 'no replica is known', { [target('resource-api')]: '_x60' }],
  ['PartMissing', 'ticket', 'RabbitMQ is down', { [broker]: always(0) }],
  ['RequestsFail', 'page', '3% are answered 503', failing('Submit', 0.03)],
  [
    'LaunchUrlsNotOpened',
    'ticket',
    'a fifth of the launch URLs are not opened',
    { [request('SecureLaunch', 200)]: growing(48) },
  ],
  ['EventLoopBlocked', 'ticket', 'the event loop is delayed', { [loopDelay]: always(0.4) }],
  ['EventsWait', 'page', 'RabbitMQ is down', { [outboxAge]: growing(60) }],
  ['RefusalsDropped', 'ticket', 'refusals are dropped in a flood', { [dropped]: growing(5) }],
  ['EventsRejected', 'ticket', 'an event was rejected', { [outboxRejected]: '0x20 1x40' }],
  ['EventsRefused', 'page', 'an event had an invalid MAC', { [refused]: '0x20 1x40' }],
  [
    'EventsRejected',
    'ticket',
    'an event was rejected immediately after a process started',
    { [outboxRejected]: '_x40 1x20', [uptime('launch-api')]: '_x40 5+60x20' },
  ],
  [
    'EventsRefused',
    'page',
    'an event had an invalid MAC immediately after a process started',
    { [refused]: '_x40 1x20', [uptime('audit-trail')]: '_x40 5+60x20' },
  ],
  ['DeadLetters', 'ticket', 'one event is a dead letter', { [deadLetters]: always(1) }],
  ['AuditChainBroken', 'page', 'a row was changed', { clinical_launch_audit_chain_faults: always(1) }],
  [
    'AuditExportLate',
    'ticket',
    'the collector is down for half an hour',
    { clinical_launch_audit_export_oldest_age_seconds: always(1800) },
  ],
  [
    'AuditVerificationLate',
    'ticket',
    'the last verification was three days ago',
    { [verified]: always(-3 * daySeconds) },
  ],
  [
    'DeliveriesWait',
    'ticket',
    'a document waits for two hours',
    { clinical_launch_delivery_oldest_age_seconds: always(7200) },
  ],
  ['DeliveriesDead', 'ticket', 'one delivery is dead', { clinical_launch_delivery_dead: always(1) }],
  ['RedisMemoryHigh', 'ticket', '85% is used', { [redis('redis_memory_used_bytes')]: always(8.5e8) }],
  ['RedisMemoryHigh', 'page', '95% is used', { [redis('redis_memory_used_bytes')]: always(9.5e8) }],
  ['PostgresConnectionsHigh', 'ticket', '90% are used', { [postgres('backends')]: always(90) }],
  ['PostgresPoolExhausted', 'ticket', 'three requests wait', { [pending]: always(3) }],
  ['PostgresDiskHigh', 'ticket', 'the disk is almost full', { [postgres('db_size_bytes')]: always(1.7e10) }],
  [
    'PostgresDiskHigh',
    'ticket',
    'the disk will be full soon',
    { [postgres('db_size_bytes')]: '1000000000+10000000x60' },
  ],
  [
    'CredentialExpires',
    'ticket',
    'a secret expires in a week',
    { [credential('client_secret')]: always(7 * daySeconds) },
  ],
  [
    'SigningKeyOverdue',
    'ticket',
    'a signing key is overdue for two days',
    { [credential('signing_key')]: always(-2 * daySeconds) },
  ],
  [
    'CertificateExpires',
    'ticket',
    'a certificate expires in two weeks',
    { [certificate]: always(14 * daySeconds) },
  ],
  ['CertificateExpires', 'page', 'a certificate expires tomorrow', { [certificate]: always(daySeconds) }],
  [
    'IssuerKeysUnavailable',
    'page',
    'every fetch fails',
    { [fetches('ok')]: always(0), [fetches('failed')]: growing(1) },
  ],
];

/** Combines causes that change different series, because each run of the rules takes seconds. */
function scenarios(): Cause[][] {
  const together: Cause[][] = [];
  for (const cause of causes) {
    const changes = (other: Cause) => Object.keys(cause[3]).some((name) => name in other[3]);
    const free = together.find((others) => !others.some(changes));
    if (free === undefined) together.push([cause]);
    else free.push(cause);
  }
  return together;
}

const firing = (alert: string, severity: string) =>
  `count(ALERTS{alertname="${alert}",severity="${severity}",alertstate="firing"} or ALERTS{alertname="none"}) > bool 0 or vector(0)`;

function expected(expr: string, value: 0 | 1) {
  return { expr, eval_time: '45m', exp_samples: [{ labels: '{}', value }] };
}

const inputOf = (series: Series) =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }));

/** Runs tests with promtool, and returns its output if one fails. */
function runTests(tests: readonly object[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-rules-'));
  try {
    const file = join(directory, 'tests.yml');
    const files = ruleFiles.map((name) => join(folder, name));
    writeFileSync(file, stringify({ rule_files: files, evaluation_interval: '5m', tests }));
    const { status, stdout, stderr } = spawnSync(findPrometheus('promtool'), ['test', 'rules', file], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    return status === 0 ? '' : `${stdout}${stderr}`.slice(0, 4000);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe('the Prometheus rules', () => {
  it('are valid, as is the configuration that loads them', () => {
    const promtool = findPrometheus('promtool');
    const check = (...args: string[]) =>
      execFileSync(promtool, ['check', ...args], { cwd: folder, encoding: 'utf8' });
    expect(check('config', 'prometheus.yml')).toContain('SUCCESS');
    expect(check('rules', ...ruleFiles)).not.toContain('FAILED');
  });

  it('have a test scenario for each alert and severity', () => {
    const tested = new Set(causes.map(([alert, severity]) => `${alert} ${severity}`));
    expect(new Set(alerts().map(({ alert, labels }) => `${alert} ${labels.severity}`))).toEqual(tested);
  });

  it('fire for each cause, and not on a healthy platform with a failing developer portal', () => {
    const silent = {
      name: 'healthy platform',
      interval: '1m',
      input_series: inputOf(healthy),
      promql_expr_test: alerts().map(({ alert, labels }) =>
        expected(firing(alert, labels.severity ?? ''), 0),
      ),
    };
    const loud = scenarios().map((together) => ({
      name: together.map(([alert, severity, name]) => `${alert} (${severity}): ${name}`).join('; '),
      interval: '1m',
      input_series: inputOf(Object.assign({}, healthy, ...together.map(([, , , series]) => series))),
      promql_expr_test: together.map(([alert, severity]) => expected(firing(alert, severity), 1)),
    }));
    expect(runTests([silent, ...loud])).toBe('');
  });
});

describe('the alerts about latency and unopened launch URLs', () => {
  const names = [
    ...(Object.keys(endpoints) as Endpoint[]).map((name) => `${name}Slow`),
    'LaunchUrlsNotOpened',
  ];
  const pages = alerts().filter(({ alert }) => names.includes(alert));
  /** Returns the series of endpoints that answer every request slowly, and of launch URLs that nobody opens. */
  const slow = (byMinute: number): Series =>
    Object.fromEntries(
      (Object.keys(endpoints) as Endpoint[]).flatMap((endpoint) => [
        [request(endpoint, endpoint === 'SecureLaunch' ? 410 : 200), growing(byMinute)],
        [request(endpoint, endpoint === 'SecureLaunch' ? 410 : 200, 'bucket'), always(0)],
      ]),
    );

  it.each([
    ['stay silent', 27, 0],
    ['fire', 45, 1],
  ] as const)('%s after %i requests in 45 minutes', (_what, requestsInAll, value) => {
    expect(pages).toHaveLength(9);
    const tested = pages.map(({ alert, labels }) => expected(firing(alert, labels.severity ?? ''), value));
    const input_series = inputOf(slow(requestsInAll / 45));
    expect(runTests([{ interval: '1m', input_series, promql_expr_test: tested }])).toBe('');
  });
});

describe('the alert IssuerKeysUnavailable', () => {
  it.each([
    [
      'says until when known keys verify tokens',
      { [fetched]: always(900) },
      ' (1970-01-01 00:15:00 +0000 UTC)',
    ],
    ['needs no successful fetch', {}, ''],
  ])('%s', (_what, series, since) => {
    const input = { [fetches('ok')]: always(0), [fetches('failed')]: growing(1), ...series };
    const labels = { severity: 'page', clinical_launch_issuer: 'https://issuer.example' };
    const expectedAlert = {
      exp_labels: labels,
      exp_annotations: {
        summary: 'The signing keys of https://issuer.example cannot be fetched',
        description: `Services that know the keys accept tokens until 60 minutes after their last fetch${since}. Others answer with 503.`,
        runbook_url: '/issuer-keys-unavailable.md',
      },
    };
    const alertTest = { eval_time: '45m', alertname: 'IssuerKeysUnavailable', exp_alerts: [expectedAlert] };
    expect(runTests([{ interval: '1m', input_series: inputOf(input), alert_rule_test: [alertTest] }])).toBe(
      '',
    );
  });
});

/** The labels that Prometheus adds to a target, for each method of service discovery. */
const targetLabels: Readonly<Record<string, (service: string) => string>> = {
  'docker compose': () => 'job="clinical-launch"',
  'the annotations of Pods': (service) =>
    `job="kubernetes-pods",namespace="clinical-launch",pod="${service}-0",app_kubernetes_io_name="${service}"`,
  'a PodMonitor of the Prometheus Operator': (service) =>
    `job="monitoring/clinical-launch",namespace="clinical-launch",pod="${service}-0",container="${service}",endpoint="admin"`,
};

/** The series of other applications in the same Prometheus. All of their targets fail. */
const others: Series = {
  'up{job="rabbitmq",instance="elsewhere:15692"}': always(0),
  'up{job="services",service="ordering",instance="elsewhere:9090"}': always(0),
  'http_server_request_duration_seconds_count{service="payments",http_route="/secureLaunch",http_response_status_code="503"}':
    growing(60),
  'nodejs_eventloop_delay_p99_seconds{service="payments",instance="elsewhere:9090"}': always(2),
  'db_client_connection_pending_requests{service="payments",instance="elsewhere:9090"}': always(9),
  'redis_memory_used_bytes{server_address="elsewhere:6379"}': always(9.9e8),
  'redis_maxmemory_bytes{server_address="elsewhere:6379"}': always(1e9),
  postgresql_backends: always(99),
  postgresql_connection_max: always(100),
  'rabbitmq_detailed_queue_messages{queue="payments.dead-letters"}': always(5),
};

describe.each(Object.entries(targetLabels))(
  'with the labels of %s, the Prometheus rules',
  (_kind, labelsOf) => {
    /** Adds the labels of the target to the series of our services. */
    const labelled = (series: Series): Series =>
      Object.fromEntries(
        Object.entries(series).map(([name, values]) => [
          name.replace(/service_name="([^"]+)"/, (label, service: string) => `${label},${labelsOf(service)}`),
          values,
        ]),
      );
    const platform = { interval: '1m', input_series: inputOf({ ...labelled(healthy), ...others }) };

    it('do not fire for other applications', () => {
      const silent = alerts().map(({ alert, labels }) => expected(firing(alert, labels.severity ?? ''), 0));
      expect(runTests([{ ...platform, promql_expr_test: silent }])).toBe('');
    });

    it('fire for the metrics of our services', () => {
      const series = [
        { [target('ordering')]: '_x60' },
        failing('Submit', 0.03),
        { [loopDelay]: always(0.4) },
      ];
      const failed = { ...labelled(Object.assign({}, healthy, ...series)), ...others };
      const loud = ['ServiceMissing', 'RequestsFail', 'SubmitUnavailable'].map((alert) =>
        expected(firing(alert, 'page'), 1),
      );
      expect(
        runTests([
          {
            interval: '1m',
            input_series: inputOf(failed),
            promql_expr_test: [...loud, expected(firing('EventLoopBlocked', 'ticket'), 1)],
          },
        ]),
      ).toBe('');
    });
  },
);

describe('the dashboards', () => {
  it('contain only valid expressions', () => {
    const rules = dashboardExpressions().map(({ expr }, index) => ({
      record: `panel_${index}`,
      expr: expr.replaceAll('$__rate_interval', '1m'),
    }));
    const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-panels-'));
    try {
      const file = join(directory, 'panels.yml');
      writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }));
      const options = { encoding: 'utf8' } as const;
      const { stderr } = spawnSync(findPrometheus('promtool'), ['check', 'rules', file], options);
      expect(stderr).toBe('');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

describe('the Alertmanager configuration', () => {
  const file = fileURLToPath(new URL('deploy/telemetry/alertmanager/alertmanager.yml', root));
  const amtool = (...args: string[]) =>
    execFileSync(findAmtool(), args, { encoding: 'utf8', stdio: 'pipe' }).trim();

  it('is valid', () => {
    expect(amtool('check-config', file)).toContain('SUCCESS');
  });

  it.each([
    ['page', 'pages'],
    ['ticket', 'tickets'],
  ])('sends a %s to %s', (severity, receiver) => {
    const route = ['config', 'routes', 'test', `--config.file=${file}`];
    expect(amtool(...route, `severity=${severity}`, 'alertname=EventsWait')).toBe(receiver);
  });
});
