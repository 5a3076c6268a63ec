import { readdirSync, readFileSync } from 'node:fs';
import { brokerAccess, databaseAccess, eventSourceNames } from '@clinical-launch/ops/access';
import { checkDeployment } from '@clinical-launch/ops/deployment';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { checkConfiguration, makeCertificate } from '../edge/running-edge.ts';
import { startPlatformForTest } from '../running-platform.ts';
import { edgeMap } from './edge-map.ts';
import {
  entrancesOf,
  type IngressSpec,
  matches,
  numberOf,
  ofKind,
  type PolicySpec,
  type ServiceSpec,
  settingsIn,
  sourcesIn,
  validate,
  workloadsOf,
} from './objects.ts';
import { secretsOfProduction } from './production-secrets.ts';
import { type Door, doors, type Manifest, overlays, render, renderBase, renderWith, root } from './render.ts';

/** The ports of the servers, without and with TLS, and the services that have accounts on them. */
const parts = [
  { name: 'redis', ports: [6379], variable: 'REDIS_URL_FILE', users: eventSourceNames },
  { name: 'rabbitmq', ports: [5672, 5671], variable: 'AMQP_URL_FILE', users: Object.keys(brokerAccess) },
  { name: 'postgres', ports: [5432], variable: 'DATABASE_URL_FILE', users: Object.keys(databaseAccess) },
];

/** The address ranges of private networks, which contain the addresses of Pods in every cluster. */
const podNetworks = '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 fc00::/7';
type Opening = {
  readonly entrances: readonly string[];
  readonly trustedProxies: string;
  /** The ports of the edge that the NetworkPolicy opens. */
  readonly ports: readonly string[];
};
const openings: Readonly<Record<Door, Opening>> = {
  ingress: { entrances: ['Prefix / to edge:http'], trustedProxies: podNetworks, ports: ['http'] },
  'gateway-api': {
    entrances: ['PathPrefix / to edge:8080'],
    trustedProxies: podNetworks,
    ports: ['http'],
  },
  'load-balancer': {
    entrances: ['443 to edge:https, Local', '80 to edge:http, Local'],
    trustedProxies: '',
    ports: ['https', 'http'],
  },
};
/** Returns the environment of the edge, without the path of its certificate. */
function edgeSettings(objects: readonly Manifest[]): Readonly<Record<string, string>> {
  const edge = workloadsOf(objects).find(({ name }) => name === 'edge');
  const passed = new Set(edge?.containers.flatMap(({ env = [] }) => env.map(({ name }) => name)));
  const platform = Object.entries(settingsIn(objects, 'platform')).filter(([name]) => passed.has(name));
  return { ...settingsIn(objects, 'edge'), ...Object.fromEntries(platform) };
}

const everyOverlay = overlays.flatMap((overlay) => doors.map((door) => ({ overlay, door })));

