import { isAgreedPractice, type PracticeBinding } from '../coded-identifiers.ts';
import type { Fault } from '../fault.ts';
import { notAgreed } from './agreed-values-check.ts';
import type { ContainedResources } from './contained-resources.ts';
import type { Vocabulary } from './identifier-systems.ts';
import type { CodeSearches } from './processed-code.ts';

/**
 * Creates the check of the practice of a payload (PractitionerRole.organization): it has the code of a
 * practice and, with a binding, one that its client is bound to. Reads the unchecked payload, so that its
 * errors are reported together with the others.
 */
export function createPracticeCheck({ organization }: Vocabulary, find: CodeSearches) {
  const practiceSystems = [...organization].flatMap(([uri, system]) =>
    system === 'performing-org' ? [] : [uri],
  );

  return (
    payload: unknown,
    contained: Pick<ContainedResources, 'indexOf'>,
    binding?: PracticeBinding,
  ): Fault[] => {
    const practice = find.practice(payload, contained);
    if (practice === undefined) {
      const performer = find.practiceOrganization(payload, contained);
      if (performer === undefined) return [];
      const path = performer.path.slice(0, performer.path.lastIndexOf('['));
      const message = `must have an entry whose system is one of ${practiceSystems.join(', ')}`;
      return [{ path, message, code: 'invariant' }];
    }
    const { system, value } = practice;
    if (binding === undefined || typeof value !== 'string') return [];
    return isAgreedPractice({ system, value }, binding) ? [] : [notAgreed('practice', practice)];
  };
}
