import { type Fault, faultWithin } from '../fault.ts';
import { compileSchema, entriesOf, maxFaults, memberOf } from '../schema.ts';
import type { ResourceContents, ResourceReaders, ResourceType } from './resource-readers.ts';
import type { ResourceSchemas } from './resource-schemas.ts';

/** A reference in the payload, its path, and the type of resource to which it must refer. */
export type Reference = { readonly path: string; readonly reference: unknown; readonly type: ResourceType };

/** The resources in `contained`, to which references of the form `#id` refer. */
export type ContainedResources = {
  /** The errors of all resources of supported types, and of repeated ids. */
  readonly faults: readonly Fault[];
  readonly references: readonly Reference[];
  /**
   * Returns an error if the reference does not refer to exactly one resource of the required type. Ignores
   * references that do not have the form `#id`, which the schema reports.
   */
  referenceFaults(reference: Reference): Fault[];
  /**
   * Returns the index in `contained` of the first resource with this id, if that resource has the given type.
   * The resource may be invalid.
   */
  indexOf(type: ResourceType, reference: unknown): number | undefined;
  /**
   * Returns the supported elements of the resource, or undefined if the reference does not refer to a valid
   * resource.
   */
  find<Type extends ResourceType>(type: Type, reference: string): ResourceContents[Type] | undefined;
};

type Shelves = { readonly [Type in ResourceType]: Map<string, ResourceContents[Type]> };

/** The type and index of the first resource with an id, and whether further resources have the same id. */
type Holder = { readonly type: string; readonly index: number; isShared: boolean };

type Holders = ReadonlyMap<string, Holder>;

/**
 * Creates the reader of `contained`. The reader checks every resource of the five supported types, even if no
 * reference refers to the resource. It drops resources of other types, but considers their ids when it
 * resolves references. It stops after `maxFaults` errors.
 */
export function createContainedReader(
  readers: ResourceReaders,
  schemas: ResourceSchemas,
): (payload: unknown) => ContainedResources {
  const structure = compileSchema(schemas.anyResource);
  const isKnown = (type: string): type is ResourceType => Object.hasOwn(readers, type);

  function shelve<Type extends ResourceType>(type: Type, resource: unknown, shelves: Shelves): Fault[] {
    const { faults, content } = readers[type](resource);
    const id = memberOf(resource, 'id');
    if (content !== undefined && typeof id === 'string') shelves[type].set(id, content);
    return faults;
  }

  /**
   * Returns an error if an earlier resource has the same id. Ignores an id that only resources of unsupported
   * types share.
   */
  function idFaults(resource: { resourceType: string }, index: number, holders: Holders): Fault[] {
    const id = memberOf(resource, 'id');
    const holder = typeof id === 'string' ? holders.get(id) : undefined;
    if (holder === undefined || holder.index === index) return [];
    if (!isKnown(resource.resourceType) && !isKnown(holder.type)) return [];
    return [{ path: 'id', message: 'must not be the id of another contained resource', code: 'duplicate' }];
  }

  return (payload) => {
    const entries = entriesOf(payload, 'contained');
    const holders = holdersIn(entries);
    const shelves: Shelves = {
      Person: new Map(),
      Patient: new Map(),
      PractitionerRole: new Map(),
      Practitioner: new Map(),
      Organization: new Map(),
    };
    const faults = collectFaults(entries, (resource, index) => {
      if (!structure.is(resource)) return structure.faultsOf(resource);
      const type = resource.resourceType;
      const doubled = idFaults(resource, index, holders);
      return isKnown(type) ? [...doubled, ...shelve(type, resource, shelves)] : doubled;
    });
    return {
      faults,
      references: entries.flatMap(referencesOfRole),
      referenceFaults: (reference) => referenceFaults(reference, holders),
      indexOf: (type, reference) => {
        const holder = typeof reference === 'string' ? holders.get(reference.slice(1)) : undefined;
        return holder?.type === type ? holder.index : undefined;
      },
      find: (type, reference) => shelves[type].get(reference.slice(1)),
    };
  };
}

function holdersIn(entries: readonly unknown[]): Holders {
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

function collectFaults(
  entries: readonly unknown[],
  faultsOf: (entry: unknown, index: number) => Fault[],
): Fault[] {
  const collected: Fault[] = [];
  for (const [index, entry] of entries.entries()) {
    for (const fault of faultsOf(entry, index)) {
      if (collected.length >= maxFaults) return collected;
      collected.push(faultWithin(`contained[${index}]`, fault));
    }
  }
  return collected;
}

function referencesOfRole(resource: unknown, index: number): Reference[] {
  if (memberOf(resource, 'resourceType') !== 'PractitionerRole') return [];
  const reference = (member: string, type: ResourceType): Reference => ({
    path: `contained[${index}].${member}.reference`,
    reference: memberOf(memberOf(resource, member), 'reference'),
    type,
  });
  return [reference('practitioner', 'Practitioner'), reference('organization', 'Organization')];
}

function referenceFaults({ path, reference, type }: Reference, holders: Holders): Fault[] {
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

const idForm = /^[A-Za-z0-9\-.]{1,64}$/;

/**
 * Creates a function that adds the member `resource` to each error of a ServiceRequest. For a contained
 * resource, the member contains the type and the id, such as `Patient #patient`. The function omits unknown
 * types and malformed ids (FHIR R4 datatypes, id), because they could be any text of the caller.
 */
export function createResourceNaming(
  knownTypes: ReadonlySet<unknown>,
): (faults: readonly Fault[], payload: unknown) => Fault[] {
  const nameOf = (entry: unknown): string => {
    const type = memberOf(entry, 'resourceType');
    if (typeof type !== 'string' || !knownTypes.has(type)) return 'ServiceRequest';
    const id = memberOf(entry, 'id');
    return typeof id === 'string' && idForm.test(id) ? `${type} #${id}` : type;
  };
  return (faults, payload) => {
    const entries = entriesOf(payload, 'contained');
    return faults.map((fault) => {
      const index = /^contained\[(\d+)\]/.exec(fault.path)?.[1];
      return { ...fault, resource: nameOf(index === undefined ? undefined : entries[Number(index)]) };
    });
  };
}