describe.each(everyOverlay)('the overlay $overlay with the component $door', ({ overlay, door }) => {
  const isProduction = overlay === 'production';
  let objects: readonly Manifest[];
  let workloads: ReturnType<typeof workloadsOf>;
  /** The keys of each ConfigMap and Secret. Other objects have no keys. */
  let keys: ReadonlyMap<string, readonly string[]>;
  beforeAll(() => {
    objects = render(overlay, door);
    workloads = workloadsOf(objects);
    keys = new Map([
      ...secretsOfProduction().filter(([name]) => isProduction || name === 'Secret launch-tls'),
      ...objects.map(
        ({ kind, metadata, data = {} }) => [`${kind} ${metadata.name}`, Object.keys(data)] as const,
      ),
    ]);
  });

  it('renders valid objects with unique names', async () => {
    await Promise.all(objects.map(validate));
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
    expect(names.length).toBeGreaterThan(50);
  });

  it('contains every object and key that another object references', () => {
    const scaled = ofKind<{ scaleTargetRef: { kind: string; name: string } }>(
      objects,
      'HorizontalPodAutoscaler',
    );
    const named = [
      ...workloads.flatMap(({ pod: { serviceAccountName: name } }) => (name ? `ServiceAccount ${name}` : [])),
      ...scaled.map(({ spec: { scaleTargetRef: target } }) => `${target.kind} ${target.name}`),
      ...ofKind<IngressSpec>(objects, 'Ingress').flatMap(({ spec }) =>
        (spec.tls ?? []).map(({ secretName }) => `Secret ${secretName}`),
      ),
    ];
    expect(named.filter((object) => !keys.has(object))).toEqual([]);
    const sources = workloads.flatMap(({ pod }) => sourcesIn(pod));
    const lost = sources.flatMap(({ object, items = [] }) => {
      const known = keys.get(object);
      if (known === undefined) return [object];
      return items.filter(({ key }) => !known.includes(key)).map(({ key }) => `${object}: ${key}`);
    });
    expect(lost).toEqual([]);
  });

  // Kustomize appends a hash of the content to a generated name. A Job cannot be changed to follow a new
  // name.
  it('has Jobs that reference only ConfigMaps and Secrets with fixed names', () => {
    const named = workloads.flatMap(({ kind, pod }) => (kind === 'Job' ? sourcesIn(pod) : []));
    expect(named.filter(({ object }) => /-[a-z0-9]{10}$/.test(object))).toEqual([]);
  });

  it('contains every mounted volume, and every file that a variable names', () => {
    const lost = workloads.flatMap(({ name: workload, containers, volumes }) =>
      containers.flatMap(({ env = [], volumeMounts = [] }) => {
        const files = volumeMounts.flatMap(({ name, mountPath }) =>
          sourcesIn(volumes.get(name)).flatMap(({ object, items }) =>
            (items?.map(({ path }) => path) ?? keys.get(object) ?? []).map((file) => `${mountPath}/${file}`),
          ),
        );
        const isLost = (path: string) => !files.some((file) => `${file}/`.startsWith(`${path}/`));
        return [
          ...volumeMounts.map(({ name }) => name).filter((name) => !volumes.has(name)),
          ...env.flatMap(({ value = '' }) => (/^\/(run|etc)\/./.test(value) && isLost(value) ? [value] : [])),
        ].map((fault) => `${workload}: ${fault}`);
      }),
    );
    expect(lost).toEqual([]);
  });

  it('has selectors that match one workload each, and each workload has the ports of its Service', () => {
    const services = ofKind<ServiceSpec>(objects, 'Service');
    const budgets = ofKind<{ selector: PolicySpec['podSelector'] }>(objects, 'PodDisruptionBudget');
    const selected = [
      ...services.flatMap(({ spec: { selector, publishNotReadyAddresses: isForMetrics } }) =>
        isForMetrics ? [] : { matchLabels: selector },
      ),
      ...budgets.map(({ spec }) => spec.selector),
      ...workloads.flatMap(({ kind, selector }) => (kind === 'Job' ? [] : [selector ?? {}])),
    ].map((selector) => workloads.filter(({ labels }) => matches(selector, labels)).length);
    expect(new Set(selected)).toEqual(new Set([1]));
    const lost = services.flatMap(({ name, spec }) => {
      const pods = workloads.filter(({ labels }) => matches({ matchLabels: spec.selector }, labels));
      return spec.ports
        .filter(({ targetPort }) =>
          pods.some(({ containers }) => numberOf(containers, targetPort) === undefined),
        )
        .map((port) => `${name}: ${port.targetPort}`);
    });
    expect(lost).toEqual([]);
  });

  it('connects each service only to the servers on which it has an account', () => {
    const policies = ofKind<PolicySpec>(objects, 'NetworkPolicy').map(({ spec }) => spec);
    const rulesOf = (labels: Readonly<Record<string, string>>, way: 'ingress' | 'egress') =>
      policies
        .filter(({ podSelector }) => matches(podSelector, labels))
        .flatMap((policy) => policy[way] ?? []);
    const isDenied = ({ podSelector, policyTypes }: PolicySpec) =>
      Object.keys(podSelector).length === 0 && policyTypes.join() === 'Ingress,Egress';
    expect(policies.some(isDenied)).toBe(true);
    const services = workloads.filter(({ name }) => eventSourceNames.some((one) => one === name));
    expect(services).toHaveLength(7);
    for (const { name: service, labels, containers } of services) {
      const rights = parts.filter(({ users }) => users.includes(service));
      const reached = parts.filter(({ name, ports }) => {
        const part = workloads.find((workload) => workload.name === name);
        const hasPort = (rule: { ports: readonly { port: string | number }[] }) =>
          rule.ports.some(({ port }) =>
            ports.includes(numberOf(part?.containers ?? [], port) ?? Number(port)),
          );
        const leaves = rulesOf(labels, 'egress').some(hasPort);
        const enters = rulesOf(part?.labels ?? {}, 'ingress').some(
          (rule) =>
            hasPort(rule) &&
            (rule.from ?? []).some(
              ({ podSelector }) => podSelector !== undefined && matches(podSelector, labels),
            ),
        );
        return leaves && (part === undefined || enters);
      });
      const variables = new Set(containers.flatMap(({ env = [] }) => env.map(({ name }) => name)));
      expect([service, reached]).toEqual([service, rights]);
      expect([service, parts.filter(({ variable }) => variables.has(variable))]).toEqual([service, rights]);
    }
  });

  it('runs every container without privileges and on a read-only file system', () => {
    const confined = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true };
    for (const { pod, containers } of workloads) {
      const user = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: user });
      const limited = { securityContext: { ...confined, capabilities: { drop: ['ALL'] } } };
      for (const container of containers) expect(container).toMatchObject(limited);
    }
  });

  it('routes every path to the edge, which forwards it to a service', () => {
    expect(entrancesOf(objects)).toEqual(openings[door].entrances);
  });

  it('admits callers from outside only to the edge, and trusts only the proxies that this component needs', () => {
    const isOutside = ({ spec }: { spec: PolicySpec }) =>
      (spec.ingress ?? []).some(({ from = [] }) =>
        from.some(({ namespaceSelector, ipBlock }) => (namespaceSelector ?? ipBlock) !== undefined),
      );
    const opened = ofKind<PolicySpec>(objects, 'NetworkPolicy')
      .filter(isOutside)
      .map(({ name, spec }) => ({
        name,
        pods: workloads.filter(({ labels }) => matches(spec.podSelector, labels)).map(({ name: pod }) => pod),
        ports: spec.ingress?.flatMap(({ ports }) => ports.map(({ port }) => port)),
      }));
    expect(opened.filter(({ name }) => name !== 'metrics' && name !== 'collector')).toEqual([
      { name: expect.stringContaining('edge-from-'), pods: ['edge'], ports: openings[door].ports },
    ]);
    expect(settingsIn(objects, 'edge')['EDGE_TRUSTED_PROXIES']).toBe(openings[door].trustedProxies);
  });

  it('has settings with which the edge starts', async () => {
    const certificate = makeCertificate();
    const edge = workloads.find(({ name }) => name === 'edge');
    const endsTls = edge?.containers.some(({ env = [] }) =>
      env.some(({ name }) => name === 'EDGE_CERTIFICATE'),
    );
    const { status, output } = await checkConfiguration({
      ...edgeSettings(objects),
      EDGE_CERTIFICATE: endsTls ? certificate.path : '',
    });
    certificate.remove();
    expect(output).not.toMatch(/WARNING|ALERT/);
    expect([status, endsTls]).toEqual([0, door === 'load-balancer']);
  });
});

