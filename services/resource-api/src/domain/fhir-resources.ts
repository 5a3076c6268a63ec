import { birthDateOf, type DesktopPatient, nhsNumberOf } from '@clinical-launch/contracts/desktop-context';
import type { FhirResourceType, TokenContext } from '@clinical-launch/contracts/token-context';

// Creates the elements of FHIR R4 that UK Core marks as must-support, if the launch context contains their
// values. UK Core requires no other element. FHIR has no empty texts and no empty lists, so such elements
// are absent.

/** Returns the canonical address of the UK Core profile of a type, to which our resources conform. */
export const ukCoreProfile = (type: FhirResourceType): string =>
  `https://fhir.hl7.org.uk/StructureDefinition/UKCore-${type}`;

const uriSystem = 'urn:ietf:rfc:3986';

/**
 * Returns the elements of the Patient. Omits members of the launch context that the tables below do not list,
 * because a wrong element would be worse than none. `/resource/patient` contains all members.
 */
export function patientOf({ patient }: TokenContext, nhsNamespace: string) {
  const { title, forenames, surname, gender, dob } = patient;
  return filled({
    identifier: identifiersOf(patient['patient-identifiers'], nhsNamespace),
    name: [nameOf(title, forenames.split(/\s+/), surname)],
    telecom: patient['contact-details'].flatMap(telecomOf),
    gender: genders[gender.toLowerCase()] ?? 'unknown',
    birthDate: birthDateOf(dob),
    address: patient['address-details'].flatMap(addressOf),
  });
}

/** Returns the elements of the Practitioner, who is the user of the launch. */
export function practitionerOf({ user: { userERN, title, firstName, familyName, email } }: TokenContext) {
  return filled({
    identifier: [{ system: uriSystem, value: userERN }],
    name: [nameOf(title, [firstName], familyName)],
    telecom: [{ system: 'email', value: email, use: 'work' }],
  });
}

/** Returns the elements of the Organization in which the user works. */
export function organizationOf(
  { organisation: { orgERN, orgName, ods } }: TokenContext,
  nhsNamespace: string,
) {
  return {
    identifier: [
      { system: `${nhsNamespace}/Id/ods-organization-code`, value: ods },
      { system: uriSystem, value: orgERN },
    ],
    name: orgName,
  };
}

/** The administrative gender of each text that hosts send. Any other text is `unknown`. */
const genders: Readonly<Record<string, string>> = {
  male: 'male',
  m: 'male',
  female: 'female',
  f: 'female',
  other: 'other',
  indeterminate: 'other',
};

function nameOf(title: string, given: readonly string[], family: string) {
  return filled({
    use: 'official',
    family,
    given: given.filter((part) => part !== ''),
    prefix: title === '' ? [] : [title],
  });
}

type DesktopIdentifiers = DesktopPatient['patient-identifiers'];

/**
 * Returns the identifiers. The first valid NHS number, which also determines the id of the Patient, has the
 * national system. UK Core allows only one NHS number.
 */
function identifiersOf(identifiers: DesktopIdentifiers, nhsNamespace: string) {
  const [national] = identifiers.flatMap((identifier) => nhsNumberOf(identifier) ?? []);
  if (national === undefined) return identifiers.map(ownIdentifier);
  const others = identifiers.filter((identifier) => nhsNumberOf(identifier) !== national);
  return [{ system: `${nhsNamespace}/Id/nhs-number`, value: national }, ...others.map(ownIdentifier)];
}

/**
 * Returns an identifier of the host. The system of an identifier that is not a GUID is unknown, so its type
 * is a text.
 */
function ownIdentifier({ identifierType, identifierValue }: DesktopIdentifiers[number]) {
  const value = String(identifierValue);
  return identifierType === 'GUID'
    ? { system: uriSystem, value: `urn:uuid:${value.toLowerCase()}` }
    : { type: { text: identifierType }, value };
}

/**
 * Maps the members of an address, by name in lower case, to FHIR elements. `addressOf` adds the lines by
 * their number.
 */
const addressElements: Readonly<Record<string, string>> = {
  town: 'city',
  city: 'city',
  county: 'district',
  postcode: 'postalCode',
  postalcode: 'postalCode',
  country: 'country',
};

/**
 * Returns a list with the address, whose lines are in the order of their numbers. Returns an empty list if
 * the address is empty.
 */
function addressOf(details: DesktopPatient['address-details'][number]) {
  const members = membersOf(details);
  const line = members
    .flatMap(([name, value]) => {
      const [, number] = /^addressline(\d+)$/.exec(name) ?? [];
      return number === undefined ? [] : [[Number(number), value] as const];
    })
    .toSorted(([first], [second]) => first - second)
    .map(([, value]) => value);
  const others = members.flatMap(([name, value]) => {
    const element = addressElements[name];
    return element === undefined ? [] : [[element, value]];
  });
  const address = filled({ line, ...Object.fromEntries(others) });
  return Object.keys(address).length === 0 ? [] : [address];
}

/** Maps the members of a contact, by name in lower case, to the system and use of a ContactPoint. */
const contactPoints: Readonly<Record<string, { readonly system: string; readonly use?: string }>> = {
  email: { system: 'email' },
  emailaddress: { system: 'email' },
  phone: { system: 'phone' },
  telephone: { system: 'phone' },
  homephone: { system: 'phone', use: 'home' },
  hometelephone: { system: 'phone', use: 'home' },
  workphone: { system: 'phone', use: 'work' },
  worktelephone: { system: 'phone', use: 'work' },
  mobile: { system: 'phone', use: 'mobile' },
  mobilephone: { system: 'phone', use: 'mobile' },
};

function telecomOf(details: DesktopPatient['contact-details'][number]) {
  return membersOf(details).flatMap(([name, value]) => {
    const point = contactPoints[name];
    return point === undefined ? [] : [{ ...point, value }];
  });
}

const membersOf = (details: object): [name: string, value: string][] =>
  Object.entries(details).flatMap(([name, value]) =>
    typeof value === 'string' && value.trim() !== '' ? [[name.toLowerCase(), value.trim()]] : [],
  );

/** Returns an element without its empty texts and lists. */
export function filled(element: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(element).filter(([, value]) => !isEmpty(value)));
}
