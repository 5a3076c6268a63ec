import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectBalance, printLine, reportBalance } from '../faults/balance.ts';
import { type BookKeepers, openBooks } from '../faults/books.ts';
import type { Answered } from '../faults/journal.ts';
import type { Ledger } from '../faults/ledger.ts';
import { underLoad } from '../faults/load.ts';
import { sendRequest } from '../faults/send-request.ts';
import { run } from '../system/run-command.ts';
import {
  applyKustomization,
  awaitReady,
  awaitRollout,
  evict,
  type Forward,
  forward,
  kubectl,
  namespace,
  podsOf,
} from './kubectl.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const overlay = join(root, 'k8s/overlays/demo');
const url = needed('BASE_URL', 'the address of the Ingress of the cluster, as seen from this machine');
needed('KUBECONFIG', 'the kubectl configuration of a cluster that has the images of docker-compose.yml');

function needed(name: string, what: string): string {
  const value = process.env[name];
  if (value) return value.replace(/\/$/, '');
  throw new Error(`Set ${name}: ${what}. See docs/guides/deploy.md for how to start a cluster.`);
}

const services = [
  'identity-provider',
  'launch-api',
  'launch-gateway',
  'ordering',
  'order-renderer',
  'audit-trail',
  'resource-api',
] as const;
const apps = [...services, 'edge'] as const;
const parts = ['redis', 'rabbitmq', 'postgres'] as const;
const deployments = apps.map((app) => `deployment/${app}`);
const statefulSets = parts.map((part) => `statefulset/${part}`);

const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-cluster-'));
const forwards: Forward[] = [];
let keepers: BookKeepers;

/** Deletes the demo, applies it again, and waits until a launch succeeds. */
async function startDemo(): Promise<void> {
  kubectl(['delete', 'namespace', namespace, '--ignore-not-found', '--wait', '--timeout=5m']);
  const startedAt = performance.now();
  applyKustomization(overlay);
  awaitRollout(...statefulSets, ...deployments, 'deployment/developer-portal', 'deployment/simulators');
  await until(async () => (await play()) === 0);
  printLine(
    `from kubectl apply to the first launch: ${Math.round((performance.now() - startedAt) / 1000)} s`,
  );
}

/** Plays both launches through the Ingress, and returns the exit code. */
const play = (): Promise<number | null> =>
  run('npm', ['run', 'demo'], { BASE_URL: url, PATH: process.env['PATH'] ?? '' }).exited;

async function openKeepers(): Promise<BookKeepers> {
  const [redis, postgres, rabbitMq] = await Promise.all([
    forward('redis-0', 6379),
    forward('postgres-0', 5432),
    forward('rabbitmq-0', 15_692),
  ]);
  forwards.push(redis, postgres, rabbitMq);
  const at = (secret: string, { address }: Forward) => {
    const secretUrl = new URL(readFileSync(join(root, 'deploy/docker/demo-secrets', secret), 'utf8').trim());
    secretUrl.host = address;
    return { url: secretUrl.href };
  };
  return {
    redis: at('services/audit-trail/redis-url', redis),
    postgres: at('database-url', postgres),
    rabbitMq: { metricsAddress: rabbitMq.address },
  };
}

const keepersReady = () => Promise.all(forwards.map((one) => one.renew()));

beforeAll(async () => {
  await startDemo();
  applyWith(settings);
  keepers = await openKeepers();
});
afterAll(() => {
  for (const one of forwards) one.stop();
  rmSync(directory, { recursive: true });
});

/** Runs an action under load. When no work is pending, compares the clients' records with the stored data. */
async function expectBalanceUnderLoad(name: string, happen: () => Promise<void>): Promise<Ledger> {
  await keepersReady();
  const open = await openBooks(keepers);
  const pace = { launchesPerSecond: 6, orderEvery: 5, amendEvery: 10, repeatEvery: 7, hesitateEvery: 3 };
  const ledger = await underLoad({ platform: url, directory, ...pace }, async (load) => {
    await load.opened(10);
    await happen();
    await load.opened(20);
  });
  await keepersReady();
  const books = await open.close();
  reportBalance(name, ledger, books);
  for (const [failure, its] of Map.groupBy(failuresOf(ledger), (text) => text.replace(/ after.*/, '')))
    printLine(`  ${its.length} times ${failure}, such as ${its[0]} and ${its.at(-1)}`);
  expectBalance(ledger, books);
  return ledger;
}

const failuresOf = ({ answers }: Ledger) =>
  answers.filter(({ outcome }) => outcome !== 'ok' && outcome !== 'late').map(shown);

const shown = ({ step, outcome, status, ms }: Answered) => `${step}: ${outcome} ${status} after ${ms} ms`;

/** Runs an action under load, and expects that no request fails. */
async function expectNothingNoticed(name: string, happen: () => Promise<void>): Promise<void> {
  expect(failuresOf(await expectBalanceUnderLoad(name, happen))).toEqual([]);
}

/**
 * All load comes from one address and many of its requests are refused, so the limit of refusals per address
 * is off.
 */
