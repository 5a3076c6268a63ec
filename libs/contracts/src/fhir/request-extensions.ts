import { type Fault, faultWithin } from '../fault.ts';
import type { Action } from '../launch-context.ts';
import { type CompiledSchema, compileSchema, isReadableList, memberOf } from '../schema.ts';
import type { Reference } from './contained-resources.ts';
import type { Vocabulary } from './identifier-systems.ts';
import type { ResourceSchemas } from './resource-schemas.ts';

/** The content of the two extensions of a ServiceRequest. */
export type RequestExtensions = {
  readonly faults: readonly Fault[];
  readonly references: readonly Reference[];
  readonly action?: Action | undefined;
  /** Reference to the Person who entered the request. */
  readonly author?: string | undefined;
};

type Place = { readonly path: string; readonly extension: unknown };

/**
 * Creates the reader of `extension`: exactly one action and one author, others ignored (OLTR:
 * ServiceRequest).
 */
export function createExtensionReader(
  { actionExtension, authorExtension }: Vocabulary,
  schemas: ResourceSchemas,
): (payload: unknown) => RequestExtensions {
  const actionStructure = compileSchema(schemas.action);
  const authorStructure = compileSchema(schemas.author);

  return (payload) => {
    const extensions = memberOf(payload, 'extension');
    if (!isReadableList(extensions)) return { faults: [], references: [] };
    const actions = placesOf(actionExtension, extensions);
    const authors = placesOf(authorExtension, extensions);
    return {
      faults: [
        ...faultsOf(actions, actionExtension, actionStructure),
        ...faultsOf(authors, authorExtension, authorStructure),
      ],
      references: authors.map(authorReference),
      action: firstOf(actions, actionStructure)?.valueString,
      author: firstOf(authors, authorStructure)?.valueReference.reference,
    };
  };
}

function placesOf(url: string, extensions: readonly unknown[]): Place[] {
  return extensions.flatMap((extension, index) =>
    memberOf(extension, 'url') === url ? [{ path: `extension[${index}]`, extension }] : [],
  );
}

function faultsOf(places: readonly Place[], url: string, structure: CompiledSchema<unknown>): Fault[] {
  const message = `must have exactly one entry whose url is ${url}`;
  const counted: Fault[] = places.length === 1 ? [] : [{ path: 'extension', message, code: 'invariant' }];
  const faults = places.flatMap(({ path, extension }) =>
    structure.faultsOf(extension).map((fault) => faultWithin(path, fault)),
  );
  return [...counted, ...faults];
}

function firstOf<T>([place]: readonly Place[], structure: CompiledSchema<T>): T | undefined {
  const extension = place?.extension;
  return structure.is(extension) ? extension : undefined;
}

function authorReference({ path, extension }: Place): Reference {
  return {
    path: `${path}.valueReference.reference`,
    reference: memberOf(memberOf(extension, 'valueReference'), 'reference'),
    type: 'Person',
  };
}
