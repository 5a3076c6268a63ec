import { entriesOf, memberOf } from '../schema.ts';
import type { ContainedResources } from './contained-resources.ts';
import type { IdentifierSystems, Vocabulary } from './identifier-systems.ts';
import type { ResourceType } from './resource-readers.ts';

/** The processed identifier of a resource: the first of a supported system. */
export type ProcessedCode = {
  readonly system: string;
  /** The unchecked value, of any type. */
  readonly value: unknown;
  /** The place of the identifier: `contained[3].identifier[0]` */
  readonly path: string;
};

type Contained = Pick<ContainedResources, 'indexOf'>;
type Find = (payload: unknown, contained: Contained) => ProcessedCode | undefined;

/**
 * Creates the searches for the processed codes in an unchecked payload: of the practice, the clinician and
 * the performer, and of the author by the reference of its extension. A search finds nothing if the reference
 * leads nowhere or no identifier is supported; other checks report those errors.
 */
export function createCodeSearches({ organization, practitioner, username }: Vocabulary) {
  const practice = new Map([...organization].filter(([, system]) => system !== 'performing-org'));
  const person = new Map([[username, 'username']]);
  const ofRole =
    (member: string, type: ResourceType, systems: IdentifierSystems<string>): Find =>
    (payload, contained) => {
      const role = contained.indexOf('PractitionerRole', referenceIn(payload, 'requester'));
      if (role === undefined) return undefined;
      const reference = referenceIn(entriesOf(payload, 'contained')[role], member);
      return findCode(payload, contained.indexOf(type, reference), systems);
    };
  const ofPerformer: Find = (payload, contained) => {
    const reference = memberOf(entriesOf(payload, 'performer')[0], 'reference');
    return findCode(payload, contained.indexOf('Organization', reference), organization);
  };
  return {
    practice: ofRole('organization', 'Organization', practice),
    /** Finds the organisation of the practice by any supported code, including a code for performers only. */
    practiceOrganization: ofRole('organization', 'Organization', organization),
    clinician: ofRole('practitioner', 'Practitioner', practitioner),
    performer: ofPerformer,
    author: (payload: unknown, contained: Contained, reference: string | undefined) =>
      findCode(payload, contained.indexOf('Person', reference), person),
  };
}

export type CodeSearches = ReturnType<typeof createCodeSearches>;

function findCode(
  payload: unknown,
  index: number | undefined,
  systems: IdentifierSystems<string>,
): ProcessedCode | undefined {
  if (index === undefined) return undefined;
  const identifiers = entriesOf(entriesOf(payload, 'contained')[index], 'identifier');
  for (const [at, identifier] of identifiers.entries()) {
    const uri = memberOf(identifier, 'system');
    const system = typeof uri === 'string' ? systems.get(uri) : undefined;
    if (system === undefined) continue;
    return { system, value: memberOf(identifier, 'value'), path: `contained[${index}].identifier[${at}]` };
  }
  return undefined;
}

const referenceIn = (owner: unknown, member: string) => memberOf(memberOf(owner, member), 'reference');
