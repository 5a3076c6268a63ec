import {
  type Container,
  containersOf,
  type Manifest,
  matches,
  ofKind,
  type Probe,
  portOf,
  type Selector,
  type Volume,
  type Workload,
  workloadsOf,
} from './objects.ts';

type ServiceSpec = {
  readonly selector?: Readonly<Record<string, string>>;
  readonly ports: readonly {
    readonly name?: string;
    readonly port: number;
    readonly targetPort?: string | number;
  }[];
};
export type IngressSpec = {
  readonly tls?: readonly { readonly hosts: readonly string[]; readonly secretName: string }[];
  readonly rules: readonly {
    readonly host?: string;
    readonly http: {
      readonly paths: readonly {
        readonly path: string;
        readonly pathType: string;
        readonly backend: {
          readonly service: {
            readonly name: string;
            readonly port: { readonly name?: string; readonly number?: number };
          };
        };
      }[];
    };
  }[];
};

/** Secrets that the overlay does not contain, by name, with their keys. */
export type OutsideSecrets = ReadonlyMap<string, readonly string[]>;

/** Every Service selects Pods that have its ports; every workload, budget and autoscaler fits its Pods. */
export function selectorFaults(objects: readonly Manifest[]): readonly string[] {
  const workloads = workloadsOf(objects);
  const selected = (selector: Selector) => workloads.filter(({ labels }) => matches(selector, labels));
  return [
    ...ofKind<ServiceSpec>(objects, 'Service').flatMap(({ name, spec }) => {
      const pods = selected({ matchLabels: spec.selector ?? {} });
      if (pods.length !== 1) return [`Service ${name} selects ${pods.length} workloads`];
      return spec.ports
        .filter(({ port, targetPort = port }) =>
          pods.some(({ pod }) => portOf(pod.containers, targetPort) === undefined),
        )
        .map(
          ({ port, targetPort = port }) =>
            `Service ${name} leads to the port ${targetPort}, which no container has`,
        );
    }),
    ...workloads
      .filter(
        ({ kind, selector, labels }) =>
          kind !== 'Job' && !matches(selector ?? { matchLabels: { no: 'selector' } }, labels),
      )
      .map(({ kind, name }) => `${kind} ${name} does not select its own Pods`),
    ...ofKind<{ readonly selector: Selector }>(objects, 'PodDisruptionBudget')
      .filter(({ spec }) => selected(spec.selector).length !== 1)
      .map(({ name }) => `PodDisruptionBudget ${name} does not select one workload`),
    ...ofKind<{ readonly scaleTargetRef: { readonly kind: string; readonly name: string } }>(
      objects,
      'HorizontalPodAutoscaler',
    )
      .filter(
        ({ spec: { scaleTargetRef: target } }) =>
          !workloads.some(({ kind, name }) => kind === target.kind && name === target.name),
      )
      .map(
        ({ name, spec }) =>
          `HorizontalPodAutoscaler ${name} scales ${spec.scaleTargetRef.name}, which is missing`,
      ),
    ...ingressFaults(objects),
  ];
}

function ingressFaults(objects: readonly Manifest[]): readonly string[] {
  const services = new Map(ofKind<ServiceSpec>(objects, 'Service').map(({ name, spec }) => [name, spec]));
  return ofKind<IngressSpec>(objects, 'Ingress').flatMap(({ name, spec }) =>
    spec.rules
      .flatMap(({ http }) => http.paths)
      .filter(({ backend: { service } }) => {
        const ports = services.get(service.name)?.ports ?? [];
        return !ports.some(
          ({ name: own, port }) => own === service.port.name || port === service.port.number,
        );
      })
      .map(
        ({ path, backend }) =>
          `Ingress ${name} leads ${path} to ${backend.service.name}, which has no such port`,
      ),
  );
}

/**
 * Every ConfigMap, Secret, key, ServiceAccount, volume, port and path that a Pod names exists. A Job, which
 * cannot be changed, names none whose own name changes with its content.
 */
export function referenceFaults(
  objects: readonly Manifest[],
  outside: OutsideSecrets = new Map(),
): readonly string[] {
  const keys = new Map([
    ...outside,
    ...objects
      .filter(({ kind }) => kind === 'ConfigMap' || kind === 'Secret')
      .map(({ kind, metadata, data = {} }) => [`${kind} ${metadata.name}`, Object.keys(data)] as const),
  ]);
  const accounts = new Set(ofKind(objects, 'ServiceAccount').map(({ name }) => name));
  const tls = ofKind<IngressSpec>(objects, 'Ingress').flatMap(({ spec }) => spec.tls ?? []);
  return [
    ...workloadsOf(objects).flatMap((workload) => [
      ...(accounts.has(workload.pod.serviceAccountName ?? '')
        ? []
        : [`${workload.name} has no ServiceAccount`]),
      ...(workload.pod.volumes ?? []).flatMap((volume) =>
        volumeFaults(volume, keys).map((fault) => `${workload.name}: ${fault}`),
      ),
      ...containersOf(workload.pod).flatMap((container) =>
        [
          ...variableFaults(container, keys),
          ...mountFaults(container, workload, keys),
          ...probeFaults(container),
          ...(workload.kind === 'Job' ? changingNameFaults(container, workload) : []),
        ].map((fault) => `${workload.name}/${container.name}: ${fault}`),
      ),
    ]),
    ...tls
      .filter(({ secretName }) => !keys.has(`Secret ${secretName}`))
      .map(({ secretName }) => `Secret ${secretName} of an Ingress is missing`),
  ];
}

