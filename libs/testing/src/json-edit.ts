/** Any result of JSON.parse. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/**
 * Returns a copy of the value with a change at the path. Adds an absent member, removes a member if `change`
 * returns `undefined`, and changes nothing if the path does not exist.
 */
export function editAt(
  value: Json,
  steps: readonly (string | number)[],
  change: (old: Json | undefined) => Json | undefined,
): Json {
  const [step, ...rest] = steps;
  if (step === undefined) return change(value) ?? null;
  if (typeof value !== 'object' || value === null) return value;
  const key = String(step);
  const old = memberOf(value, key);
  if (old === undefined && rest.length > 0) return value;
  const edited = old === undefined || rest.length === 0 ? change(old) : editAt(old, rest, change);
  if (Array.isArray(value)) {
    return value.toSpliced(Number(step), 1, ...(edited === undefined ? [] : [edited]));
  }
  const { [key]: _, ...others } = value;
  return edited === undefined ? others : { ...value, [key]: edited };
}

/**
 * Returns the value with a replacement at a path such as `contained[1].name[0].family`; `undefined` removes
 * the member.
 */
export function replaceAt(value: Json, path: string, replacement: Json | undefined): Json {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  return editAt(value, steps, () => replacement);
}

/** Returns the path of every node of the value. The first path is that of the root and has no steps. */
export function pathsOf(value: Json, root: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [root];
  const members = Array.isArray(value) ? value.entries() : Object.entries(value);
  const paths = [root];
  for (const [step, member] of members) {
    for (const path of pathsOf(member, [...root, step])) paths.push(path);
  }
  return paths;
}

function memberOf(value: Json[] | { [member: string]: Json }, key: string): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)];
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
