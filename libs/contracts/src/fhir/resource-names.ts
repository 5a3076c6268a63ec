import type { Fault } from '../fault.ts';
import { entriesOf, memberOf } from '../schema.ts';

const idForm = /^[A-Za-z0-9\-.]{1,64}$/;

/**
 * Creates the function that adds to each error of a ServiceRequest the resource that its path leads to. It
 * names a contained resource by its type and its id (`Patient #patient`). An unknown type or an id of another
 * form (FHIR R4 datatypes, id) could be any text of the caller, so neither is repeated.
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
