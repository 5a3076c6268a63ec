import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registry } from '@clinical-launch/contracts/registry';
import { startPrometheus } from '@clinical-launch/testing/servers/prometheus';
import { until } from '@clinical-launch/testing/until';
import { expect } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { makeCertificate, startEdgeBefore } from '../system/edge/running-edge.ts';
import {
  dashboardExpressions,
  prometheusFile,
  root,
  ruleFiles,
  rules,
  selectorsIn,
} from '../system/monitoring/rule-files.ts';
import { requestToken } from './open-launch.ts';
import { sendRequest } from './send-request.ts';
import type { System } from './system.ts';

/** An issuer whose keys nobody can fetch. */
const unreachableIssuer = 'http://127.0.0.1:9';
const dayMs = 86_400_000;

/** Settings with which each metric of the services has a value. */
export type Watched = {
  readonly environment: Readonly<Record<string, string>>;
  /** The demo's registry, plus a client whose secret expires and an issuer that does not answer. */
  readonly registryFile: string;
  /** Removes the registry and the certificate. */
  remove(): void;
};

/** Writes the registry, and a certificate whose expiry is monitored. */
export function prepareWatched(): Watched {
  const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-monitoring-'));
  const certificate = makeCertificate({ days: 10 });
  const registryFile = join(folder, 'registry.json');
  const shipped = new URL('sandbox/simulators/registry.json', root);
  const registry = JSON.parse(readFileSync(shipped, 'utf8')) as Registry;
  const expires = new Date(Date.now() + 7 * dayMs).toISOString();
  registry.realms[0]?.clients.push({
    clientId: 'expiring',
    name: 'Expiring',
    secrets: [{ sha256: '0'.repeat(64), expires }],
    scopes: [],
  });
  registry.trustedIssuers = [{ issuer: unreachableIssuer, clients: [{ clientId: 'somebody' }] }];
  writeFileSync(registryFile, JSON.stringify(registry));
  return {
    environment: { WATCHED_CERTIFICATES: certificate.path },
    registryFile,
    remove() {
      certificate.remove();
      rmSync(folder, { recursive: true });
    },
  };
}

type Target = { targets: string[] };
type Scrape = {
  job_name: string;
  dns_sd_configs?: unknown;
  relabel_configs?: unknown;
  static_configs?: Target[];
};
type Configuration = { global: Record<string, unknown>; scrape_configs: Scrape[]; alerting?: unknown };

/** Returns the shipped configuration with the addresses of the test and shorter intervals. */
function configurationFor(addresses: Readonly<Record<string, Target[]>>): string {
  const configuration = parse(prometheusFile('prometheus.yml')) as Configuration;
  const { alerting: _, ...others } = configuration;
  return stringify({
    ...others,
    global: { ...others.global, scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '500ms' },
    scrape_configs: others.scrape_configs
      .filter(({ job_name: job }) => job in addresses)
      .map(({ dns_sd_configs: _names, relabel_configs: _labels, ...scrape }) => ({
        ...scrape,
        static_configs: addresses[scrape.job_name],
      })),
  });
}

const secondsOf = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
/** The factor by which the durations in the rules are shortened. */
const haste = 120;
/** The shortest window of a rate, which needs at least two scrapes. */
const leastWindowMs = 3000;

/**
 * Shortens each minute in the rules to half a second, so that the test does not take hours. Also divides the
 * thresholds for ages and uptimes. Counts a delivery as late after 5 seconds instead of 300, and assumes a
 * volume of 50 MB for PostgreSQL.
 */
