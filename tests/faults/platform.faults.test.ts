import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectBalance, expectRefusalsAudited, printLine, reportBalance } from './balance.ts';
import { type Books, openBooks } from './books.ts';
import { causes, endLeases, fillDisk } from './causes.ts';
import { type Collector, startCollector } from './collector.ts';
import { serviceNames } from './edge.ts';
import type { Answered } from './journal.ts';
import type { Ledger } from './ledger.ts';
import { type Load, underLoad } from './load.ts';
import { expectData, type Monitoring, prepareWatched, startMonitoring, type Watched } from './monitoring.ts';
import { openPms } from './pms.ts';
import { raceTokens } from './race.ts';
import { recordCommands } from './redis-commands.ts';
import { sendRequest } from './send-request.ts';
import type { ServiceProcess } from './service-process.ts';
import { size } from './size.ts';
import { everyRefusalAudited, type System, startSystem } from './system.ts';
import { testTraces } from './traces.ts';

const beganAt = Date.now();
let collector: Collector;
let watched: Watched;
let system: System;
let watching: Promise<Monitoring> | undefined;
/**
 * Starts Prometheus at the first call. The tests call this early, because Prometheus discovers its targets
 * only after five seconds.
 */
const watch = () => (watching ??= startMonitoring(system));
beforeAll(async () => {
  const startedAt = performance.now();
  collector = await startCollector();
  watched = prepareWatched();
  system = await startSystem({
    registryFile: watched.registryFile,
    environment: {
      ...everyRefusalAudited,
      ...watched.environment,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_LOGS_EXPORTER: 'otlp',
      LOG_LEVEL: 'trace',
    },
  });
  printLine(
    `${size.name} form; ${system.processes.length} processes and 3 servers up in ${Math.round(performance.now() - startedAt)} ms`,
  );
});
afterAll(async () => {
  // If Prometheus did not start, the test that needs it has already failed.
  await watching?.then(
    (monitoring) => monitoring.stop(),
    () => undefined,
  );
  await system.stop();
  watched.remove();
  await collector.stop();
});

/**
 * Performs an action under load. When no work is pending, compares the clients' records with the stored data.
 */
async function expectBalanceUnderLoad(
  name: string,
  happen: (load: Load) => Promise<void>,
): Promise<{ ledger: Ledger; books: Books }> {
  const open = await openBooks(system);
  const { directory, processes } = system;
  const replicas = processes.map(({ service, url, adminUrl }) => ({ service, url, adminUrl }));
  const { launchesPerSecond } = size;
  system.receiver.isRestarting = true;
  const pace = { launchesPerSecond, orderEvery: 10, amendEvery: 20, repeatEvery: 7, hesitateEvery: 3 };
  const ledger = await underLoad({ platform: replicas, directory, ...pace }, async (load) => {
    await load.opened(size.launches);
    await happen(load);
    system.receiver.isRestarting = false;
    await load.opened(size.launches);
  });
  const books = await open.close();
  reportBalance(name, ledger, books);
  expectBalance(ledger, books);
  return { ledger, books };
}

describe('the launch path', () => {
  it('makes one Redis round trip per request', async () => {
    // Stops the audit trail, because its relay polls Redis without a request.
    const [auditTrail] = system.replicasOf('audit-trail');
    const [launchApi] = system.replicasOf('launch-api');
    const [gateway] = system.replicasOf('launch-gateway');
    await auditTrail?.kill();
    const pms = await openPms(system);
    const launches = 50;
    const launchAll = async () => {
      for (let launch = 0; launch < launches; launch += 1) {
        const path = await pms.requestLaunch(launchApi?.url ?? '');
        expect((await sendRequest({ url: `${gateway?.url}${path}` })).status).toBe(200);
      }
    };
    // Loads the scripts into Redis before commands are recorded.
    await launchAll();
    const recorded = await recordCommands(system.redis.url, launchAll);
    // The list of revoked tokens is polled every two seconds, independently of requests.
    const commands = recorded.filter(({ key }) => !key.includes(':revoked-tokens')).map(({ name }) => name);
    await auditTrail?.start();
    printLine(
      `${launches} RequestLaunchUrl and ${launches} secureLaunch: ${commands.length} commands to Redis`,
    );
    expect(commands).toEqual(Array.from({ length: 2 * launches }, () => 'evalsha'));
  });
});

