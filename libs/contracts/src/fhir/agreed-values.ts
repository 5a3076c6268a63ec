import {
  codeKeyOf,
  isAgreedPractice,
  type PracticeBinding,
  syntheticNumberFaults,
} from '../coded-identifiers.ts';
import type { Directory } from '../directory.ts';
import type { Fault } from '../fault.ts';
import { entriesOf, memberOf } from '../schema.ts';
import type { Contained } from './contained-resources.ts';
import { supportedIn, systemOf } from './elements.ts';
import type { IdentifierSystems, Vocabulary } from './identifier-systems.ts';
import { createSignInReader } from './sign-in-extension.ts';

/** What was agreed with a client. If `practices` or `directory` is absent, every value is allowed. */
export type Agreement = {
  readonly practices?: PracticeBinding | undefined;
  readonly directory?: Directory | undefined;
  /**
   * The values of `acr` that the client may send. If absent, the client may send the default values, which
   * `agreedAcrValues` returns.
   */
  readonly acrValues?: readonly string[] | undefined;
  /** True if the client may send synthetic patients only, whose NHS numbers begin with 999. */
  readonly sandbox?: boolean | undefined;
};

/** The resources to which a payload refers. They may be invalid. */
export type Parties = {
  readonly author: Contained<'Person'> | undefined;
  readonly patient: Contained<'Patient'> | undefined;
  readonly requester: Contained<'Practitioner'> | undefined;
  readonly practice: Contained<'Organization'> | undefined;
  readonly performer: Contained<'Organization'> | undefined;
};

/** The identifier that is used for a resource: the first with a supported system that is not old. */
type ProcessedCode = {
  readonly system: string;
  /** Absent if it is not a text, which the schema reports. */
  readonly value: string | undefined;
  /** The path of the identifier: `contained[3].identifier[0]` */
  readonly path: string;
};

function codeOf(
  party: Contained<'Person' | 'Practitioner' | 'Organization'> | undefined,
  systems: IdentifierSystems<string>,
): ProcessedCode | undefined {
  const [first] = supportedIn(party?.resource, systems);
  return first && { ...first, path: `${party?.path}.identifier[${first.at}]` };
}

/** Returns the `codeKeyOf` of a code, or an empty text, which no directory contains. */
const keyOf = (code: ProcessedCode | undefined) =>
  code?.value === undefined ? '' : codeKeyOf({ system: code.system, value: code.value });

const agreedValues = {
  practice: 'the code of a practice agreed for this client',
  user: 'the login name of a user agreed for this practice',
  clinician: 'the code of an agreed clinician',
  performer: 'the code of an agreed performer',
};

/** A code of a payload, and whether it was agreed. Undefined means that every code of its kind is accepted. */
type Comparison = [keyof typeof agreedValues, ProcessedCode | undefined, boolean | undefined];

/** Returns true if an organisation with this code system can be a practice, not only a performer. */
export const isPracticeSystem = (system: string) => system !== 'performing-org';

/**
 * Creates the check of a payload against what was agreed with the client (OLTR: "values must be agreed"). The
 * Organization of the practice must have a practice code, not only a code that only performers may have. If a
 * practice binding is passed, it must contain the practice. A directory must contain the practice, the author
 * as a user of that practice, the clinician and the performer. The check reads the unvalidated payload, so
 * that all errors are reported together.
 */
export function createAgreementCheck(
  vocabulary: Vocabulary,
): (payload: unknown, parties: Parties, agreement: Agreement) => Fault[] {
  const { organization, practitioner, username } = vocabulary;
  const practiceSystems = new Map([...organization].filter(([, system]) => isPracticeSystem(system)));
  const userSystems = new Map([[username, 'username']]);
  const signIn = createSignInReader(vocabulary);

  const comparisonsWith = (
    { practices, clinicians, performers }: Directory,
    parties: Parties,
    practice: ProcessedCode | undefined,
  ): Comparison[] => {
    const agreed = practices?.get(keyOf(practice));
    const user = codeOf(parties.author, userSystems);
    const clinician = codeOf(parties.requester, practitioner);
    const performer = codeOf(parties.performer, organization);
    return [
      ['practice', practice, practices?.has(keyOf(practice))],
      // Checks the user only in an agreed practice, because the directory lists users for each practice.
      ['user', user, agreed?.users?.has(user?.value ?? '')],
      ['clinician', clinician, clinicians?.has(keyOf(clinician))],
      ['performer', performer, performers?.has(keyOf(performer))],
    ];
  };

  return (payload, parties, { practices: binding, directory, acrValues, sandbox = false }) => {
    const practice = codeOf(parties.practice, practiceSystems);
    const faults: Fault[] = [];
    if (practice === undefined && codeOf(parties.practice, organization) !== undefined) {
      const message = `must have an entry whose system is one of ${[...practiceSystems.keys()].join(', ')}`;
      faults.push({ path: `${parties.practice?.path}.identifier`, message, code: 'invariant' });
    }
    const refuse = ([kind, code, isAgreed]: Comparison) => {
      if (isAgreed !== false || code?.value === undefined) return;
      const path = `${code.path}.value`;
      // If neither the binding nor the directory contains the practice, reports the practice only once.
      if (faults.some((fault) => fault.path === path)) return;
      const message = `must be ${agreedValues[kind]}. Send an agreed value, or ask the operator to add this one`;
      faults.push({ path, message, code: 'business-rule' });
    };
    if (binding) refuse(['practice', practice, practice && isAgreedPractice(practice, binding)]);
    if (parties.author) faults.push(...signIn.agreedFaults(parties.author, acrValues));
    if (sandbox) faults.push(...syntheticPatientFaults(payload, vocabulary.patient));
    if (directory) comparisonsWith(directory, parties, practice).forEach(refuse);
    return faults;
  };
}

/**
 * Checks every NHS number in `contained` of a client that may send synthetic patients only. Also checks
 * resources without a reference to them.
 */
function syntheticPatientFaults(payload: unknown, patient: Vocabulary['patient']): Fault[] {
  return entriesOf(payload, 'contained').flatMap((resource, at) =>
    entriesOf(resource, 'identifier').flatMap((identifier, index) =>
      systemOf(identifier, patient) === 'nhs-number'
        ? syntheticNumberFaults(memberOf(identifier, 'value'), `contained[${at}].identifier[${index}].value`)
        : [],
    ),
  );
}
