import { parse } from 'yaml';
import type { Manifest } from './render.ts';

type Labels = Readonly<Record<string, string>>;
/** A label selector. Expressions always use the operator `In`. */
type Selector = {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
};
type Port = string | number;
type Named = { readonly name: string };
type Container = Named & {
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly (Named & { readonly value?: string })[];
  readonly ports?: readonly (Named & { readonly containerPort: number })[];
  readonly volumeMounts?: readonly (Named & { readonly mountPath: string })[];
  readonly resources?: {
    readonly requests: { readonly cpu: string; readonly memory: string };
    readonly limits: { readonly cpu: string; readonly memory: string };
  };
};
type WorkloadSpec = {
  readonly selector?: Selector;
  readonly volumeClaimTemplates?: readonly { readonly metadata: Named }[];
  readonly template: {
    readonly metadata: { readonly labels: Labels };
    readonly spec: {
      readonly serviceAccountName?: string;
      readonly initContainers?: readonly Container[];
      readonly containers: readonly Container[];
      readonly volumes?: readonly Named[];
    };
  };
};
type Peer = {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string };
};
type Rule = {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports: readonly { readonly port: Port }[];
};

export type ServiceSpec = {
  /** True for the Services through which Prometheus finds the Pods of several workloads. */
  readonly publishNotReadyAddresses?: boolean;
  readonly type?: string;
  readonly externalTrafficPolicy?: string;
  readonly selector: Labels;
  readonly ports: readonly (Named & { readonly port: number; readonly targetPort: Port })[];
};
export type IngressSpec = {
  readonly tls?: readonly { readonly secretName: string }[];
  readonly rules: readonly {
    readonly http: {
      readonly paths: readonly {
        readonly path: string;
        readonly pathType: string;
        readonly backend: { readonly service: Named & { readonly port: Named } };
      }[];
    };
  }[];
};
type RouteSpec = {
  readonly rules: readonly {
    readonly matches: readonly { readonly path: { readonly type: string; readonly value: string } }[];
    readonly backendRefs: readonly (Named & { readonly port: number })[];
  }[];
};
export type PolicySpec = {
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
};

/** Returns the objects of these kinds, with their spec as the type `Spec`. */
export const ofKind = <Spec>(objects: readonly Manifest[], ...kinds: readonly string[]) =>
  objects
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ kind, metadata: { name }, spec }) => ({ kind, name, spec: spec as Spec }));

/**
 * Validates an object against its Kubernetes schema. Skips objects of the Gateway API, for which no package
 * is installed. @throws Error if the object is invalid
 */
export async function validate(object: Manifest): Promise<void> {
  const { apiVersion, kind, data = {} } = object;
  // The files of a ConfigMap must be YAML without duplicate keys.
  if (kind === 'ConfigMap')
    for (const [name, text] of Object.entries(data)) if (/\.ya?ml$/.test(name)) parse(text);
  if (apiVersion === 'gateway.networking.k8s.io/v1') return;
  const models: Record<string, new (data: Manifest) => { validate(): void }> =
    apiVersion === 'monitoring.coreos.com/v1'
      ? await import('@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1')
      : await import(`kubernetes-models/${apiVersion}`);
  const Model = models[kind];
  if (Model === undefined) throw new Error(`${apiVersion} has no ${kind}`);
  new Model(object).validate();
}

/** Returns the Deployments, StatefulSets, Jobs and CronJobs. */
export const workloadsOf = (objects: readonly Manifest[]) =>
  [
    ...ofKind<WorkloadSpec>(objects, 'Deployment', 'StatefulSet', 'Job'),
    ...ofKind<{ readonly jobTemplate: { readonly spec: WorkloadSpec } }>(objects, 'CronJob').map(
      ({ spec, ...named }) => ({ ...named, spec: spec.jobTemplate.spec }),
    ),
  ].map(({ kind, name, spec }) => {
    const { metadata, spec: pod } = spec.template;
    const claims = (spec.volumeClaimTemplates ?? []).map((claim) => claim.metadata);
    return {
      kind,
      name,
      selector: spec.selector,
      labels: metadata.labels,
      pod,
      containers: [...(pod.initContainers ?? []), ...pod.containers],
      volumes: new Map([...(pod.volumes ?? []), ...claims].map((volume) => [volume.name, volume])),
    };
  });

