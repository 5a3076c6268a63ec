import {
  identifierFault,
  isNational,
  type PatientIdentifierSystem,
  readPatientIdentifier,
} from '../coded-identifiers.ts';
import type { Fault } from '../fault.ts';
import { bareCode, birthDateProblem, isCalendarDate } from '../formats.ts';
import type {
  LaunchOrganization,
  LaunchPatient,
  LaunchPractitioner,
  LaunchRequest,
} from '../launch-context.ts';
import { compileSchema, entriesOf, memberOf, textsAmong, withoutUndefined } from '../schema.ts';
import type { SignIn } from '../sign-in.ts';
import { type Static, type TProperties, type TSchema, Type } from '../type.ts';
import {
  anyFamily,
  codedIdentifiersIn,
  containedReference,
  element,
  familyFaults,
  givenNameFaults,
  humanName,
  id,
  identifierFaults,
  identifierOf,
  identifierSuchAs,
  implicitRules,
  listOf,
  modifier,
  nameText,
  personNameFrom,
  placeholderFaults,
  requiredGiven,
  systemOf,
  text,
  textOrNull,
} from './elements.ts';
import type { IdentifierSystems, Vocabulary } from './identifier-systems.ts';
import { createSignInReader } from './sign-in-extension.ts';

/** The supported elements of each contained resource type. References are resolved in the payload. */
export type ResourceContents = {
  Person: LaunchRequest['author'] & { readonly signIn?: SignIn };
  Patient: LaunchPatient;
  PractitionerRole: object;
  Practitioner: LaunchPractitioner;
  /** Contains all supported identifiers, because the role of an organisation decides which code is used. */
  Organization: { readonly name: string; readonly identifiers: readonly LaunchOrganization['identifier'][] };
};

export type ResourceType = keyof ResourceContents;

type Resource<Content> = {
  readonly schema: TSchema;
  /**
   * Returns the supported elements of a valid resource. For an invalid resource, returns all errors, with
   * paths relative to the resource. @param now milliseconds since 1970
   */
  read(resource: unknown, now: number): { faults: Fault[]; content?: Content | undefined };
};

export type Resources = { readonly [Type in ResourceType]: Resource<ResourceContents[Type]> };

/** `strict` requires national identifiers to be valid in their system. `lenient` accepts any text. */
export type IdentifierCheck = 'lenient' | 'strict';

const contained = <P extends TProperties>(properties: P) => element({ id, ...properties, implicitRules });

function resource<S extends TSchema, Content>(
  schema: S,
  crossingFaults: (resource: unknown, now: number) => Fault[],
  contentFrom: (resource: Static<S>) => Content | undefined,
): Resource<Content> {
  const structure = compileSchema(schema);
  return {
    schema,
    read: (resource, now) => {
      const crossing = crossingFaults(resource, now);
      return structure.is(resource) && crossing.length === 0
        ? { faults: [], content: contentFrom(resource) }
        : { faults: [...structure.faultsOf(resource), ...crossing] };
    },
  };
}

/**
 * Creates the five contained resource types (OLTR: Resources and their fields). Call this function once,
 * because the readers compile their schemas.
 */
export const createResources = (vocabulary: Vocabulary, check: IdentifierCheck = 'lenient'): Resources => ({
  Person: person(vocabulary),
  Patient: patient(vocabulary, check),
  PractitionerRole: resource(
    contained({ practitioner: containedReference, organization: containedReference }),
    () => [],
    () => ({}),
  ),
  Practitioner: practitioner(vocabulary),
  Organization: organization(vocabulary),
});

function person(vocabulary: Vocabulary) {
  const signIn = createSignInReader(vocabulary);
  return resource(
    contained({
      name: listOf(element({ ...humanName(['usual']), given: requiredGiven }), 1, 1),
      identifier: listOf(identifierOf([vocabulary.username]), 1, 1),
    }),
    (candidate, now) => [
      ...placeholderFaults(candidate),
      ...givenNameFaults(candidate),
      ...signIn.faultsOf(candidate, now),
    ],
    (valid) => {
      const [[name], [identifier]] = [valid.name, valid.identifier];
      if (name === undefined || identifier === undefined) return undefined;
      const author = { username: bareCode(identifier.value), name: personNameFrom(name) };
      return { ...author, ...withoutUndefined({ signIn: signIn.find(valid) }) };
    },
  );
}

const address = element({
  use: Type.Enum(['home']),
  type: Type.Enum(['physical']),
  line: Type.Optional(Type.Array(textOrNull(70), { maxItems: 5 })),
  postalCode: Type.Optional(text(10)),
});

const contactPoint = element({
  system: Type.Enum(['phone', 'email']),
  value: text(),
  use: Type.Optional(Type.Enum(['home', 'work', 'mobile'])),
});

const currentLinks = modifier(
  {
    type: 'array',
    contains: { type: 'object', properties: { type: { const: 'replaced-by' } }, required: ['type'] },
  },
  'must not have the type replaced-by. Send the Patient that replaces this one',
);

