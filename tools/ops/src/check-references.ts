import { documentedSecrets, howToCreate } from './kubernetes-secrets.ts';

/** A Secret or ConfigMap that a manifest references, and the command that creates it. */
export type NeededSource = {
  readonly object: string;
  /** The kind and name of the Secret or ConfigMap: `Secret ordering`. */
  readonly source: string;
  /** The missing keys. Empty for a documented Secret, and if the objects name no key. */
  readonly keys: readonly string[];
  /** The instruction that creates the Secret or ConfigMap, or adds the keys. */
  readonly command: string;
};

type Named = { readonly name?: string };
type Container = {
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly configMapRef?: Named }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
};
type PodSpec = {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly imagePullSecrets?: readonly Named[];
  readonly volumes?: readonly Named[];
};
type Template = { readonly template?: { readonly spec?: PodSpec } };

export type KubernetesObject = {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: object;
  readonly binaryData?: object;
  readonly spec?: PodSpec &
    Template & {
      readonly jobTemplate?: { readonly spec?: Template };
      /** Only in a NetworkPolicy, as is the next member. */
      readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
      readonly ingress?: readonly {
        readonly from?: readonly { readonly namespaceSelector?: object; readonly ipBlock?: object }[];
      }[];
      /** Only in an Ingress. */
      readonly tls?: readonly { readonly secretName?: string }[];
      /** Present only in an ExternalSecret, as are the next two members. */
      readonly target?: { readonly name?: string; readonly template?: object };
      readonly dataFrom?: object;
      readonly data?: readonly { readonly secretKey?: string }[];
      /** Only in a SecretProviderClass of the Secrets Store CSI driver. */
      readonly secretObjects?: readonly {
        readonly secretName?: string;
        readonly data?: readonly { readonly key?: string }[];
      }[];
    };
};

/** The keys of each Secret and ConfigMap. `undefined` means that every key may exist. */
type Sources = ReadonlyMap<string, ReadonlySet<string> | undefined>;
/** The key is absent if the object references all keys. */
type Reference = { readonly source: string; readonly key?: string };

/**
 * Finds the Secrets and ConfigMaps that Pods and Ingresses reference and that the objects do not contain.
 * `documented` contains each of these Secrets that the table of the production overlay lists. `missing`
 * contains the other Secrets, and the ConfigMaps. Omits optional references.
 */
export function checkReferences(objects: readonly KubernetesObject[]): {
  documented: readonly NeededSource[];
  missing: readonly NeededSource[];
} {
  const provided: Sources = new Map([
    // Kubernetes creates this ConfigMap in each namespace.
    ['ConfigMap kube-root-ca.crt', undefined] as const,
    ...objects.flatMap(sourcesOf),
  ]);
  const references = objects.flatMap((object) =>
    referencesOf(object, objects).map((reference) => ({ object, ...reference })),
  );
  const lost = references.filter(({ source, key }) => !has(provided, source, key));
  const isDocumented = ({ source, key }: Reference) =>
    !provided.has(source) && has(documentedSecrets, source, key);
  const needed = (found: typeof lost) =>
    [...Map.groupBy(found, ({ source }) => source)].flatMap(([source, [first, ...others]]) => {
      if (first === undefined) return [];
      const named = [first, ...others].flatMap((each) => (isDocumented(each) ? [] : (each.key ?? [])));
      const keys = [...new Set(named)];
      const { namespace } = first.object.metadata ?? {};
      return { object: nameOf(first.object), source, keys, command: howToCreate(source, keys, namespace) };
    });
  return {
    documented: needed(lost.filter(isDocumented)),
    missing: needed(lost.filter((each) => !isDocumented(each))),
  };
}

const nameOf = ({ kind, metadata }: KubernetesObject) => `${kind} ${metadata?.name}`;

const has = (sources: Sources, source: string, key: string | undefined) =>
  sources.has(source) && (key === undefined || (sources.get(source)?.has(key) ?? true));

type ProvidedSource = readonly [string, ReadonlySet<string> | undefined];

/**
 * If an object is a Secret or ConfigMap, returns the object. Otherwise, returns the Secrets that the object
 * creates.
 */
