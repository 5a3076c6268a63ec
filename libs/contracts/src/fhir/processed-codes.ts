import { codeKeyOf, isAgreedPractice, type PracticeBinding } from '../coded-identifiers.ts';
import type { Directory } from '../directory.ts';
import type { Fault } from '../fault.ts';
import { bareCode } from '../formats.ts';
import { entriesOf, memberOf } from '../schema.ts';
import type { ContainedResources } from './contained-resources.ts';
import type { IdentifierSystems, Vocabulary } from './identifier-systems.ts';
import type { ResourceType } from './resource-readers.ts';
import { isOld } from './resource-rules.ts';

/** The identifier that is used for a resource: the first with a supported system that is not old. */
type ProcessedCode = {
  readonly system: string;
  /** The unvalidated value, of any type. A text has no outer blanks. */
  readonly value: unknown;
  /** The path of the identifier: `contained[3].identifier[0]` */
  readonly path: string;
};

type Contained = Pick<ContainedResources, 'indexOf'>;
type Find = (payload: unknown, contained: Contained) => ProcessedCode | undefined;

/**
 * Creates functions that find the codes of the practice, the clinician, the performer and the author in an
 * unvalidated payload. They return undefined if a reference cannot be resolved or no identifier is supported.
 * Other checks report these two errors.
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
    /**
     * Finds any supported code of the Organization of the practice, including a code that only performers may
     * have.
     */
    practiceOrganization: ofRole('organization', 'Organization', organization),
    clinician: ofRole('practitioner', 'Practitioner', practitioner),
    performer: ofPerformer,
    author: (payload: unknown, contained: Contained, reference: string | undefined) =>
      findCode(payload, contained.indexOf('Person', reference), person),
  };
}

type CodeSearches = ReturnType<typeof createCodeSearches>;

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
    if (system === undefined || isOld(identifier)) continue;
    const value = memberOf(identifier, 'value');
    const path = `contained[${index}].identifier[${at}]`;
    return { system, value: typeof value === 'string' ? bareCode(value) : value, path };
  }
  return undefined;
}

const referenceIn = (owner: unknown, member: string) => memberOf(memberOf(owner, member), 'reference');

/**
 * Creates the check of the practice in a payload (PractitionerRole.organization). The Organization must have
 * a practice code, not only a code that only performers may have. If a practice binding is passed, it must
 * contain the practice code. The check reads the unvalidated payload, so that all errors are reported
 * together.
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

const agreedValues = {
  practice: 'the code of a practice agreed for this client',
  user: 'the login name of a user agreed for this practice',
  clinician: 'the code of an agreed clinician',
  performer: 'the code of an agreed performer',
};

const notAgreed = (kind: keyof typeof agreedValues, { path }: ProcessedCode): Fault => ({
  path: `${path}.value`,
  message: `must be ${agreedValues[kind]}. Send an agreed value, or ask the operator to add this one`,
  code: 'business-rule',
});

/**
 * Creates the check of a payload against a directory (OLTR: "values must be agreed"). The directory must
 * contain the practice, the author as a user of that practice, the clinician and the performer. The check
 * reads the unvalidated payload, so that all errors are reported together. The schema reports values that
 * are not strings.
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

    // Checks the author only in an agreed practice, because the directory lists users for each practice.
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