const settings = ['REFUSALS_PER_ADDRESS=0'];

type Patch = { readonly target: { readonly kind: string }; readonly patch: string };

/** Applies the demo with changed settings for every service, and waits for the rollout. */
function applyWith(literals: readonly string[], patches: readonly Patch[] = []): void {
  const changed = mkdtempSync(join(directory, 'changed-'));
  writeFileSync(
    join(changed, 'kustomization.yaml'),
    JSON.stringify({
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      namespace,
      resources: [relative(changed, overlay)],
      configMapGenerator: [{ name: 'platform', behavior: 'merge', literals }],
      patches,
    }),
  );
  applyKustomization(changed);
  awaitRollout(...deployments);
}

const settingsOf = (service: string) =>
  kubectl([
    'get',
    `deployment/${service}`,
    '--output',
    'jsonpath={.spec.template.spec.containers[0].envFrom}',
  ]);

describe('the demo on an empty cluster', () => {
  it('plays both launches through the Ingress', async () => {
    expect(await play()).toBe(0);
  });
});

describe('the platform under a steady load through the Ingress', () => {
  it('fails no request during a rolling update of every Deployment', async () => {
    await expectNothingNoticed('rolling update', async () => {
      kubectl(['rollout', 'restart', ...deployments]);
      awaitRollout(...deployments);
    });
  });

  it('fails no request when every Pod is evicted, one service at a time', async () => {
    await expectNothingNoticed('evictions', async () => {
      for (const app of apps) {
        const pods = podsOf(app);
        for (const pod of pods) await evict(pod);
        await awaitReady(app, pods.length);
      }
    });
  });

  it('fails no request when a changed setting is rolled out and rolled back', async () => {
    const before = settingsOf('ordering');
    await expectNothingNoticed('a changed ConfigMap, and a rollback', async () => {
      applyWith([...settings, 'LOG_LEVEL=warn']);
      expect(settingsOf('ordering')).not.toBe(before);
      for (const service of services) kubectl(['rollout', 'undo', `deployment/${service}`]);
      awaitRollout(...deployments);
    });
    expect(settingsOf('ordering')).toBe(before);
  });

  it('fails no request when each service is scaled from one replica to three and back', async () => {
    // The autoscalers would undo the scaling.
    const scalers = kubectl(['get', 'hpa', '--output', 'name']).trim().split('\n');
    kubectl(['delete', ...scalers]);
    const scaleAll = async (replicas: number) => {
      kubectl(['scale', `--replicas=${replicas}`, ...deployments]);
      awaitRollout(...deployments);
      for (const app of apps) await awaitReady(app, replicas);
    };
    await scaleAll(1);
    await expectNothingNoticed('from one replica to three and back', async () => {
      await scaleAll(3);
      await scaleAll(1);
    }).finally(async () => {
      await scaleAll(2);
      applyWith(settings);
    });
  });
});

describe('the platform under a steady load through the Ingress, when Pods fail', () => {
  it('fails at most four requests for each Pod that is killed without a grace period', async () => {
    let killed = 0;
    const ledger = await expectBalanceUnderLoad('killed without a grace period', async () => {
      for (const app of apps) {
        const pods = podsOf(app);
        for (const pod of pods) {
          kubectl(['delete', `pod/${pod}`, '--grace-period=0', '--force']);
          await awaitReady(app, pods.length);
          killed += 1;
        }
      }
    });
    printLine(`${killed} Pods killed; ${failuresOf(ledger).length} requests failed`);
    // Each kill may break the few requests that are open at that moment.
    expect(failuresOf(ledger).length).toBeLessThanOrEqual(4 * killed);
  });

  it.each(parts)('answers 503 with Retry-After while the Pod of %s is replaced', async (part) => {
    const ledger = await expectBalanceUnderLoad(`${part} deleted`, async () => {
      kubectl(['delete', `pod/${part}-0`]);
      await awaitReady(part, 1);
      for (const service of services) await awaitReady(service, 2);
    });
    expect(failuresOf(ledger).filter((text) => !/unavailable 503/.test(text))).toEqual([]);
    expect((await sendRequest({ url: `${url}/AccessApi/openapi.json` })).status).toBe(200);
  });
});

describe('a cluster that assigns user ids', () => {
  it('runs every image with a user id that the image does not define', async () => {
    const asUser = { op: 'add', path: '/spec/template/spec/securityContext/runAsUser', value: 1_000_730_000 };
    const patches = ['Deployment', 'Job'].map((kind) => ({
      target: { kind },
      patch: JSON.stringify([asUser]),
    }));
    kubectl(['delete', 'job', '--all', '--wait']);
    applyWith(settings, patches);
    kubectl(['wait', '--for=condition=complete', 'job', '--all', '--timeout=5m']);
    const ids = kubectl(['exec', 'deployment/ordering', '--', 'id', '--user']);
    expect(ids.trim()).toBe(String(asUser.value));
    expect(await play()).toBe(0);
  });
});
