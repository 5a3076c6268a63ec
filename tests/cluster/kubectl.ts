import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';
import { until } from '@clinical-launch/testing/until';

/** The namespace of the demo overlay. */
export const namespace = 'clinical-launch-demo';

const limitMs = 600_000;

/**
 * Runs `kubectl`, or the program named by `KUBECTL`, in the namespace of the demo and returns its output.
 * @throws Error with the error output when the command fails
 */
export function kubectl(args: readonly string[], input?: string): string {
  const { status, stdout, stderr, error } = run(args, input);
  if (status === 0) return stdout;
  throw new Error(`kubectl ${args.join(' ')}: ${error?.message ?? stderr}`);
}

function run(args: readonly string[], input?: string) {
  return spawnSync(process.env['KUBECTL'] || 'kubectl', ['--namespace', namespace, ...args], {
    encoding: 'utf8',
    input: input ?? '',
    timeout: limitMs,
    maxBuffer: 2 ** 26,
  });
}

/**
 * Applies a kustomization. The command in `MANIFEST_FILTER`, if set, adapts the manifests to an older
 * cluster.
 */
export function applyKustomization(directory: string): void {
  const rendered = kubectl(['kustomize', directory]);
  const filter = process.env['MANIFEST_FILTER'];
  kubectl(['apply', '--filename', '-'], filter === undefined ? rendered : filtered(filter, rendered));
}

function filtered(command: string, manifests: string): string {
  const { status, stdout, stderr } = spawnSync(command, {
    shell: true,
    encoding: 'utf8',
    input: manifests,
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  return stdout;
}

type Pod = {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

/** Returns the names of an app's Pods. Omits Pods that are being deleted. */
export function podsOf(app: string): string[] {
  return listPods(app).map(({ metadata }) => metadata.name);
}

function listPods(app: string): Pod[] {
  const text = kubectl(['get', 'pods', '--selector', `app.kubernetes.io/name=${app}`, '--output', 'json']);
  const { items } = JSON.parse(text) as { items: Pod[] };
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

const isReady = ({ status }: Pod) =>
  status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;

/** Waits until an app has exactly `count` Pods and all of them are ready. */
export async function awaitReady(app: string, count: number): Promise<void> {
  await until(
    () => {
      const pods = listPods(app);
      return pods.length === count && pods.every(isReady);
    },
    () => `${app} has ${count} ready Pods`,
  );
}

/** Waits until the rollouts of these Deployments or StatefulSets are complete. */
export function awaitRollout(...names: readonly string[]): void {
  for (const name of names) kubectl(['rollout', 'status', name, '--timeout=10m']);
}

/** Evicts a Pod as `kubectl drain` does, as soon as its PodDisruptionBudget allows it. */
export async function evict(pod: string): Promise<void> {
  await until(
    () => {
      const { status, stderr } = evictOnce(pod, 'policy/v1');
      // Clusters before Kubernetes 1.22 support only policy/v1beta1.
      const isUnknown = status !== 0 && /policy\/v1|no kind|does not match/.test(stderr);
      const answer = isUnknown ? evictOnce(pod, 'policy/v1beta1') : { status, stderr };
      if (answer.status !== 0 && !/disruption budget|429|TooManyRequests/i.test(answer.stderr))
        throw new Error(`${pod} was not evicted: ${answer.stderr}`);
      return answer.status === 0;
    },
    () => `${pod} was evicted`,
  );
}

function evictOnce(pod: string, apiVersion: string) {
  const eviction = { apiVersion, kind: 'Eviction', metadata: { name: pod, namespace } };
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/eviction`;
  return run(['create', '--raw', path, '--filename', '-'], JSON.stringify(eviction));
}

/**
 * A local address that forwards to a port of a Pod, even after another Pod of the same name has replaced it.
 */
export type Forward = {
  /** `127.0.0.1:port` */
  readonly address: string;
  /** Starts the port forward again for the current Pod, and waits until the port answers. */
  renew(): Promise<void>;
  stop(): void;
};

/** Forwards a free port of this machine to a port of a Pod. */
export async function forward(pod: string, port: number): Promise<Forward> {
  const local = await findFreePort();
  let isStopped = false;
  const start = () =>
    spawn(
      process.env['KUBECTL'] || 'kubectl',
      ['--namespace', namespace, 'port-forward', `pod/${pod}`, `${local}:${port}`],
      { stdio: 'ignore' },
    ).once('exit', () => {
      if (!isStopped) setTimeout(() => isStopped || (child = start()), 500);
    });
  let child = start();
  return {
    address: `127.0.0.1:${local}`,
    async renew() {
      // Ends the running port forward, which may still lead to a deleted Pod. Its exit handler starts a new
      // port forward.
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill();
        await exited;
      }
      await until(
        () => answers(local),
        () => `${pod} answers at port ${port}`,
      );
    },
    stop() {
      isStopped = true;
      child.kill();
    },
  };
}

/**
 * Returns true if a connection stays open for 300 ms. If the Pod is missing, the forward closes it
 * immediately.
 */
function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1');
  const settle = (isOpen: boolean) => {
    socket.destroy();
    resolve(isOpen);
  };
  socket.once('error', () => settle(false)).once('close', () => settle(false));
  socket.once('connect', () => setTimeout(settle, 300, true));
  return promise;
}
