/** The members of Kubernetes objects that the rules read. `schemaFaults` checks all of them. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
  };
  /** Of ConfigMaps and Secrets. */
  readonly data?: Labels;
  readonly spec?: unknown;
};

export type Labels = Readonly<Record<string, string>>;

export type Selector = {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
};

export type Probe = {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
  readonly exec?: { readonly command: readonly string[] };
};

type KeyRef = { readonly name: string; readonly key: string; readonly optional?: boolean };

export type Variable = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly configMapKeyRef?: KeyRef; readonly secretKeyRef?: KeyRef };
};

type SecurityContext = {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly procMount?: string;
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  readonly seccompProfile?: { readonly type: string };
  readonly seLinuxOptions?: unknown;
};

export type Container = {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly env?: readonly Variable[];
  readonly envFrom?: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
  readonly ports?: readonly {
    readonly name: string;
    readonly containerPort: number;
    readonly hostPort?: number;
  }[];
  readonly resources?: { readonly requests?: Labels; readonly limits?: Labels };
  readonly securityContext?: SecurityContext;
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPath?: string;
  }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly lifecycle?: {
    readonly preStop?: {
      readonly exec?: { readonly command: readonly string[] };
      readonly sleep?: { readonly seconds: number };
    };
  };
};

type Items = readonly { readonly key: string; readonly path: string }[];

export type Volume = {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly items?: Items };
  readonly configMap?: { readonly name: string; readonly items?: Items };
  readonly emptyDir?: unknown;
  readonly projected?: {
    readonly sources: readonly {
      readonly secret?: { readonly name: string; readonly items?: Items };
      readonly configMap?: { readonly name: string; readonly items?: Items };
    }[];
  };
  readonly persistentVolumeClaim?: unknown;
  readonly hostPath?: unknown;
};

export type Pod = {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext?: SecurityContext;
  readonly terminationGracePeriodSeconds?: number;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
};

/** A Deployment, StatefulSet or Job. */
export type Workload = {
  readonly kind: string;
  readonly name: string;
  /** Of its Pods. */
  readonly labels: Labels;
  readonly replicas: number;
  readonly pod: Pod;
  readonly selector: Selector | undefined;
  /** Names of volumes that a StatefulSet claims. */
  readonly claims: readonly string[];
};

type WorkloadSpec = {
  readonly replicas?: number;
  readonly selector?: Selector;
  readonly template: { readonly metadata?: { readonly labels?: Labels }; readonly spec: Pod };
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
};

/** Returns the objects of a kind, and their spec as the caller reads it. */
export const ofKind = <Spec>(objects: readonly Manifest[], kind: string) =>
  objects
    .filter((object) => object.kind === kind)
    .map(({ metadata, data = {}, spec }) => ({ name: metadata.name, metadata, data, spec: spec as Spec }));

/** Returns what has Pods. */
export const workloadsOf = (objects: readonly Manifest[]): readonly Workload[] =>
  ['Deployment', 'StatefulSet', 'Job'].flatMap((kind) =>
    ofKind<WorkloadSpec>(objects, kind).map(({ name, spec }) => ({
      kind,
      name,
      labels: spec.template.metadata?.labels ?? {},
      replicas: spec.replicas ?? 1,
      pod: spec.template.spec,
      selector: spec.selector,
      claims: (spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name),
    })),
  );

/** Returns all containers of a Pod, those that run first included. */
export const containersOf = ({ initContainers = [], containers }: Pod): readonly Container[] => [
  ...initContainers,
  ...containers,
];

/** Returns whether labels match a selector; an empty one matches everything. */
export function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'In') return value !== undefined && values.includes(value);
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      return (operator === 'Exists') === (value !== undefined);
    })
  );
}

/** Returns the number of a port that a container has, by its name or number; undefined if it has none. */
export const portOf = (containers: readonly Container[], port: string | number): number | undefined =>
  containers
    .flatMap(({ ports = [] }) => ports)
    .find(({ name, containerPort }) => name === port || containerPort === port)?.containerPort;
