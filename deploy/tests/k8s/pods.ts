import {
  type Container,
  containersOf,
  type Manifest,
  matches,
  ofKind,
  type Selector,
  type Workload,
  workloadsOf,
} from './objects.ts';

const eachContainer = (
  objects: readonly Manifest[],
  faultsOf: (container: Container, workload: Workload) => readonly string[],
) =>
  workloadsOf(objects).flatMap((workload) =>
    containersOf(workload.pod).flatMap((container) =>
      faultsOf(container, workload).map((fault) => `${workload.name}/${container.name} ${fault}`),
    ),
  );

/** The Pod Security Standard `restricted`, and a root file system that nobody writes. */
export function securityFaults(objects: readonly Manifest[]): readonly string[] {
  const allowed = new Set([
    'configMap',
    'emptyDir',
    'name',
    'persistentVolumeClaim',
    'projected',
    'secret',
    'ephemeral',
    'csi',
    'downwardAPI',
  ]);
  return [
    ...workloadsOf(objects).flatMap(({ name, pod }) => [
      ...(['hostNetwork', 'hostPID', 'hostIPC'] as const)
        .filter((shared) => pod[shared] === true)
        .map((shared) => `${name} has ${shared}`),
      ...(pod.automountServiceAccountToken === false ? [] : [`${name} mounts a token of its ServiceAccount`]),
      ...(pod.volumes ?? [])
        .filter((volume) => Object.keys(volume).some((kind) => !allowed.has(kind)))
        .map((volume) => `${name} has the volume ${volume.name} of a kind that is not allowed`),
    ]),
    ...eachContainer(
      objects,
      ({ securityContext: own = {}, ports = [] }, { pod: { securityContext: ofPod = {} } }) => [
        ...(own.allowPrivilegeEscalation === false ? [] : ['may escalate its privileges']),
        ...(own.readOnlyRootFilesystem === true ? [] : ['may write its root file system']),
        ...(own.privileged === true || own.procMount !== undefined || own.seLinuxOptions !== undefined
          ? ['is privileged']
          : []),
        ...(own.capabilities?.drop?.includes('ALL') === true ? [] : ['keeps capabilities']),
        ...((own.capabilities?.add ?? []).every((one) => one === 'NET_BIND_SERVICE')
          ? []
          : ['adds capabilities']),
        ...((own.runAsNonRoot ?? ofPod.runAsNonRoot) === true ? [] : ['may run as root']),
        ...((own.runAsUser ?? ofPod.runAsUser) === 0 ? ['runs as root'] : []),
        ...(/^(RuntimeDefault|Localhost)$/.test((own.seccompProfile ?? ofPod.seccompProfile)?.type ?? '')
          ? []
          : ['has no seccomp profile']),
        ...(ports.some(({ hostPort }) => hostPort !== undefined) ? ['has a port of the host'] : []),
      ],
    ),
  ];
}

/** Images have a tag or a digest that does not move; in production a digest. */
export const imageFaults = (objects: readonly Manifest[], { byDigest = false } = {}): readonly string[] =>
  eachContainer(objects, ({ image }) => {
    const [, tag] = /:([^:/@]+)$/.exec(image) ?? [];
    const isDigest = /@sha256:[0-9a-f]{64}$/.test(image);
    if (isDigest || (!byDigest && tag !== undefined && tag !== 'latest')) return [];
    return [`has the image ${image}`];
  });

/** Each container says what it needs and may use. */
export const resourceFaults = (objects: readonly Manifest[]): readonly string[] =>
  eachContainer(objects, ({ resources: { requests, limits } = {} }) =>
    (['cpu', 'memory'] as const).flatMap((resource) => [
      ...(requests?.[resource] === undefined ? [`requests no ${resource}`] : []),
      ...(limits?.[resource] === undefined ? [`has no limit of ${resource}`] : []),
    ]),
  );

