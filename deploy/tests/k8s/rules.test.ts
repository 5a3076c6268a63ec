import { describe, expect, it } from '@jest/globals';
import { edgeConfiguration, ingressMapFaults } from './edge-map.ts';
import { denyFaults, peerFaults } from './network.ts';
import type { Manifest } from './objects.ts';
import {
  budgetFaults,
  graceFaults,
  imageFaults,
  probeFaults,
  resourceFaults,
  securityFaults,
} from './pods.ts';
import { referenceFaults, selectorFaults } from './references.ts';
import { render } from './render.ts';
import { schemaFaults } from './schema-faults.ts';
import { unreadFaults, unsetFaults } from './settings.ts';

const demo = render('demo');

/** Returns the name of an object, whose content kustomize may have put into it. */
const nameOf = (object: string) => demo.find((one) => isMeantBy(object, one))?.metadata.name ?? '';

/** A member of an object, as YAML writes its place: `spec.template.spec.containers.0.image`. */
type Change = readonly [place: string, value: unknown];

/** Returns the demo with changed members of one object; `undefined` removes a member. */
const changed = (object: string, ...changes: readonly Change[]) => changedIn(demo, object, ...changes);

function changedIn(
  objects: readonly Manifest[],
  object: string,
  ...changes: readonly Change[]
): readonly Manifest[] {
  const isMeant = (one: Manifest) => isMeantBy(object, one);
  const copies = objects.map((one) => (isMeant(one) ? structuredClone(one) : one));
  const copy = copies.find(isMeant);
  if (copy === undefined) throw new Error(`The demo has no ${object}`);
  for (const [place, value] of changes) set(copy, place.split('.'), value);
  return copies;
}

/** Whether a description such as `ConfigMap platform` means an object. */
function isMeantBy(object: string, { kind, metadata }: Manifest): boolean {
  const [wanted, name] = object.split(' ');
  return kind === wanted && [metadata.name, metadata.name.replace(/-[a-z0-9]{10}$/, '')].includes(name ?? '');
}

function set(target: object, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length > 0) {
    const next: unknown = Reflect.get(target, name);
    if (typeof next !== 'object' || next === null) throw new Error(`There is no ${name}`);
    set(next, rest, value);
  } else if (value === undefined) Reflect.deleteProperty(target, name);
  else Reflect.set(target, name, value);
}

const without = (object: string) => {
  const [kind, name] = object.split(' ');
  const rest = demo.filter((one) => one.kind !== kind || one.metadata.name !== name);
  if (rest.length === demo.length) throw new Error(`The demo has no ${object}`);
  return rest;
};

const pod = 'spec.template.spec';
const main = `${pod}.containers.0`;
const ordering = 'Deployment ordering';
const schemasOf = async (objects: readonly Manifest[]) =>
  (await Promise.all(objects.filter((object) => !demo.includes(object)).map(schemaFaults))).flat();

type Rule = (objects: readonly Manifest[]) => readonly string[] | Promise<readonly string[]>;
/** Asks only one process for its settings. */
const of =
  (workload: string, rule: Rule): Rule =>
  (objects) =>
    rule(objects.filter(({ kind, metadata }) => kind !== 'Deployment' || metadata.name === workload));
const mapFaults: Rule = (objects) => ingressMapFaults(objects, { withDemo: true });