function hastened(text: string): string {
  const faster = (number: string, unit: keyof typeof secondsOf) =>
    Math.round((Number(number) * secondsOf[unit] * 1000) / haste);
  return text
    .replaceAll(/^ +interval: .*\n/gm, '')
    .replaceAll(
      /(?<=\[(?:\d+[smhd]:)?)(\d+)([smhd])(?=[\]:])/g,
      (_, number: string, unit: keyof typeof secondsOf) =>
        `${Math.max(leastWindowMs, faster(number, unit))}ms`,
    )
    .replaceAll(
      /(?<=^ +for: )(\d+)([smhd])$/gm,
      (_, number: string, unit: keyof typeof secondsOf) => `${faster(number, unit)}ms`,
    )
    .replaceAll(/(?<=_age_seconds\)? > |_uptime_seconds(?:\{[^}]*\})? < )(\d+)/g, (seconds) =>
      String(Number(seconds) / haste),
    )
    .replaceAll(/(?<=delivery_duration_seconds_bucket\{le=")300\.0/g, '5.0')
    .replaceAll('vector(20e9)', 'vector(5e7)');
}

type Result = {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
};

/** A real Prometheus that scrapes the system, with the shipped rules and shortened durations. */
export type Monitoring = {
  readonly url: string;
  /** Returns the vector of an expression. @throws Error if the expression is invalid */
  query(expr: string): Promise<readonly Result[]>;
  /** Waits until each of these alerts has fired after `since` (milliseconds since 1970). */
  awaitFiring(alerts: readonly string[], since: number): Promise<void>;
  stop(): Promise<void>;
};

/** Starts Prometheus, and an edge in front of one launch API. */
export async function startMonitoring(system: System): Promise<Monitoring> {
  const [launchApi] = system.replicasOf('launch-api');
  const portOf = (url = '') => Number(new URL(url).port);
  const edge = await startEdgeBefore({
    port: portOf(launchApi?.url),
    adminPort: portOf(launchApi?.adminUrl),
    environment: {},
  });
  const broker = [{ targets: [system.rabbitMq.metricsAddress] }];
  const services = system.processes.map(({ adminUrl }) => ({ targets: [new URL(adminUrl).host] }));
  const configuration = configurationFor({
    'clinical-launch': services,
    'clinical-launch-edge': [{ targets: [`127.0.0.1:${edge.admin}`] }],
    'clinical-launch-rabbitmq': broker,
    'clinical-launch-rabbitmq-queues': broker,
  });
  const inHaste = ruleFiles.map((name) => [name, hastened(prometheusFile(name))] as const);
  const prometheus = await startPrometheus({
    files: { 'prometheus.yml': configuration, ...Object.fromEntries(inHaste) },
  });
  const query = async (expr: string) => {
    const answer = await fetch(`${prometheus.url}/api/v1/query`, {
      method: 'POST',
      body: new URLSearchParams({ query: expr }),
    });
    if (!answer.ok) throw new Error(`${expr}: ${await answer.text()}`);
    const { data } = (await answer.json()) as { data: { result: Result[] } };
    return data.result;
  };
  return {
    url: prometheus.url,
    query,
    async awaitFiring(alerts, since) {
      let silent = alerts;
      await until(
        async () => {
          const fired = await query(`last_over_time(ALERTS{alertstate="firing"}[${Date.now() - since}ms])`);
          const names = new Set(fired.map(({ metric }) => metric['alertname']));
          silent = silent.filter((alert) => !names.has(alert));
          return silent.length === 0;
        },
        () => `these alerts fired: ${silent.join(', ')}`,
      );
    },
    async stop() {
      await prometheus.stop();
      await edge.stop();
    },
  };
}

/** Returns every expression that must return data: panels, recorded series, and the selectors of alerts. */
function allExpressions(): string[] {
  const panels = dashboardExpressions().map(({ expr }) =>
    expr
      .replaceAll('$__rate_interval', '1m')
      .replaceAll('$service', '.*')
      .replaceAll('$client', '.*')
      .replaceAll('$rabbitmq', 'clinical-launch-rabbitmq'),
  );
  const recorded = rules().flatMap(({ record, labels }) =>
    record === undefined ? [] : [labels === undefined ? record : `${record}{slo="${labels['slo']}"}`],
  );
  const compared = rules().flatMap(({ alert, expr }) => (alert === undefined ? [] : selectorsIn(expr)));
  return [...new Set([...panels, ...recorded, ...compared])];
}

/**
 * Waits until every expression of every dashboard and rule has returned a number at least once. Must be
 * called while a load is running.
 */
export async function expectData(system: System, monitoring: Monitoring): Promise<void> {
  let silent = allExpressions();
  expect(silent.length).toBeGreaterThan(150);
  const hasData = async (expr: string) =>
    (await monitoring.query(expr)).some(({ value: [, number] }) => number !== 'NaN');
  const isAnswered = async () => {
    await Promise.all([requestToken(system), failOnce(system)]);
    const haveData = await Promise.all(silent.map(hasData));
    silent = silent.filter((_, index) => !haveData[index]);
    return silent.length === 0;
  };
  await until(isAnswered, () => `these expressions returned data:\n${silent.join('\n')}`);
}

/** Sends a request that is answered 503, because the keys of its issuer cannot be fetched. */
async function failOnce(system: System): Promise<void> {
  const [launchApi] = system.replicasOf('launch-api');
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
  const token = `${part({ alg: 'RS256', typ: 'at+jwt', kid: '1' })}.${part({ iss: unreachableIssuer })}.AAAA`;
  const { status } = await sendRequest({
    url: `${launchApi?.url}/AccessApi/Validate`,
    headers: { Authorization: `Bearer ${token}` },
    body: '{}',
  });
  if (status !== 503) throw new Error(`The answer was ${status}`);
}
