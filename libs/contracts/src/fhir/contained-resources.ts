import { type Fault, faultWithin } from '../fault.ts';
import { compileSchema, entriesOf, maxFaults, memberOf } from '../schema.ts';
import { Type } from '../type.ts';
import { referenceIn } from './elements.ts';
import type { ResourceContents, Resources, ResourceType } from './resources.ts';

/** A reference in the payload, its path, and the type of resource to which it must refer. */
export type Reference = { readonly path: string; readonly reference: unknown; readonly type: ResourceType };

/** A resource in `contained`. It may be invalid. */
export type Contained<Type extends ResourceType> = {
  /** The path of the resource: `contained[3]` */
  readonly path: string;
  readonly resource: unknown;
  /** The supported elements, if the resource is valid. */
  readonly content?: ResourceContents[Type] | undefined;
};

/** The resources in `contained`, to which references of the form `#id` refer. */
export type ContainedResources = {
  /** The errors of all resources of supported types, and of repeated ids. */
  readonly faults: readonly Fault[];
  readonly references: readonly Reference[];
  /**
   * Returns an error if the reference does not refer to exactly one resource of the required type. Ignores
   * references that do not have the form `#id`, which the schema reports.
   */
  readonly referenceFaults: (reference: Reference) => Fault[];
  /** Returns the first resource with the id of the reference, if it has the given type. */
  readonly find: <Type extends ResourceType>(type: Type, reference: unknown) => Contained<Type> | undefined;
  /**
   * Adds the member `resource` to an error of the payload. For a contained resource, the member contains the
   * type and the id, such as `Patient #patient`. Omits unknown types and malformed ids (FHIR R4 datatypes,
   * id), because they could be any text of the caller.
   */
  readonly withResource: (fault: Fault) => Fault;
};

/** The first resource with an id, and whether further resources have the same id. */
type Holder = { readonly type: string; readonly index: number; isShared: boolean };

const idForm = /^[A-Za-z0-9\-.]{1,64}$/;

/** The schema of every entry of `contained`, including resources of unsupported types. */
const anyResource = compileSchema(Type.Object({ resourceType: Type.String() }));

/**
 * Creates the reader of `contained`. The reader checks every resource of the five supported types, even if no
 * reference refers to the resource. It drops resources of other types, but considers their ids when it
 * resolves references. It stops after `maxFaults` errors.
 */
export function createContainedReader(
  resources: Resources,
): (payload: unknown, now: number) => ContainedResources {
  const isKnown = (type: string): type is ResourceType => Object.hasOwn(resources, type);

  return (payload, now) => {
    const entries = entriesOf(payload, 'contained');
    const holders = holdersIn(entries);
    const contents = new Map<number, unknown>();
    const faults: Fault[] = [];
    for (const [index, entry] of entries.entries()) {
      for (const fault of faultsOf(entry, index)) faults.push(faultWithin(`contained[${index}]`, fault));
      if (faults.length > maxFaults) break;
    }
    return {
      faults: faults.slice(0, maxFaults),
      references: entries.flatMap(referencesOfRole),
      referenceFaults: (reference) => referenceFaults(reference, holders),
      find: <Type extends ResourceType>(type: Type, reference: unknown) => {
        const holder = typeof reference === 'string' ? holders.get(reference.slice(1)) : undefined;
        if (holder?.type !== type) return undefined;
        const { index } = holder;
        const content = contents.get(index) as ResourceContents[Type] | undefined;
        return { path: `contained[${index}]`, resource: entries[index], content };
      },
      withResource: (fault) => {
        const entry = entries[Number(/^contained\[(\d+)\]/.exec(fault.path)?.[1])];
        const [type, id] = [memberOf(entry, 'resourceType'), memberOf(entry, 'id')];
        if (typeof type !== 'string' || !isKnown(type)) return { ...fault, resource: 'ServiceRequest' };
        return { ...fault, resource: typeof id === 'string' && idForm.test(id) ? `${type} #${id}` : type };
      },
    };

    function faultsOf(entry: unknown, index: number): Fault[] {
      if (!anyResource.is(entry)) return anyResource.faultsOf(entry);
      const { resourceType: type } = entry;
      const id = memberOf(entry, 'id');
      const holder = typeof id === 'string' ? holders.get(id) : undefined;
      // An id that only resources of unsupported types share is no error.
      const isDoubled = holder && holder.index !== index && (isKnown(type) || isKnown(holder.type));
      const message = 'must not be the id of another contained resource';
      const doubled: Fault[] = isDoubled ? [{ path: 'id', message, code: 'duplicate' }] : [];
      if (!isKnown(type)) return doubled;
      const reading = resources[type].read(entry, now);
      contents.set(index, reading.content);
      return [...doubled, ...reading.faults];
    }
  };
}

function holdersIn(entries: readonly unknown[]): ReadonlyMap<string, Holder> {
  const holders = new Map<string, Holder>();
  for (const [index, entry] of entries.entries()) {
    const id = memberOf(entry, 'id');
    const type = memberOf(entry, 'resourceType');
    if (typeof id !== 'string' || typeof type !== 'string') continue;
    const holder = holders.get(id);
    if (holder === undefined) holders.set(id, { type, index, isShared: false });
    else holder.isShared = true;
  }
  return holders;
}

function referencesOfRole(entry: unknown, index: number): Reference[] {
  if (memberOf(entry, 'resourceType') !== 'PractitionerRole') return [];
  const reference = (member: string, type: ResourceType): Reference => ({
    path: `contained[${index}].${member}.reference`,
    reference: referenceIn(entry, member),
    type,
  });
  return [reference('practitioner', 'Practitioner'), reference('organization', 'Organization')];
}

function referenceFaults(
  { path, reference, type }: Reference,
  holders: ReadonlyMap<string, Holder>,
): Fault[] {
  if (typeof reference !== 'string' || !/^#[A-Za-z0-9\-.]{1,64}$/.test(reference)) return [];
  const holder = holders.get(reference.slice(1));
  if (holder === undefined)
    return [{ path, message: 'must refer to a resource in contained', code: 'not-found' }];
  if (holder.isShared) {
    const message = 'must refer to exactly one resource in contained';
    return [{ path, message, code: 'multiple-matches' }];
  }
  if (holder.type === type) return [];
  return [{ path, message: `must refer to a resource of type ${type}`, code: 'value' }];
}