/** What each rule says of the demo with one change that breaks it. */
const cases: readonly (readonly [rule: Rule, objects: readonly Manifest[], fault: unknown])[] = [
  [schemasOf, changed(ordering, ['spec.replica', 2]), 'Deployment ordering: /spec/replica (unknown)'],
  [
    schemasOf,
    changed(ordering, [`${main}.imagePullPolicie`, 'Never']),
    `Deployment ordering: /spec/template/spec/containers/0/imagePullPolicie (unknown)`,
  ],
  [schemasOf, changed(ordering, ['spec.replicas', 'two']), 'Deployment ordering: /spec/replicas (type)'],
  [schemasOf, changed(ordering, ['spec.selector', undefined]), 'Deployment ordering: /spec (required)'],
  [
    selectorFaults,
    changed('Service ordering', ['spec.selector', { 'app.kubernetes.io/name': 'orders' }]),
    'Service ordering selects 0 workloads',
  ],
  [
    selectorFaults,
    changed('Service ordering', ['spec.ports.0.targetPort', 'web']),
    'Service ordering leads to the port web, which no container has',
  ],
  [
    selectorFaults,
    changed(ordering, ['spec.selector.matchLabels', { app: 'ordering' }]),
    'Deployment ordering does not select its own Pods',
  ],
  [
    selectorFaults,
    changed('PodDisruptionBudget ordering', ['spec.selector', {}]),
    'PodDisruptionBudget ordering does not select one workload',
  ],
  [
    selectorFaults,
    changed('HorizontalPodAutoscaler ordering', ['spec.scaleTargetRef.name', 'orders']),
    'HorizontalPodAutoscaler ordering scales orders, which is missing',
  ],
  [
    selectorFaults,
    changed('Ingress servers', ['spec.rules.0.http.paths.0.backend.service.port.name', 'https']),
    'Ingress servers leads /AccessApi/ to edge, which has no such port',
  ],
  [referenceFaults, without('ServiceAccount ordering'), 'ordering has no ServiceAccount'],
  [
    referenceFaults,
    changed(ordering, [`${pod}.volumes.0.secret.secretName`, 'orders']),
    'ordering: Secret orders is missing',
  ],
  [
    referenceFaults,
    changed('Job migrate-0-1-0', [
      `${main}.envFrom`,
      [{ configMapRef: { name: nameOf('ConfigMap platform') } }],
    ]),
    expect.stringMatching(
      /^migrate-0-1-0\/main: reads platform-\w{10}, whose name changes with its content$/,
    ),
  ],
  [
    referenceFaults,
    changed('Secret ordering', ['data.redis-url', undefined]),
    'ordering/main: REDIS_URL_FILE names /run/secrets/redis-url, which is not mounted',
  ],
  [
    referenceFaults,
    changed(ordering, [`${main}.envFrom.0.configMapRef.name`, 'platform']),
    'ordering/main: ConfigMap platform is missing',
  ],
  [
    referenceFaults,
    changed('ConfigMap platform', ['data.PUBLIC_URL', undefined]),
    expect.stringMatching(/^edge\/main: ConfigMap platform-\w+ has no key PUBLIC_URL$/),
  ],
  [
    referenceFaults,
    changed(ordering, [`${main}.volumeMounts.0.name`, 'secret']),
    'ordering/main: mounts secret, which is no volume',
  ],
  [
    referenceFaults,
    changed(ordering, [`${main}.volumeMounts.0.mountPath`, '/run/secret']),
    'ordering/main: REDIS_URL_FILE names /run/secrets/redis-url, which is not mounted',
  ],
  [
    referenceFaults,
    changed(ordering, [`${main}.readinessProbe.httpGet.port`, 'metrics']),
    'ordering/main: readinessProbe asks a port that it does not have',
  ],
  [
    referenceFaults,
    changed('Ingress servers', ['spec.tls', [{ hosts: ['localhost'], secretName: 'tls' }]]),
    'Secret tls of an Ingress is missing',
  ],
  [securityFaults, changed(ordering, [`${pod}.hostNetwork`, true]), 'ordering has hostNetwork'],
  [
    securityFaults,
    changed(ordering, [`${pod}.automountServiceAccountToken`, undefined]),
    'ordering mounts a token of its ServiceAccount',
  ],
  [
    securityFaults,
    changed(ordering, [`${pod}.volumes.0`, { name: 'secrets', hostPath: { path: '/' } }]),
    'ordering has the volume secrets of a kind that is not allowed',
  ],
  [
    securityFaults,
    changed(ordering, [`${main}.securityContext.allowPrivilegeEscalation`, true]),
    'ordering/main may escalate its privileges',
  ],
  [
    securityFaults,
    changed(ordering, [`${main}.securityContext.readOnlyRootFilesystem`, undefined]),
    'ordering/main may write its root file system',
  ],
  [
    securityFaults,
    changed(ordering, [`${main}.securityContext.privileged`, true]),
    'ordering/main is privileged',
  ],
  [
    securityFaults,
    changed(ordering, [`${main}.securityContext.capabilities.drop`, ['NET_RAW']]),
    'ordering/main keeps capabilities',
  ],
  [
    securityFaults,
    changed(ordering, [`${main}.securityContext.capabilities.add`, ['SYS_ADMIN']]),
    'ordering/main adds capabilities',
  ],
  [
    securityFaults,
    changed(ordering, [`${pod}.securityContext.runAsNonRoot`, undefined]),
    'ordering/main may run as root',
  ],
  [securityFaults, changed(ordering, [`${main}.securityContext.runAsUser`, 0]), 'ordering/main runs as root'],
  [
    securityFaults,
    changed(ordering, [`${pod}.securityContext.seccompProfile`, { type: 'Unconfined' }]),
    'ordering/main has no seccomp profile',
  ],
  [
    securityFaults,
    changed(ordering, [`${main}.ports.0.hostPort`, 80]),
    'ordering/main has a port of the host',
  ],
  [
    securityFaults,
    changed('StatefulSet redis', [`${pod}.initContainers.0.securityContext.allowPrivilegeEscalation`, true]),
    'redis/access may escalate its privileges',
  ],
  [
    imageFaults,
    changed(ordering, [`${main}.image`, 'clinical-launch:latest']),
    'ordering/main has the image clinical-launch:latest',
  ],
  [
    imageFaults,
    changed(ordering, [`${main}.image`, 'registry:5000/clinical-launch']),
    'ordering/main has the image registry:5000/clinical-launch',
  ],
  [
    (objects) => imageFaults(objects, { byDigest: true }),
    demo,
    'ordering/main has the image clinical-launch:local',
  ],
  [
    resourceFaults,
    changed(ordering, [`${main}.resources.requests.cpu`, undefined]),
    'ordering/main requests no cpu',
  ],
  [
    resourceFaults,
    changed(ordering, [`${main}.resources.limits`, undefined]),
    'ordering/main has no limit of memory',
  ],
  [probeFaults, changed(ordering, [`${main}.startupProbe`, undefined]), 'ordering/main has no startup probe'],
  [
    probeFaults,
    changed(ordering, [`${main}.readinessProbe`, undefined]),
    'ordering/main has no readiness probe',
  ],
  [
    probeFaults,
    changed(ordering, [`${main}.livenessProbe`, undefined]),
    'ordering/main has no liveness probe',
  ],
  [
    probeFaults,
    changed(ordering, [`${main}.livenessProbe.httpGet.path`, '/readyz']),
    'ordering/main is restarted when it is not ready',
  ],
  [
    probeFaults,
    changed(ordering, [`${main}.readinessProbe.httpGet.path`, '/healthz']),
    'ordering/main is ready when it lives',
  ],
  [
    graceFaults,
    changed(ordering, [`${pod}.terminationGracePeriodSeconds`, 30]),
    'ordering is killed before it has stopped',
  ],
  [
    graceFaults,
    changed('ConfigMap platform', ['data.SHUTDOWN_DELAY_MS', '20000']),
    'ordering is killed before it has stopped',
  ],
  [
    graceFaults,
    changed('Deployment edge', [`${main}.lifecycle.preStop.exec.command.1`, '20']),
    'edge is killed before it has stopped',
  ],
  [budgetFaults, without('PodDisruptionBudget ordering'), 'ordering has 0 budgets'],
  [
    budgetFaults,
    changed('PodDisruptionBudget ordering', ['spec.maxUnavailable', 0]),
    'ordering may never be evicted',
  ],
  [
    budgetFaults,
    changed('PodDisruptionBudget ordering', ['spec.maxUnavailable', undefined], ['spec.minAvailable', 2]),
    'ordering may never be evicted',
  ],
  [
    of('ordering', unreadFaults),
    changed('ConfigMap ordering', ['data.TIMEZONE', 'Europe/London']),
    'ordering has TIMEZONE, which it does not read',
  ],
  [
    of('launch-gateway', unreadFaults),
    changed('Deployment launch-gateway', [`${main}.env.0.name`, 'DATABASE_URL_FILE']),
    'launch-gateway has DATABASE_URL_FILE, which it does not read',
  ],
  [
    of('launch-gateway', unsetFaults),
    changed('Deployment launch-gateway', [`${main}.env.0.name`, 'DATABASE_URL_FILE']),
    'launch-gateway requires REDIS_URL',
  ],
  [
    of('ordering', unsetFaults),
    changed('ConfigMap platform', ['data.PUBLIC_URL', '']),
    'ordering requires PUBLIC_URL',
  ],
  [
    peerFaults,
    changed('NetworkPolicy redis-clients', ['spec.podSelector.matchExpressions.0.values', ['launch-api']]),
    'ordering may not reach redis:REDIS_URL',
  ],
  [
    peerFaults,
    changed('NetworkPolicy postgres', [
      'spec.ingress.0.from.0.podSelector.matchExpressions.0.values',
      ['migrate'],
    ]),
    'ordering may not reach postgres:DATABASE_URL',
  ],
  [
    peerFaults,
    changed('NetworkPolicy edge', ['spec.egress.0.ports', [{ port: 'http' }]]),
    'edge may not reach ordering:9090',
  ],
  [
    peerFaults,
    changedIn(
      changed('NetworkPolicy rabbitmq', ['spec.ingress.0.from.0.podSelector', {}]),
      'NetworkPolicy rabbitmq-clients',
      ['spec.podSelector', {}],
    ),
    'launch-api may reach rabbitmq:AMQP_URL, which its configuration does not name',
  ],
  [
    peerFaults,
    changed(
      'NetworkPolicy postgres-clients',
      ['spec.egress.0.to', [{ ipBlock: { cidr: '0.0.0.0/0' } }]],
      ['spec.egress.0.ports', [{ port: 443 }]],
    ),
    'ordering may reach internet:443, which its configuration does not name',
  ],
  [denyFaults, without('NetworkPolicy deny-all'), 'migrate-0-1-0 has no policy of Ingress'],
  [denyFaults, without('NetworkPolicy dns'), 'ordering may not ask the DNS'],
  [
    denyFaults,
    changed('NetworkPolicy services', ['spec.ingress.0.ports', undefined]),
    'ordering has a policy without peers or ports',
  ],
  [
    denyFaults,
    changed('NetworkPolicy services', ['spec.ingress.0.from', undefined]),
    'ordering has a policy without peers or ports',
  ],
  [
    mapFaults,
    changed('Ingress servers', ['spec.rules.0.http.paths.0.path', '/AccessApi']),
    'Ingress servers lacks Prefix /AccessApi/ edge',
  ],
  [
    mapFaults,
    changed('Ingress browsers', ['spec.rules.0.http.paths.1.path', '/metrics']),
    'Ingress browsers has Prefix /metrics edge, which the edge does not',
  ],
  [
    mapFaults,
    changed('Ingress browsers', ['spec.rules.0.http.paths.1.path', '/AccessApi/']),
    'Ingress browsers has Prefix /AccessApi/ edge, which the edge does not',
  ],
  [
    mapFaults,
    changed('Ingress browsers', [
      'spec.rules.0.http.paths.5',
      {
        path: '/idp/demo/oauth2/v2\\.0/launches$',
        pathType: 'ImplementationSpecific',
        backend: { service: { name: 'edge', port: { name: 'http' } } },
      },
    ]),
    'Ingress browsers has ImplementationSpecific /idp/demo/oauth2/v2\\.0/launches$ edge, which the edge does not',
  ],
  [
    (objects) =>
      ingressMapFaults(objects, {
        withDemo: true,
        configuration: `${edgeConfiguration}\n    use_backend new if { path_beg /new/ }`,
      }),
    demo,
    'Ingress browsers lacks Prefix /new/ edge',
  ],
];

describe('a manifest with a mistake', () => {
  it.each(cases.map(([rule, objects, fault]) => [String(fault), rule, objects, fault] as const))(
    'is refused: %s',
    async (_fault, rule, objects, fault) => {
      expect(await rule(objects)).toContainEqual(fault);
    },
  );
});