/** Long-running containers are probed, and are never restarted because something else is not ready. */
export const probeFaults = (objects: readonly Manifest[]): readonly string[] =>
  workloadsOf(objects)
    .filter(({ kind }) => kind !== 'Job')
    .flatMap(({ name, pod }) =>
      pod.containers.flatMap((container) => {
        const { startupProbe, readinessProbe, livenessProbe } = container;
        const askedFor = (probe: typeof readinessProbe) => JSON.stringify(probe?.httpGet ?? probe?.exec);
        const liveness = livenessProbe?.httpGet?.path;
        return [
          ...(startupProbe === undefined ? ['has no startup probe'] : []),
          ...(readinessProbe === undefined ? ['has no readiness probe'] : []),
          ...(livenessProbe === undefined ? ['has no liveness probe'] : []),
          ...(liveness === '/readyz' ? ['is restarted when it is not ready'] : []),
          ...(isService(container) && askedFor(readinessProbe) === askedFor(livenessProbe)
            ? ['is ready when it lives']
            : []),
        ].map((fault) => `${name}/${container.name} ${fault}`);
      }),
    );

/** Of our own services, whose probes differ. The edge and the parts are ready when they answer. */
const isService = ({ command = [] }: Container) => command.some((word) => word.endsWith('/src/main.ts'));

/** Milliseconds that a process needs at most after its delay: for requests, consumers and connections. */
const drainMs = 25_000;

/** The grace period is longer than what a stopping process waits for. */
export const graceFaults = (objects: readonly Manifest[]): readonly string[] => {
  const maps = new Map(ofKind(objects, 'ConfigMap').map(({ name, data }) => [name, data]));
  return workloadsOf(objects)
    .filter(({ kind }) => kind !== 'Job')
    .filter(({ pod }) => {
      const waitsMs = pod.containers.map(({ lifecycle, envFrom = [], env = [] }) => {
        const [, seconds = ''] = lifecycle?.preStop?.exec?.command ?? [];
        const named = envFrom.map(
          ({ configMapRef }) => maps.get(configMapRef?.name ?? '')?.['SHUTDOWN_DELAY_MS'],
        );
        const own = env.find(({ name }) => name === 'SHUTDOWN_DELAY_MS')?.valueFrom?.configMapKeyRef;
        const delay =
          named.find((value) => value !== undefined) ?? maps.get(own?.name ?? '')?.['SHUTDOWN_DELAY_MS'];
        return Number(delay ?? 0) + Number(seconds) * 1000 + (lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000;
      });
      return (pod.terminationGracePeriodSeconds ?? 30) * 1000 <= Math.max(...waitsMs) + drainMs;
    })
    .map(({ name }) => `${name} is killed before it has stopped`);
};

type BudgetSpec = {
  readonly selector: Selector;
  readonly maxUnavailable?: number;
  readonly minAvailable?: number;
};

/** Each replicated workload has a budget, and that allows to evict a Pod. */
export function budgetFaults(objects: readonly Manifest[]): readonly string[] {
  const budgets = ofKind<BudgetSpec>(objects, 'PodDisruptionBudget');
  const scales = ofKind<{
    readonly scaleTargetRef: { readonly name: string };
    readonly minReplicas?: number;
  }>(objects, 'HorizontalPodAutoscaler');
  return workloadsOf(objects)
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ name, labels, replicas }) => {
      const scale = scales.find(({ spec }) => spec.scaleTargetRef.name === name);
      const fewest = scale === undefined ? replicas : (scale.spec.minReplicas ?? 1);
      const own = budgets.filter(({ spec }) => matches(spec.selector, labels));
      if (fewest < 2 && own.length === 0) return [];
      if (own.length !== 1) return [`${name} has ${own.length} budgets`];
      const { maxUnavailable, minAvailable } = own[0]?.spec ?? {};
      const evictable = maxUnavailable ?? fewest - (minAvailable ?? fewest);
      return evictable >= 1 ? [] : [`${name} may never be evicted`];
    });
}