/** Returns the routes of each Ingress, HTTPRoute and LoadBalancer, such as `Prefix / to edge:http`. */
export const entrancesOf = (objects: readonly Manifest[]): readonly string[] => [
  ...ofKind<IngressSpec>(objects, 'Ingress').flatMap(({ spec }) =>
    spec.rules.flatMap(({ http }) =>
      http.paths.map(
        ({ pathType, path, backend: { service } }) =>
          `${pathType} ${path} to ${service.name}:${service.port.name}`,
      ),
    ),
  ),
  ...ofKind<RouteSpec>(objects, 'HTTPRoute').flatMap(({ spec }) =>
    spec.rules.flatMap(({ matches: paths, backendRefs }) =>
      paths.flatMap(({ path }) =>
        backendRefs.map(({ name, port }) => `${path.type} ${path.value} to ${name}:${port}`),
      ),
    ),
  ),
  ...ofKind<ServiceSpec>(objects, 'Service')
    .filter(({ spec }) => spec.type === 'LoadBalancer')
    .flatMap(({ spec }) =>
      spec.ports.map(
        ({ port, targetPort }) =>
          `${port} to ${spec.selector['app.kubernetes.io/name']}:${targetPort}, ${spec.externalTrafficPolicy}`,
      ),
    ),
];

/** Returns the data of the ConfigMap that Kustomize generated with this name and a hash. */
export const settingsIn = (objects: readonly Manifest[], name: string): Readonly<Record<string, string>> =>
  objects.find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.replace(/-[a-z0-9]{10}$/, '') === name,
  )?.data ?? {};

type Pods = Pick<ReturnType<typeof workloadsOf>[number], 'labels' | 'containers'>;

/** Returns true if the NetworkPolicies let the Pods of one workload connect to a port of another. */
export function connects(objects: readonly Manifest[], from: Pods, to: Pods, port: number): boolean {
  const policies = ofKind<PolicySpec>(objects, 'NetworkPolicy').map(({ spec }) => spec);
  const allows = (own: Pods, other: Pods, rules: (policy: PolicySpec) => readonly Rule[] | undefined) =>
    policies
      .filter(({ podSelector }) => matches(podSelector, own.labels))
      .flatMap((policy) => rules(policy) ?? [])
      .some(
        (rule) =>
          rule.ports.some((allowed) => (numberOf(to.containers, allowed.port) ?? allowed.port) === port) &&
          (rule.from ?? rule.to ?? []).some(
            ({ podSelector }) => podSelector !== undefined && matches(podSelector, other.labels),
          ),
      );
  return allows(from, to, ({ egress }) => egress) && allows(to, from, ({ ingress }) => ingress);
}

/** Returns true if labels match a selector. An empty selector matches everything. */
export const matches = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''));

/** Returns the number of a port given by name or number, or undefined if no container has that port. */
export const numberOf = (containers: readonly Container[], port: Port): number | undefined =>
  containers
    .flatMap(({ ports = [] }) => ports)
    .find(({ name, containerPort }) => name === port || containerPort === port)?.containerPort;

/**
 * A ConfigMap or Secret that a Pod references, and the keys. Without `items`, the Pod references all keys.
 */
type Source = { readonly object: string; readonly items?: readonly { key: string; path: string }[] };
type Reference = {
  name?: string;
  secretName?: string;
  key?: string;
  items?: Source['items'];
  optional?: boolean;
};

/** Returns the ConfigMaps and Secrets that a value references at any depth. Omits optional references. */
export function sourcesIn(value: unknown): Source[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) => {
    const [, word] = /^(secret|configMap)(?:Ref|KeyRef)?$/.exec(member) ?? [];
    if (word === undefined) return sourcesIn(inner);
    const { name, secretName = name, key, items, optional } = inner as Reference;
    if (optional) return [];
    const object = `${word === 'secret' ? 'Secret' : 'ConfigMap'} ${secretName}`;
    if (key !== undefined) return [{ object, items: [{ key, path: key }] }];
    return [items === undefined ? { object } : { object, items }];
  });
}
