import type { Manifest } from './objects.ts';

type Validate = ((value: unknown) => boolean) & {
  readonly errors?: readonly { instancePath: string; message?: string; keyword: string }[] | null;
};

/**
 * Returns what the API of Kubernetes would refuse: wrong types and values, and members that it does not know.
 * The validators of `kubernetes-models` are compiled from the OpenAPI documents of Kubernetes 1.36.
 */
export async function schemaFaults(object: Manifest): Promise<readonly string[]> {
  const validate = await validatorOf(object);
  const read = new Map<object, Set<string>>();
  const isValid = validate(recording(object, read));
  const { kind, metadata } = object;
  return [
    ...(isValid
      ? []
      : (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} (${keyword})`)),
    ...unread(object, read, ''),
  ].map((fault) => `${kind} ${metadata.name}: ${fault}`);
}

async function validatorOf({ apiVersion, kind }: Manifest): Promise<Validate> {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['Core', apiVersion];
  const words = [group.replace(/\.k8s\.io$/, ''), version ?? '', kind];
  const name = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
  const module = new URL(
    `../../../node_modules/kubernetes-models/_schemas/IoK8sApi${name}.js`,
    import.meta.url,
  );
  const { validate } = (await import(module.href)) as { readonly validate: Validate };
  return validate;
}

/**
 * Returns a view of a value that records which members are read. A validator reads exactly the members that
 * its schema names.
 */
function recording<Value>(value: Value, read: Map<object, Set<string>>): Value {
  if (typeof value !== 'object' || value === null) return value;
  const names = new Set<string>();
  read.set(value, names);
  const views = new Map<string, unknown>();
  return new Proxy(value, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof name !== 'string') return member;
      names.add(name);
      if (!views.has(name)) views.set(name, typeof member === 'function' ? member : recording(member, read));
      return views.get(name);
    },
  });
}

function unread(
  value: unknown,
  read: ReadonlyMap<object, ReadonlySet<string>>,
  path: string,
): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    read.get(value)?.has(name) === true
      ? unread(member, read, `${path}/${name}`)
      : [`${path}/${name} (unknown)`],
  );
}