/** Returns what `deploy check` finds in objects. */
const checked = (objects: readonly Manifest[]) =>
  checkDeployment(objects.map((object) => stringify(object)).join('---\n'));

describe('the production overlay without an entry point', () => {
  it('has an edge that admits nobody, which `deploy check` reports', () => {
    const objects = render('production');
    expect(entrancesOf(objects)).toEqual([]);
    expect(checked(objects).isClosed).toBe(true);
  });

  it.each(doors)('admits callers once %s is uncommented', (door) => {
    expect(checked(render('production', door)).isClosed).toBe(false);
  });
});

describe('the base', () => {
  it('has no Ingress, route or load balancer, and trusts no proxy', () => {
    const objects = renderBase();
    expect(entrancesOf(objects)).toEqual([]);
    expect(settingsIn(objects, 'edge')).toEqual({ EDGE_TRUSTED_PROXIES: '' });
  });

  it('has an edge that does not start until an overlay sets SERVER_ALLOWED_NETWORKS', async () => {
    const { status, output } = await checkConfiguration(edgeSettings(renderBase()));
    expect([status, output]).toEqual([1, expect.stringContaining('SERVER_ALLOWED_NETWORKS is required')]);
  });
});

describe('the production overlay', () => {
  it('renders valid objects with the component monitoring: scrape targets, rules and dashboards', async () => {
    const objects = renderWith('monitoring');
    await Promise.all(objects.map(validate));
    const added = new Set(render('production').map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    expect(
      objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).filter((name) => !added.has(name)),
    ).toEqual([
      'ConfigMap clinical-launch-dashboards',
      'PodMonitor clinical-launch',
      'PrometheusRule clinical-launch',
    ]);
    const dashboards = objects.find(({ metadata }) => metadata.name === 'clinical-launch-dashboards');
    expect(Object.keys(dashboards?.data ?? {})).toEqual(
      readdirSync(`${root}deploy/telemetry/grafana/dashboards`),
    );
  });

  it('with the component collector, lets services send telemetry only to the collector', async () => {
    const objects = renderWith('collector');
    await Promise.all(objects.map(validate));
    expect(settingsIn(objects, 'platform')['OTEL_EXPORTER_OTLP_ENDPOINT']).toBe('http://otel-collector:4318');
    const [policy] = objects.filter(({ metadata }) => metadata.name === 'services-to-collector');
    expect(policy?.spec).toMatchObject({
      policyTypes: ['Egress'],
      egress: [
        {
          to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'otel-collector' } } }],
          ports: [{ port: 4318 }],
        },
      ],
    });
    const [collector] = workloadsOf(objects).filter(({ name }) => name === 'otel-collector');
    expect(
      collector?.containers.map(({ ports }) => ports?.map(({ containerPort }) => containerPort)),
    ).toEqual([[4318, 8888, 13133]]);
  });

  it('adds a number to the name of the migration Job, and the name contains the version of this release', () => {
    const { version }: { version: string } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
    const name = `migrate-${version.replaceAll('.', '-')}`;
    const jobsOf = (objects: readonly Manifest[]) =>
      objects.filter(({ kind }) => kind === 'Job').map(({ metadata }) => metadata.name);
    expect([jobsOf(renderBase()), jobsOf(render('production'))]).toEqual([[name], [`${name}-1`]]);
  });

  it('with the component gitops, has a migration Job that Argo CD and Flux can replace', async () => {
    const objects = renderWith('gitops');
    await Promise.all(objects.map(validate));
    const [job] = objects.filter(({ kind }) => kind === 'Job');
    expect(job).toMatchObject({
      metadata: {
        annotations: {
          'argocd.argoproj.io/hook': 'Sync',
          'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
          'kustomize.toolkit.fluxcd.io/force': 'enabled',
        },
      },
    });
    expect(job?.spec).not.toHaveProperty('ttlSecondsAfterFinished');
  });

  it('contains placeholders in five kinds of objects, and needs every documented Secret; `deploy check` lists all of them', () => {
    const { placeholders, documented, missing } = checked(render('production', 'ingress'));
    expect(new Set(placeholders.map(({ object }) => object.split(' ')[0]))).toEqual(
      new Set(['ConfigMap', 'Deployment', 'Ingress', 'Job', 'NetworkPolicy']),
    );
    expect(missing).toEqual([]);
    const others = new Set(
      ['operator', 'developer-portal', 'alertmanager', 'grafana'].map((name) => `Secret ${name}`),
    );
    expect(new Set(documented.map(({ source }) => source))).toEqual(
      new Set(secretsOfProduction().flatMap(([object]) => (others.has(object) ? [] : [object]))),
    );
  });

  it('gives each command of the component operator its own secrets, and access to its servers', async () => {
    const objects = renderWith('operator');
    await Promise.all(objects.map(validate));
    const [operator] = workloadsOf(objects).filter(({ kind }) => kind === 'CronJob');
    const secretOf = (volume: unknown) => sourcesIn(volume).map(({ object }) => object);
    expect(
      operator?.containers.map(({ name, volumeMounts = [] }) => [
        name,
        ...volumeMounts.flatMap((mount) => secretOf(operator.volumes.get(mount.name))),
      ]),
    ).toEqual([
      ['dead-letters', 'Secret operator'],
      ['deliveries', 'Secret order-renderer'],
      ['audit', 'Secret audit-trail'],
      ['launches', 'Secret audit-trail', 'Secret operator'],
      ['migrate', 'Secret database-owner'],
    ]);
    const known = new Map(secretsOfProduction());
    const lost = sourcesIn(operator?.pod).filter(
      ({ object, items = [] }) =>
        object.startsWith('Secret ') && !items.every(({ key }) => known.get(object)?.includes(key)),
    );
    expect(lost).toEqual([]);
    const admitted = ofKind<PolicySpec>(objects, 'NetworkPolicy').filter(({ spec }) =>
      spec.podSelector.matchExpressions?.some(({ values }) => values.includes('operator')),
    );
    expect(admitted.map(({ name }) => name)).toEqual([
      'postgres-clients',
      'rabbitmq-clients',
      'redis-clients',
    ]);
  });

  it('with the component waf, sends every request through the firewall', async () => {
    const objects = renderWith('ingress', 'waf');
    await Promise.all(objects.map(validate));
    const [ingress] = ofKind<{ rules: { http: { paths: { backend: object }[] } }[] }>(objects, 'Ingress');
    expect(ingress?.spec.rules.flatMap(({ http }) => http.paths.map(({ backend }) => backend))).toEqual([
      { service: { name: 'waf', port: { name: 'http' } } },
    ]);
    const policies = ofKind<PolicySpec>(objects, 'NetworkPolicy');
    const admits = (name: string) =>
      policies
        .filter(({ spec }) => spec.podSelector.matchLabels?.['app.kubernetes.io/name'] === name)
        .filter(({ spec }) => spec.policyTypes.includes('Ingress'))
        .map(({ name: policy }) => policy);
    expect([admits('waf'), admits('edge')]).toEqual([['edge-from-ingress'], ['edge-from-waf']]);
  });

  it('gives every Deployment, and no Job, a PriorityClass with the component priority', async () => {
    const objects = renderWith('priority');
    await Promise.all(objects.map(validate));
    const [priority] = objects.filter(({ kind }) => kind === 'PriorityClass');
    expect(priority?.metadata).toEqual({ name: 'clinical-launch' });
    const classOf = ({ pod }: { pod: unknown }) => (pod as { priorityClassName?: string }).priorityClassName;
    const classes = Map.groupBy(workloadsOf(objects), ({ kind }) => kind);
    expect(new Set(classes.get('Deployment')?.map(classOf))).toEqual(new Set(['clinical-launch']));
    expect(new Set(classes.get('Job')?.map(classOf))).toEqual(new Set([undefined]));
  });

  type Spread = { readonly topologyKey: string; readonly whenUnsatisfiable: string };
  const spreadOf = (objects: readonly Manifest[]) =>
    new Set(
      workloadsOf(objects).flatMap(({ pod }) =>
        ((pod as { topologySpreadConstraints?: readonly Spread[] }).topologySpreadConstraints ?? []).map(
          ({ topologyKey, whenUnsatisfiable }) => `${topologyKey}: ${whenUnsatisfiable}`,
        ),
      ),
    );

  it('requires replicas in different zones only with the component zones, and otherwise prefers them', () => {
    const host = 'kubernetes.io/hostname: ScheduleAnyway';
    const zone = 'topology.kubernetes.io/zone';
    expect(spreadOf(render('production'))).toEqual(new Set([`${zone}: ScheduleAnyway`, host]));
    expect(spreadOf(renderWith('zones'))).toEqual(new Set([`${zone}: DoNotSchedule`, host]));
  });
});