type Keys = ReadonlyMap<string, readonly string[]>;

function missing(keys: Keys, object: string, wanted: readonly string[] = []): string[] {
  const known = keys.get(object);
  if (known === undefined) return [`${object} is missing`];
  return wanted.filter((key) => !known.includes(key)).map((key) => `${object} has no key ${key}`);
}

/** Returns the ConfigMaps and Secrets of a volume, with the items that are mounted of each. */
const sourcesOf = ({ secret, configMap, projected }: Volume) =>
  [
    ...(secret === undefined ? [] : [{ secret: { name: secret.secretName, ...secret } }]),
    ...(configMap === undefined ? [] : [{ configMap }]),
    ...(projected?.sources ?? []),
  ].flatMap((source: { secret?: Source; configMap?: Source }) => [
    ...(source.secret === undefined
      ? []
      : [{ object: `Secret ${source.secret.name}`, items: source.secret.items }]),
    ...(source.configMap === undefined
      ? []
      : [{ object: `ConfigMap ${source.configMap.name}`, items: source.configMap.items }]),
  ]);

type Source = {
  readonly name: string;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
};

const volumeFaults = (volume: Volume, keys: Keys): string[] =>
  sourcesOf(volume).flatMap(({ object, items = [] }) =>
    missing(
      keys,
      object,
      items.map(({ key }) => key),
    ),
  );

/** Returns the files of a mounted volume, as paths in the container; undefined if it may have any. */
export function filesOf(volume: Volume, mountPath: string, keys: Keys): readonly string[] | undefined {
  const sources = sourcesOf(volume);
  if (sources.length === 0) return undefined;
  return sources.flatMap(({ object, items }) =>
    (items ?? (keys.get(object) ?? []).map((key) => ({ key, path: key }))).map(
      ({ path }) => `${mountPath}/${path}`,
    ),
  );
}

function variableFaults({ env = [], envFrom = [] }: Container, keys: Keys): string[] {
  return [
    ...envFrom.flatMap(({ configMapRef, secretRef }) => [
      ...(configMapRef === undefined ? [] : missing(keys, `ConfigMap ${configMapRef.name}`)),
      ...(secretRef === undefined ? [] : missing(keys, `Secret ${secretRef.name}`)),
    ]),
    ...env.flatMap(({ valueFrom: { configMapKeyRef: map, secretKeyRef: secret } = {} }) => [
      ...(map === undefined ? [] : missing(keys, `ConfigMap ${map.name}`, [map.key])),
      ...(secret === undefined ? [] : missing(keys, `Secret ${secret.name}`, [secret.key])),
    ]),
  ];
}

/** Mounts have volumes, and the files that variables name are in them. */
function mountFaults(
  { env = [], volumeMounts = [] }: Container,
  { pod, claims }: Workload,
  keys: Keys,
): string[] {
  const volumes = new Map((pod.volumes ?? []).map((volume) => [volume.name, volume]));
  const isPath = (value: string | undefined): value is string => /^\/(run|etc)\/.+/.test(value ?? '');
  const files = volumeMounts.flatMap(({ name, mountPath }) => {
    const volume = volumes.get(name);
    return volume === undefined ? [] : (filesOf(volume, mountPath, keys) ?? []);
  });
  return [
    ...volumeMounts
      .filter(({ name }) => !volumes.has(name) && !claims.includes(name))
      .map(({ name }) => `mounts ${name}, which is no volume`),
    ...env
      .filter(
        ({ value }) => isPath(value) && !files.some((file) => file === value || file.startsWith(`${value}/`)),
      )
      .map(({ name, value }) => `${name} names ${value}, which is not mounted`),
  ];
}

/** What kustomize appends to the name of a ConfigMap or Secret that it generates. */
const contentHash = /-[a-z0-9]{10}$/;

function changingNameFaults({ env = [], envFrom = [] }: Container, { pod }: Workload): string[] {
  const names = [
    ...(pod.volumes ?? []).flatMap((volume) => sourcesOf(volume).map(({ object }) => object)),
    ...envFrom.flatMap(({ configMapRef, secretRef }) => configMapRef?.name ?? secretRef?.name ?? []),
    ...env.flatMap(
      ({ valueFrom }) => valueFrom?.configMapKeyRef?.name ?? valueFrom?.secretKeyRef?.name ?? [],
    ),
  ];
  return names
    .filter((name) => contentHash.test(name))
    .map((name) => `reads ${name}, whose name changes with its content`);
}

function probeFaults(container: Container): string[] {
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const probes: Readonly<Record<string, Probe | undefined>> = { startupProbe, readinessProbe, livenessProbe };
  return Object.entries(probes)
    .filter(
      ([, probe]) => probe?.httpGet !== undefined && portOf([container], probe.httpGet.port) === undefined,
    )
    .map(([name]) => `${name} asks a port that it does not have`);
}