describe('a launch token', () => {
  // Starts Prometheus only here, because the test above would count the Redis commands of a scrape.
  beforeAll(watch);

  it('works once when many requests on two gateways use it at the same moment', async () => {
    const { racedTokens: tokens, attemptsEach } = size;
    const open = await openBooks(system);
    const { statuses, winners } = await raceTokens(system, { tokens, attemptsEach });
    const books = await open.close();
    printLine(`${tokens} tokens, ${attemptsEach} attempts each on two gateways: ${JSON.stringify(statuses)}`);
    expect(winners).toEqual(Array.from({ length: tokens }, () => 1));
    expect(statuses).toEqual({ 200: tokens, 410: tokens * (attemptsEach - 1) });
    expect(books.arrived).toBe(books.committed);
    expect(books.audited('launch.token.redeemed.v1')).toBe(tokens);
    expect(books.audited('launch.token.refused.v1', 410)).toBe(tokens * (attemptsEach - 1));
  });
});

describe('a whole launch', () => {
  testTraces(() => ({ system, collector }));
});

describe('the platform under a steady load, monitored by Prometheus', () => {
  let monitoring: Monitoring;
  beforeAll(async () => {
    monitoring = await watch();
    await fillDisk(system);
  });

  it('provides data for every expression of every dashboard and rule', async () => {
    const pace = { launchesPerSecond: 4, orderEvery: 2, amendEvery: 4, repeatEvery: 3, hesitateEvery: 50 };
    await underLoad({ directory: system.directory, platform: system.processes, ...pace }, () =>
      expectData(system, monitoring),
    );
    expect(await monitoring.query('up == 0')).toEqual([]);
    await monitoring.awaitFiring(['CredentialExpires', 'CertificateExpires'], beganAt);
  });

  it('links the histogram buckets of request durations to traces', async () => {
    const answer = await fetch(
      `${monitoring.url}/api/v1/query_exemplars?query=http_server_request_duration_seconds_bucket`,
    );
    const { data } = (await answer.json()) as {
      data: { exemplars: { labels: { trace_id: string } }[] }[];
    };
    expect(data.length).toBeGreaterThan(5);
    expect(data[0]?.exemplars[0]?.labels.trace_id).toMatch(/^[0-9a-f]{32}$/);
  });

  it('counts launches by registered client, and refusals by reason', async () => {
    const by = async (labels: string, series: string) => {
      const found = await monitoring.query(`count by (${labels}) (${series})`);
      return found.map(({ metric }) => Object.values(metric).toSorted());
    };
    const client = 'clinical_launch_client_id';
    expect(await by(client, 'clinical_launch_launches_issued_total')).toEqual([['pms-demo']]);
    const refusals = 'clinical_launch_launches_refused_total';
    expect(await by(client, refusals)).toEqual(expect.arrayContaining([['pms-demo'], ['unknown']]));
    const reason = 'clinical_launch_refusal_step, clinical_launch_refusal_reason';
    expect(await by(reason, refusals)).toEqual(
      expect.arrayContaining([
        ['identifier_used', 'request'],
        ['open', 'token_used'],
      ]),
    );
  });

  it('fires no alert of severity page while everything works, except for slowness on a busy machine', async () => {
    const loud = 'ALERTS{alertstate="firing",severity="page",alertname!~".+(Slow|Late)"}';
    // Waits until no alert fires, because an earlier test requested the keys of an unreachable issuer.
    await until(async () => (await monitoring.query(loud)).length === 0);
    expect(await monitoring.query('up == 0')).toEqual([]);
  });

  it('answers every launch and stores every event once when RabbitMQ stops', async () => {
    let stoppedAt = 0;
    let startedAt = 0;
    const { ledger } = await expectBalanceUnderLoad('RabbitMQ stopped', async () => {
      await system.rabbitMq.kill();
      stoppedAt = Date.now();
      await delay(size.outageMs);
      await monitoring.awaitFiring(['PartMissing', 'EventsWait'], stoppedAt);
      startedAt = Date.now();
      await system.rabbitMq.restart();
    });
    const launches = ledger.answers.filter(({ step }) => step === 'issue' || step === 'redeem');
    expect(launches.filter(isFailure)).toEqual([]);
    const before = medianMs(launches.filter(({ askedAt }) => askedAt < stoppedAt));
    const without = medianMs(launches.filter(({ askedAt }) => askedAt > stoppedAt && askedAt < startedAt));
    printLine(`a launch request took ${before} ms with RabbitMQ and ${without} ms without`);
  });

  it('answers 503 with Retry-After while Redis is down, and accepts no token twice', async () => {
    const { ledger } = await expectBalanceUnderLoad('Redis killed', async () => {
      const killedAt = Date.now();
      await system.redis.kill();
      await delay(size.outageMs / 2);
      await system.redis.restart();
      if (!size.outwaitsLeases) await endLeases(system);
      const alerts = ['RequestsFail', 'LaunchUrlUnavailable', 'SecureLaunchUnavailable'];
      await monitoring.awaitFiring(alerts, killedAt);
    });
    expect(ledger.count('issue', 'unavailable')).toBeGreaterThan(0);
    // No service exited, so every request was answered.
    expect(ledger.answers.filter(({ outcome }) => outcome === 'lost')).toEqual([]);
  });

  it('answers launches while PostgreSQL is down, and stores every order once', async () => {
    const { ledger } = await expectBalanceUnderLoad('PostgreSQL killed', async () => {
      const killedAt = Date.now();
      await system.postgres.kill();
      await delay(size.outageMs);
      await system.postgres.restart();
      await monitoring.awaitFiring(['RequestsFail'], killedAt);
    });
    const launches = ledger.answers.filter(({ step }) => step === 'issue' || step === 'redeem');
    expect(launches.filter(isFailure)).toEqual([]);
    expect(ledger.count('choose', 'unavailable')).toBeGreaterThan(0);
  });

  it('stores exactly one audit event per answer when services are killed at random', async () => {
    const victims: ServiceProcess[] = [];
    // Adds whole shuffled rounds of processes, so that no process is killed twice before each has been killed
    // once.
    while (victims.length < size.killRounds) victims.push(...shuffled(system.processes));
    const killed = victims.slice(0, size.killRounds);
    const { ledger, books } = await expectBalanceUnderLoad(`${size.killRounds} services killed`, async () => {
      for (const victim of killed) {
        await victim.kill();
        if (!size.outwaitsLeases) await endLeases(system);
        await victim.start();
      }
    });
    expectRefusalsAudited(ledger, books);
    const counts = [...Map.groupBy(killed, ({ service }) => service)];
    printLine(`killed: ${counts.map(([service, { length }]) => `${service} ${length}`).join(', ')}`);
  });

  it('drops no request when each process in turn receives SIGTERM', async () => {
    const { ledger, books } = await expectBalanceUnderLoad('SIGTERM', async () => {
      // Restarts the identity provider first, because the other services query it at their start. Then
      // restarts the first replica of each service, and then the second replica.
      const others = serviceNames.slice(1);
      const turns = [
        system.replicasOf('identity-provider'),
        ...[0, 1].map((index) => others.flatMap((service) => system.replicasOf(service)[index] ?? [])),
      ];
      for (const processes of turns) {
        const exitCodes = await Promise.all(processes.map((process) => process.terminate()));
        expect(exitCodes).toEqual(processes.map(() => 0));
        await Promise.all(processes.map((process) => process.start()));
      }
    });
    expect(ledger.answers.filter(isFailure)).toEqual([]);
    expectRefusalsAudited(ledger, books);
  });

  it('alerts on slowness, full stores, too many connections, a missing service, a forged event and a changed row', async () => {
    const fired: string[] = [];
    for (const together of causes(system)) {
      const causedAt = Date.now();
      const undos = await Promise.all(together.map(({ cause }) => cause()));
      const alerts = together.flatMap((one) => one.alerts);
      await monitoring.awaitFiring(alerts, causedAt).finally(() => Promise.all(undos.map((undo) => undo())));
      fired.push(...alerts);
    }
    expect(fired).toHaveLength(11);
    await monitoring.awaitFiring(['PostgresDiskHigh'], beganAt);
  });
});

/** An expired launch token (`late`) is refused with or without a fault, so it does not count as a failure. */
function isFailure({ outcome }: Answered): boolean {
  return outcome !== 'ok' && outcome !== 'late';
}

function medianMs(answers: readonly Answered[]): number {
  const times = answers.map(({ ms }) => ms).toSorted((one, other) => one - other);
  return times[Math.floor(times.length / 2)] ?? Number.NaN;
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(Math.floor(Math.random() * rest.length), 1));
}
