import { codeKeyOf } from '../coded-identifiers.ts';
import type { Directory } from '../directory.ts';
import type { Fault } from '../fault.ts';
import type { ContainedResources } from './contained-resources.ts';
import type { CodeSearches, ProcessedCode } from './processed-code.ts';

const agreedValues = {
  practice: 'the code of a practice agreed for this client',
  user: 'the login name of a user agreed for this practice',
  clinician: 'the code of an agreed clinician',
  performer: 'the code of an agreed performer',
};

/** Returns the error of a value that was not agreed. */
export const notAgreed = (kind: keyof typeof agreedValues, { path }: ProcessedCode): Fault => ({
  path: `${path}.value`,
  message: `must be ${agreedValues[kind]}. Send an agreed value, or ask the operator to add this one`,
  code: 'business-rule',
});

/**
 * Creates the check of a payload against a directory (OLTR: "values must be agreed"): its practice, the
 * author as a user of that practice, its clinician and its performer. Reads the unchecked payload, so that
 * its errors are reported together with the others. Another check reports a value that is not text.
 */
export function createAgreedValuesCheck(find: CodeSearches) {
  return (
    payload: unknown,
    contained: Pick<ContainedResources, 'indexOf'>,
    { author: reference, directory }: { author: string | undefined; directory: Directory },
  ): Fault[] => {
    const { practices, clinicians, performers } = directory;
    const faults: Fault[] = [];
    const practice = practices && find.practice(payload, contained);
    const practiceKey = keyOf(practice);
    const agreed = practiceKey === undefined ? undefined : practices?.get(practiceKey);
    if (practice && practiceKey !== undefined && agreed === undefined)
      faults.push(notAgreed('practice', practice));

    // The users of a practice that is not agreed are unknown.
    const author = agreed?.users && find.author(payload, contained, reference);
    if (author && typeof author.value === 'string' && !agreed.users.has(author.value))
      faults.push(notAgreed('user', author));

    const clinician = clinicians && find.clinician(payload, contained);
    const performer = performers && find.performer(payload, contained);
    return [
      ...faults,
      ...faultOfMissing('clinician', clinician, clinicians),
      ...faultOfMissing('performer', performer, performers),
    ];
  };
}

function faultOfMissing(
  kind: 'clinician' | 'performer',
  code: ProcessedCode | undefined,
  agreed: ReadonlySet<string> | undefined,
): Fault[] {
  const key = keyOf(code);
  return code === undefined || key === undefined || agreed?.has(key) !== false ? [] : [notAgreed(kind, code)];
}

const keyOf = (code: ProcessedCode | undefined) =>
  typeof code?.value === 'string' ? codeKeyOf({ system: code.system, value: code.value }) : undefined;
