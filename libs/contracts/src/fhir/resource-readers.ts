import { type CodedIdentifier, readPatientIdentifier } from '../coded-identifiers.ts';
import type { Fault } from '../fault.ts';
import { bareCode } from '../formats.ts';
import type {
  LaunchOrganization,
  LaunchPatient,
  LaunchPractitioner,
  LaunchRequest,
  PersonName,
} from '../launch-context.ts';
import { compileSchema, textsAmong, withoutUndefined } from '../schema.ts';
import type { SignIn } from '../sign-in.ts';
import type { Static, TSchema } from '../type.ts';
import type { IdentifierSystems, Vocabulary } from './identifier-systems.ts';
import {
  birthDateFaults,
  familyFaults,
  givenNameFaults,
  type IdentifierCheck,
  identifierFaults,
  isOld,
  patientIdentifierFaults,
  patientUseFaults,
  placeholderFaults,
  practitionerUseFaults,
} from './resource-rules.ts';
import type { Accepted, ResourceSchemas } from './resource-schemas.ts';
import type { SignInReader } from './sign-in-extension.ts';

/**
 * The supported elements of each contained resource type. A PractitionerRole contains its references as
 * text.
 */
export type ResourceContents = {
  Person: LaunchRequest['author'] & { readonly signIn?: SignIn };
  Patient: LaunchPatient;
  PractitionerRole: { readonly practitioner: string; readonly organization: string };
  Practitioner: LaunchPractitioner;
  /** Contains all supported identifiers, because the role of an organisation decides which code is used. */
  Organization: { readonly name: string; readonly identifiers: readonly LaunchOrganization['identifier'][] };
};

export type ResourceType = keyof ResourceContents;

/**
 * Returns the supported elements of a valid resource. For an invalid resource, returns all errors, with paths
 * relative to the resource.
 */
export type ResourceReader<Content> = (resource: unknown) => {
  faults: Fault[];
  content?: Content | undefined;
};

export type ResourceReaders = { readonly [Type in ResourceType]: ResourceReader<ResourceContents[Type]> };

/** The clock for checks of dates of birth and sign-in times. `now` returns milliseconds since 1970. */
export type Today = { now(): number };

type ReaderOptions = {
  readonly vocabulary: Vocabulary;
  readonly signIn: SignInReader;
  readonly schemas: ResourceSchemas;
  readonly clock: Today;
  readonly identifierCheck: IdentifierCheck;
};

/**
 * Creates the readers of the five contained resource types. Call this function once, because it compiles
 * their schemas.
 */
export function createResourceReaders({
  vocabulary,
  signIn,
  schemas,
  clock,
  identifierCheck,
}: ReaderOptions): ResourceReaders {
  const practitionerSystems = [...vocabulary.practitioner.keys()];
  const organizationSystems = [...vocabulary.organization.keys()];
  return {
    Person: createReader(
      schemas.person,
      (person) => [
        ...placeholderFaults(person),
        ...givenNameFaults(person),
        ...signIn.faultsOf(person, clock.now()),
      ],
      (person) => authorFrom(person, signIn.find(person)),
    ),
    Patient: createReader(
      schemas.patient,
      (patient) => [
        ...patientUseFaults(patient),
        ...placeholderFaults(patient),
        ...familyFaults(patient),
        ...birthDateFaults(patient, clock.now()),
        ...patientIdentifierFaults(patient, vocabulary.patient, identifierCheck),
        ...givenNameFaults(patient),
      ],
      (patient) => patientFrom(patient, vocabulary),
    ),
    PractitionerRole: createReader(
      schemas.practitionerRole,
      () => [],
      ({ practitioner, organization }) => ({
        practitioner: practitioner.reference,
        organization: organization.reference,
      }),
    ),
    Practitioner: createReader(
      schemas.practitioner,
      (practitioner) => [
        ...identifierFaults(practitioner, practitionerSystems),
        ...practitionerUseFaults(practitioner),
        ...placeholderFaults(practitioner),
        ...familyFaults(practitioner),
        ...givenNameFaults(practitioner),
      ],
      (practitioner) => practitionerFrom(practitioner, vocabulary),
    ),
    Organization: createReader(
      schemas.organization,
      (organization) => identifierFaults(organization, organizationSystems),
      (organization) => organizationFrom(organization, vocabulary),
    ),
  };
}

function createReader<S extends TSchema, Content>(
  schema: S,
  crossingFaults: (resource: unknown) => Fault[],
  contentFrom: (resource: Static<S>) => Content | undefined,
): ResourceReader<Content> {
  const structure = compileSchema(schema);
  return (resource) => {
    const crossing = crossingFaults(resource);
    return structure.is(resource) && crossing.length === 0
      ? { faults: [], content: contentFrom(resource) }
      : { faults: [...structure.faultsOf(resource), ...crossing] };
  };
}

function authorFrom(
  { name: [name], identifier: [identifier] }: Accepted<'person'>,
  signIn: SignIn | undefined,
): ResourceContents['Person'] | undefined {
  return (
    name &&
    identifier && {
      username: bareCode(identifier.value),
      name: personNameFrom(name),
      ...withoutUndefined({ signIn }),
    }
  );
}

function patientFrom(patient: Accepted<'patient'>, vocabulary: Vocabulary): LaunchPatient | undefined {
  const usual = patient.name.find(({ use }) => use === 'usual');
  const previous = patient.name.find(({ use }) => use === 'old');
  const [address] = patient.address;
  if (usual === undefined || address === undefined) return undefined;
  return {
    name: personNameFrom(usual),
    ...withoutUndefined({ previousFamilyName: previous?.family }),
    birthDate: patient.birthDate,
    gender: patient.gender,
    address: {
      lines: textsAmong(address.line ?? []),
      ...withoutUndefined({ postalCode: address.postalCode }),
    },
    identifiers: supportedAmong(patient.identifier, vocabulary.patient).map(readPatientIdentifier),
    telecom: (patient.telecom ?? []).map(({ system, value, use }) => ({
      system,
      value,
      ...withoutUndefined({ use }),
    })),
  };
}

function practitionerFrom(
  { identifier: identifiers, name: names }: Accepted<'practitioner'>,
  vocabulary: Vocabulary,
): LaunchPractitioner | undefined {
  const [identifier] = supportedAmong(identifiers, vocabulary.practitioner);
  const name = names.find(({ use }) => use === 'usual');
  return identifier && name && { identifier, name: personNameFrom(name) };
}

function organizationFrom(
  { identifier: identifiers, name }: Accepted<'organization'>,
  vocabulary: Vocabulary,
): ResourceContents['Organization'] {
  return { name, identifiers: supportedAmong(identifiers, vocabulary.organization) };
}

function personNameFrom({ prefix, family, given }: Accepted<'practitioner'>['name'][number]): PersonName {
  const [title] = textsAmong(prefix ?? []);
  return { ...withoutUndefined({ title }), family, given: textsAmong(given ?? []) };
}

function supportedAmong<Name extends string>(
  identifiers: readonly { readonly system: string; readonly value: string }[],
  systems: IdentifierSystems<Name>,
): CodedIdentifier<Name>[] {
  return identifiers.flatMap((identifier) => {
    const { system: uri, value } = identifier;
    const system = systems.get(uri);
    return system === undefined || isOld(identifier) ? [] : [{ system, value: bareCode(value) }];
  });
}
