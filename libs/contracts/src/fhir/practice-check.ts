import type { Fault } from '../fault.ts';
import { isAgreedPractice, type PracticeBinding } from '../practice-binding.ts';
import type { ContainedResources } from './contained-resources.ts';
import type { Vocabulary } from './identifier-systems.ts';
import { entriesOf, memberOf } from './payload-access.ts';

type Contained = Pick<ContainedResources, 'indexOf'>;

const notAgreed =
  'must be the code of a practice agreed for this client: send one of those, or ask the operator to add it';

/**
 * Creates the check of the practice of a payload (PractitionerRole.organization): it is named by a code of a
 * practice, and with a binding by one that its client is bound to. It looks at the payload as it was sent, so that
 * its faults are reported together with the others.
 */
export function createPracticeCheck({ organization }: Vocabulary) {
  const practiceSystems = [...organization].flatMap(([uri, system]) =>
    system === 'performing-org' ? [] : [uri],
  );

  return (payload: unknown, contained: Contained, binding?: PracticeBinding): Fault[] => {
    const resources = entriesOf(payload, 'contained');
    const role = contained.indexOf('PractitionerRole', referenceOf(payload, 'requester'));
    if (role === undefined) return [];
    const index = contained.indexOf('Organization', referenceOf(resources[role], 'organization'));
    if (index === undefined) return [];
    const path = `contained[${index}].identifier`;
    const identifiers = entriesOf(resources[index], 'identifier').map((identifier) => {
      const system = memberOf(identifier, 'system');
      return {
        system: typeof system === 'string' ? organization.get(system) : undefined,
        value: memberOf(identifier, 'value'),
      };
    });
    // The first code of a practice is the one that is processed.
    const at = identifiers.findIndex(({ system }) => system !== undefined && system !== 'performing-org');
    const { system, value } = identifiers[at] ?? {};
    if (system === undefined) {
      const isOnlyPerformer = identifiers.some((identifier) => identifier.system === 'performing-org');
      const message = `must have an entry whose system is one of ${practiceSystems.join(', ')}`;
      return isOnlyPerformer ? [{ path, message, code: 'invariant' }] : [];
    }
    if (binding === undefined || typeof value !== 'string') return [];
    return isAgreedPractice({ system, value }, binding)
      ? []
      : [{ path: `${path}[${at}].value`, message: notAgreed, code: 'business-rule' }];
  };
}

const referenceOf = (owner: unknown, member: string) => memberOf(memberOf(owner, member), 'reference');
