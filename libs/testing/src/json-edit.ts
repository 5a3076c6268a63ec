/** Whatever JSON.parse can yield. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/**
 * A copy of the value in which what stands at the path is changed; the value itself stays as it is.
 * A member that is not there is added, `change` answering `undefined` removes it, and a path that leads nowhere
 * changes nothing.
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

/** The value with another one at a path such as `contained[1].name[0].family`; `undefined` removes what is there. */
export function replaceAt(value: Json, path: string, replacement: Json | undefined): Json {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  return editAt(value, steps, () => replacement);
}

/** The path of every node of the value, its root (no steps) first. */
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
