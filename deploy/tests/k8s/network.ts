import {
  type Labels,
  type Manifest,
  matches,
  ofKind,
  portOf,
  type Selector,
  type Workload,
  workloadsOf,
} from './objects.ts';
import { variablesOf } from './settings.ts';

type Peer = {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string };
};
type Rule = {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly port: string | number; readonly protocol?: string }[];
};
type PolicySpec = {
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
};

/** Well-known ports of the parts, with and without TLS. */
const parts: Readonly<Record<string, readonly number[]>> = {
  REDIS_URL: [6379, 6380],
  AMQP_URL: [5671, 5672],
  DATABASE_URL: [5432],
};

/**
 * What each Pod may reach equals what its configuration names: the addresses in its settings, the parts whose
 * addresses it has, and for the edge the services. `outbound` are the workloads that call the internet.
 */
export function peerFaults(
  objects: readonly Manifest[],
  outbound: readonly string[] = [],
): readonly string[] {
  const workloads = workloadsOf(objects);
  return workloads.flatMap((workload) => {
    const [wanted, allowed] = [wantedBy(workload, objects, outbound), allowedTo(workload, objects)];
    return [
      ...wanted
        .filter((peer) => !allowed.includes(peer))
        .map((peer) => `${workload.name} may not reach ${peer}`),
      ...allowed
        .filter((peer) => !wanted.includes(peer))
        .map((peer) => `${workload.name} may reach ${peer}, which its configuration does not name`),
    ];
  });
}

/** Every Pod is refused everything that no policy names, and may ask the DNS. */
export function denyFaults(objects: readonly Manifest[]): readonly string[] {
  const policies = ofKind<PolicySpec>(objects, 'NetworkPolicy');
  return workloadsOf(objects).flatMap(({ name, labels }) => {
    const own = policies.filter(({ spec }) => matches(spec.podSelector, labels));
    const isDenied = (type: string) => own.some(({ spec }) => spec.policyTypes.includes(type));
    const asksDns = own.some(({ spec }) =>
      (spec.egress ?? []).some(({ ports = [] }) =>
        ports.some(({ port, protocol }) => port === 53 && protocol === 'UDP'),
      ),
    );
    const isOpen = own.some(({ spec }) =>
      [...(spec.ingress ?? []), ...(spec.egress ?? [])].some(
        ({ from, to, ports }) => (from ?? to ?? []).length === 0 || ports === undefined,
      ),
    );
    return [
      ...['Ingress', 'Egress']
        .filter((type) => !isDenied(type))
        .map((type) => `${name} has no policy of ${type}`),
      ...(asksDns ? [] : [`${name} may not ask the DNS`]),
      ...(isOpen ? [`${name} has a policy without peers or ports`] : []),
    ];
  });
}

function wantedBy(
  workload: Workload,
  objects: readonly Manifest[],
  outbound: readonly string[],
): readonly string[] {
  const { name, labels, pod } = workload;
  const services = ofKind<{ readonly selector: Labels }>(objects, 'Service');
  const isHere = (host: string) => services.some((service) => service.name === host);
  const variables = pod.containers.flatMap((container) => [...variablesOf(container, objects)]);
  const addresses = variables
    .filter(([variable]) => variable !== 'PUBLIC_URL')
    .flatMap(([, value]) => URL.parse(value ?? '') ?? [])
    .filter(({ hostname }) => isHere(hostname))
    .map(({ hostname, port }) => `${hostname}:${port}`);
  const ofParts = Object.entries(parts).flatMap(([variable, ports]) => {
    if (!variables.some(([set]) => set === variable || set === `${variable}_FILE`)) return [];
    const part = services.find((service) => ports.some((port) => hasPort(service.name, port, objects)));
    return [part === undefined ? `outside:${variable}` : `${part.name}:${variable}`];
  });
  const behindEdge =
    labels['app.kubernetes.io/component'] === 'edge'
      ? workloadsOf(objects)
          .filter((other) => other.labels['app.kubernetes.io/component'] === 'service')
          .flatMap((other) => [`${other.name}:8080`, `${other.name}:9090`])
      : [];
  return [
    ...new Set([
      ...addresses,
      ...ofParts,
      ...behindEdge,
      ...(outbound.includes(name) ? ['internet:443'] : []),
    ]),
  ];
}

const hasPort = (service: string, port: number, objects: readonly Manifest[]) =>
  workloadsOf(objects).some(
    ({ name, pod }) => name === service && portOf(pod.containers, port) !== undefined,
  );

/** Returns the peers that the policies of a Pod allow, where the peer's own policies allow it too. */
function allowedTo({ labels }: Workload, objects: readonly Manifest[]): readonly string[] {
  const policies = ofKind<PolicySpec>(objects, 'NetworkPolicy');
  const workloads = workloadsOf(objects);
  const rules = policies
    .filter(({ spec }) => matches(spec.podSelector, labels))
    .flatMap(({ spec }) => spec.egress ?? []);
  const peers = rules.flatMap(({ to = [], ports = [] }) =>
    to.flatMap(({ podSelector, namespaceSelector, ipBlock }) => {
      if (ipBlock !== undefined) return ports.map(({ port }) => outsideName(port));
      if (podSelector === undefined || namespaceSelector !== undefined) return [];
      return workloads
        .filter((other) => matches(podSelector, other.labels))
        .flatMap((other) =>
          ports
            .filter(({ port }) => admits(other, labels, port, policies))
            .map(({ port }) => nameOf(other.name, portOf(other.pod.containers, port))),
        );
    }),
  );
  return [...new Set(peers)];
}

/** Returns whether the policies of a Pod let another one reach a port of it. */
const admits = (
  { labels, pod }: Workload,
  caller: Labels,
  port: string | number,
  policies: readonly { readonly spec: PolicySpec }[],
) =>
  policies
    .filter(({ spec }) => spec.policyTypes.includes('Ingress') && matches(spec.podSelector, labels))
    .flatMap(({ spec }) => spec.ingress ?? [])
    .some(
      ({ from = [], ports = [] }) =>
        ports.some((one) => portOf(pod.containers, one.port) === portOf(pod.containers, port)) &&
        from.some(
          ({ podSelector, namespaceSelector }) =>
            podSelector !== undefined && namespaceSelector === undefined && matches(podSelector, caller),
        ),
    );

const partWith = (port: string | number | undefined) =>
  Object.entries(parts).find(([, ports]) => ports.some((one) => one === port))?.[0];
const nameOf = (workload: string, port: number | undefined) => `${workload}:${partWith(port) ?? port}`;
const outsideName = (port: string | number) => {
  const part = partWith(port);
  return part === undefined ? `internet:${port}` : `outside:${part}`;
};