function patient({ patient: systems }: Vocabulary, check: IdentifierCheck) {
  return resource(
    contained({
      name: listOf(element({ ...humanName(['usual', 'old']), family: anyFamily }), 1, 2),
      birthDate: Type.String({ format: 'calendar-date' }),
      gender: Type.Enum(['male', 'female', 'other', 'unknown']),
      address: listOf(address, 1, 1),
      identifier: listOf(identifierOf(systems.keys()), 1, 2),
      telecom: Type.Optional(Type.Array(contactPoint, { maxItems: 4 })),
      link: currentLinks,
    }),
    (candidate, now) => [
      ...patientUseFaults(candidate),
      ...placeholderFaults(candidate),
      ...familyFaults(candidate),
      ...birthDateFaults(candidate, now),
      ...patientIdentifierFaults(candidate, systems, check),
      ...givenNameFaults(candidate),
    ],
    (valid): LaunchPatient | undefined => {
      const usual = valid.name.find(({ use }) => use === 'usual');
      const [home] = valid.address;
      if (usual === undefined || home === undefined) return undefined;
      const previous = valid.name.find(({ use }) => use === 'old');
      return {
        name: personNameFrom(usual),
        ...withoutUndefined({ previousFamilyName: previous?.family }),
        birthDate: valid.birthDate,
        gender: valid.gender,
        address: {
          lines: textsAmong(home.line ?? []),
          ...withoutUndefined({ postalCode: home.postalCode }),
        },
        identifiers: codedIdentifiersIn(valid, systems).map(readPatientIdentifier),
        telecom: (valid.telecom ?? []).map(({ system, value, use }) => ({
          system,
          value,
          ...withoutUndefined({ use }),
        })),
      };
    },
  );
}

/** Checks that a patient has one usual name and at most one previous (old) name (OLTR: Patient.name). */
function patientUseFaults(candidate: unknown): Fault[] {
  const uses = entriesOf(candidate, 'name').map((name) => memberOf(name, 'use'));
  const areCountable =
    uses.length > 0 && uses.length <= 2 && uses.every((use) => use === 'usual' || use === 'old');
  if (!areCountable || uses.filter((use) => use === 'usual').length === 1) return [];
  return [{ path: 'name', message: 'must have exactly one entry whose use is usual', code: 'invariant' }];
}

/** Checks that `birthDate` is plausible (OLTR: Patient.birthDate). */
function birthDateFaults(candidate: unknown, now: number): Fault[] {
  const birthDate = memberOf(candidate, 'birthDate');
  if (typeof birthDate !== 'string' || !isCalendarDate(birthDate)) return [];
  const message = birthDateProblem(birthDate, now);
  return message === undefined ? [] : [{ path: 'birthDate', message, code: 'value' }];
}

/**
 * Checks that two identifiers are a national identifier and a hospital number (OLTR: Patient.identifier).
 * With `strict`, also checks each value.
 */
function patientIdentifierFaults(
  candidate: unknown,
  systems: IdentifierSystems<PatientIdentifierSystem>,
  check: IdentifierCheck,
): Fault[] {
  const identifiers = entriesOf(candidate, 'identifier').map((identifier) => ({
    system: systemOf(identifier, systems),
    value: memberOf(identifier, 'value'),
  }));
  const [first, second] = identifiers.map(({ system }) => system);
  const isOneOfEach = first === undefined || second === undefined || isNational(first) !== isNational(second);
  const message = 'must be a national identifier, a hospital number, or one of each';
  const repeated: Fault[] =
    isOneOfEach || identifiers.length > 2 ? [] : [{ path: 'identifier', message, code: 'invariant' }];
  if (check === 'lenient') return repeated;
  const doubts = identifiers.flatMap(({ system, value }, index): Fault[] => {
    const doubt = system && typeof value === 'string' ? identifierFault({ system, value }) : undefined;
    return doubt === undefined ? [] : [{ path: `identifier[${index}].value`, message: doubt, code: 'value' }];
  });
  return [...repeated, ...doubts];
}

function practitioner({ practitioner: systems }: Vocabulary) {
  // An error about a missing `use` lists only the examples.
  const uses = humanName(['usual', 'official', 'temp', 'nickname', 'anonymous', 'old', 'maiden'], {
    examples: ['usual'],
  });
  return resource(
    contained({
      identifier: listOf(identifierSuchAs(systems.keys()), 1),
      name: listOf(element({ ...uses, family: anyFamily }), 1),
    }),
    (candidate) => [
      ...identifierFaults(candidate, [...systems.keys()]),
      ...practitionerUseFaults(candidate),
      ...placeholderFaults(candidate),
      ...familyFaults(candidate),
      ...givenNameFaults(candidate),
    ],
    (valid): LaunchPractitioner | undefined => {
      const [identifier] = codedIdentifiersIn(valid, systems);
      const name = valid.name.find(({ use }) => use === 'usual');
      return identifier && name && { identifier, name: personNameFrom(name) };
    },
  );
}

/** Checks that at least one name of a practitioner is usual (OLTR: Practitioner.name). */
function practitionerUseFaults(candidate: unknown): Fault[] {
  const uses = entriesOf(candidate, 'name').map((name) => memberOf(name, 'use'));
  const areCountable = uses.length > 0 && uses.every((use) => typeof use === 'string');
  if (!areCountable || uses.includes('usual')) return [];
  return [{ path: 'name', message: 'must have an entry whose use is usual', code: 'invariant' }];
}

const organization = ({ organization: systems }: Vocabulary) =>
  resource(
    contained({ identifier: listOf(identifierSuchAs(systems.keys()), 1), name: nameText() }),
    (candidate) => identifierFaults(candidate, [...systems.keys()]),
    (valid) => ({ name: valid.name, identifiers: codedIdentifiersIn(valid, systems) }),
  );