function sourcesOf(object: KubernetesObject): readonly ProvidedSource[] {
  switch (object.kind) {
    case 'Secret':
    case 'ConfigMap': {
      const { data, stringData, binaryData } = object;
      return [[nameOf(object), new Set(Object.keys({ ...data, ...stringData, ...binaryData }))]];
    }
    case 'ExternalSecret':
      return [externalSecretOf(object)];
    case 'SecretProviderClass':
      return (object.spec?.secretObjects ?? []).map(({ secretName, data = [] }) => [
        `Secret ${secretName}`,
        new Set(data.flatMap(({ key }) => key ?? [])),
      ]);
    default:
      return [];
  }
}

function externalSecretOf({ metadata, spec = {} }: KubernetesObject): ProvidedSource {
  const { data = [], dataFrom, target: { name = metadata?.name, template } = {} } = spec;
  // With a template or `dataFrom`, only the external secret store knows the keys.
  const isOpen = (dataFrom ?? template) !== undefined;
  return [`Secret ${name}`, isOpen ? undefined : new Set(data.flatMap(({ secretKey }) => secretKey ?? []))];
}

function referencesOf({ kind, spec }: KubernetesObject, objects: readonly KubernetesObject[]): Reference[] {
  if (kind === 'Ingress')
    return (spec?.tls ?? []).flatMap(({ secretName }) =>
      secretName === undefined ? [] : { source: `Secret ${secretName}` },
    );
  const pod = kind === 'Pod' ? spec : (spec?.jobTemplate?.spec ?? spec)?.template?.spec;
  if (pod === undefined) return [];
  const containers = [...(pod.initContainers ?? []), ...(pod.containers ?? [])];
  return [
    ...(pod.imagePullSecrets ?? []).map(({ name }) => ({ source: `Secret ${name}` })),
    ...namedIn([containers, pod.volumes]),
    ...containers.flatMap((container) => filesOf(container, pod, objects)),
  ];
}

/** The members of a Pod that name a Secret or ConfigMap. */
type SourceMember = {
  readonly name?: string;
  readonly secretName?: string;
  readonly key?: string;
  readonly items?: readonly { readonly key: string }[];
  readonly optional?: boolean;
};

function namedIn(value: unknown): Reference[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) => {
    const [, word] = /^(secret|configMap)(?:Ref|KeyRef)?$/.exec(member) ?? [];
    if (word === undefined) return namedIn(inner);
    const { name, secretName = name, key, items, optional }: SourceMember = inner;
    if (optional) return [];
    const source = `${word === 'secret' ? 'Secret' : 'ConfigMap'} ${secretName}`;
    const keys = key === undefined ? items?.map((item) => item.key) : [key];
    return keys?.map((each) => ({ source, key: each })) ?? [{ source }];
  });
}

/**
 * Returns the keys of Secrets and ConfigMaps that a container reads as files, because one of its variables, such
 * as `REDIS_URL_FILE`, contains the path.
 */
function filesOf(
  { env = [], envFrom = [], volumeMounts = [] }: Container,
  { volumes = [] }: PodSpec,
  objects: readonly KubernetesObject[],
): Reference[] {
  const settings = envFrom.flatMap(({ configMapRef }) =>
    objects
      .filter((object) => nameOf(object) === `ConfigMap ${configMapRef?.name}`)
      .map(({ data }) => data ?? {}),
  );
  const values = [
    ...env.flatMap(({ value }) => value ?? []),
    ...settings.flatMap((data) =>
      Object.entries(data).flatMap(([name, value]) => (name.endsWith('_FILE') ? value : [])),
    ),
  ];
  return volumeMounts.flatMap(({ name, mountPath }) => {
    const volume = volumes.find((each) => each.name === name);
    // A volume with several sources, or with `items`, names its keys itself.
    const [source, ...others] = namedIn(volume);
    if (source === undefined || others.length > 0 || source.key !== undefined) return [];
    return values
      .filter((value) => value.startsWith(`${mountPath}/`))
      .map((value) => ({ source: source.source, key: value.slice(mountPath.length + 1) }));
  });
}