describe('the routes in haproxy.cfg of the edge', () => {
  let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
  beforeAll(async () => {
    platform = await startPlatformForTest();
  });
  afterAll(() => platform.stop());

  /** An address below each path, with a status that only the service of that path answers. */
  const probes: Readonly<Record<string, readonly [string, number]>> = {
    [edgeMap.find(({ path }) => path.startsWith('^'))?.path ?? '']: ['/idp/demo/desktop/v2.0/metadata', 200],
    '/idp/': ['/idp/demo/discovery/v2.0/keys', 200],
    '/AccessApi/': ['/AccessApi/openapi.json', 200],
    '/secureLaunch': ['/secureLaunch', 401],
    '/oltr/': ['/oltr/', 200],
    '/accessibility': ['/accessibility', 200],
    '/orders/': ['/orders/d3b07384-d9a0-4c9b-8f2e-000000000001/notepad', 401],
    '/audit': ['/audit', 308],
    '/audit/': ['/audit/events', 401],
    '/resource/': ['/resource/me', 401],
    '/.well-known/oauth-protected-resource/': ['/.well-known/oauth-protected-resource/resource/me', 200],
    '/developers': ['/developers', 308],
    '/developers/': ['/developers/', 200],
    '/': ['/', 200],
    '/demo/': ['/demo/pms', 200],
  };

  it('are the routes of the platform when it runs in one process', async () => {
    expect(Object.keys(probes).toSorted()).toEqual(edgeMap.map(({ path }) => path).toSorted());
    const statuses = await Promise.all(
      Object.values(probes).map(async ([address]) => {
        const response = await fetch(`${platform.url}${address}`, { redirect: 'manual' });
        await response.arrayBuffer();
        return [address, response.status];
      }),
    );
    expect(statuses).toEqual(Object.values(probes));
    expect((await fetch(`${platform.url}/nowhere/`)).status).toBe(404);
  });
});
