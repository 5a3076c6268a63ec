import { isSure, spellingOf, syntheticNumberFaults } from './coded-identifiers.ts';
import type { Fault } from './fault.ts';
import { birthDateProblem, isCalendarDate, singleLine } from './formats.ts';
import { resourceName } from './resource-names.ts';
import { compileSchema, entriesOf, guidPattern, maxFaults, memberOf, withUnknownMembers } from './schema.ts';
import { signInMembers, signInSchema } from './sign-in.ts';
import { type Static, Type } from './type.ts';

const described = (pattern: string, description: string) => Type.String({ pattern, description });
/**
 * Returns the schema of one line of text. The text must not contain control characters or lone surrogates,
 * which XML and PostgreSQL refuse.
 */
const text = (maxLength: number) => Type.String({ ...singleLine, format: 'xml-text', maxLength });
const filledText = (maxLength: number) =>
  Type.String({ ...singleLine, format: 'xml-text', minLength: 1, maxLength });
/** Allows members of any name that the specification does not list, if their values are texts. */
const furtherTexts = {
  additionalProperties: Type.String({ format: 'xml-text', maxLength: 300 }),
  maxProperties: 50,
} as const;
const closed = { additionalProperties: false } as const;

/** The value of an identifier. The value of an EHR Partner ID is a number, which some hosts send as text. */
const identifierValue = Type.Unsafe<string | number>({
  description: 'A string. The value of an EHR Partner ID may be a number.',
  if: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  else: filledText(100),
});

const desktopUser = Type.Object(
  {
    userERN: resourceName,
    email: Type.String({
      pattern: '^[^\\s@]+@[^\\s@]+$',
      maxLength: 254,
      description: 'must be an e-mail address',
    }),
    title: text(35),
    firstName: text(100),
    familyName: filledText(100),
  },
  closed,
);

const desktopOrganisation = Type.Object(
  { orgERN: resourceName, orgName: filledText(200), cdb: filledText(50), ods: filledText(50) },
  closed,
);

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const desktopPatient = Type.Object(
  {
    title: text(35),
    forenames: text(200),
    surname: filledText(100),
    gender: filledText(30),
    dob: described(
      `^\\d{2}-(${months.join('|')})-\\d{4}$`,
      'must be a date written DD-Mon-YYYY, such as 28-Feb-1958',
    ),
    'patient-identifiers': Type.Array(
      Type.Object({ identifierType: filledText(50), identifierValue }, closed),
      { minItems: 1, maxItems: 20 },
    ),
    'address-details': Type.Array(Type.Object({ addressLine1: text(300) }, furtherTexts), { maxItems: 10 }),
    'contact-details': Type.Array(Type.Object({}, furtherTexts), { maxItems: 20 }),
  },
  closed,
);

const launched = {
  user: desktopUser,
  organisation: desktopOrganisation,
  /** The permissions of the user, in the form `<area>-<area>.<permission>`. */
  authorizations: Type.Array(
    Type.String({
      pattern: '^[A-Za-z0-9_]+-[A-Za-z0-9_]+\\.[A-Za-z0-9_]+$',
      maxLength: 100,
      description: 'must be a permission of the form <area>-<area>.<permission>',
    }),
    { maxItems: 200, uniqueItems: true },
  ),
  patient: desktopPatient,
};

/** The host application of a launch, in tokens and in the answers of the APIs. */
export const launchedBy = Type.Object(
  { iss: Type.String(), client_id: Type.String() },
  { description: 'The host application of the launch: the issuer of its tokens, and its client id.' },
);

/** The request of a host application to launch a partner application for a user and a patient. */
export const desktopLaunchSchema = Type.Object(
  {
    client_id: Type.String({ maxLength: 200 }),
    ...launched,
    /** If true, the identity provider requests the registered launchUrl. Otherwise the host opens the URL. */
    call: Type.Optional(Type.Boolean()),
    ...signInMembers,
  },
  closed,
);

/**
 * The context of a desktop launch. The tickets of the launch identifier, the authorization code and the
 * refresh tokens contain it.
 */
const desktopContext = Type.Object(
  {
    /**
     * The GUID of the launch request. It is the correlation id of all later requests and events of the
     * launch.
     */
    launchId: Type.String({ pattern: guidPattern }),
    realm: Type.String(),
    clientId: Type.String(),
    /** The time at which the host application requested the launch, in seconds since 1970. */
    authTime: Type.Integer(),
    /** The host application. Absent in launches that a release without this member issued. */
    launched_by: Type.Optional(launchedBy),
    /** The sign-in of the user, if the host application sent it. */
    signIn: Type.Optional(signInSchema),
    ...launched,
  },
  closed,
);

export type DesktopLaunch = Static<typeof desktopLaunchSchema>;
export type DesktopContext = Static<typeof desktopContext>;
export type DesktopPatient = Static<typeof desktopPatient>;

const compiledLaunch = compileSchema(desktopLaunchSchema);
const compiledContext = compileSchema(withUnknownMembers(desktopContext));

/**
 * The maximum total size in bytes (JSON, UTF-8) of user, organisation, patient and authorizations. Access
 * tokens contain these members, and an access token must fit in the headers of a request.
 */
export const maxLaunchedBytes = 5000;

const patientContextVersion = '1.0.0';

/**
 * Reads the body of a launch request. If the body is invalid, returns all errors, up to `maxFaults`. The
 * errors contain no values.
 * @param now the current time in milliseconds since 1970. A later date of birth is an error
 */
export function readDesktopLaunch(
  body: unknown,
  now: number = Date.now(),
): { readonly launch: DesktopLaunch } | { readonly faults: readonly Fault[] } {
  const faults = [...compiledLaunch.faultsOf(body), ...faultsOfValues(body, now)].slice(0, maxFaults);
  if (faults.length === 0 && compiledLaunch.is(body)) return { launch: body };
  return { faults };
}

/**
 * Returns true if the content of a ticket is the context of a desktop launch. Accepts members that a newer
 * release may have added.
 */
export function isDesktopContext(value: unknown): value is DesktopContext {
  return compiledContext.is(value);
}

/**
 * Returns the patient as the array that the ID token's claim `authorizationDetails` contains as JSON text
 * (Desktop: ID token claims).
 */
export function patientContext(patient: DesktopPatient) {
  return [{ type: 'patient-context', version: patientContextVersion, ...patient }];
}

/** Returns the ID token's claim `authorizationDetails`. */
export const patientContextJson = (patient: DesktopPatient): string =>
  JSON.stringify(patientContext(patient));

/**
 * Returns the date of birth as YYYY-MM-DD, or undefined if it is not written DD-Mon-YYYY. Does not check that
 * the day exists.
 */
export function birthDateOf(dob: string): string | undefined {
  const [, day = '', month = '', year = ''] = /^(\d{2})-([A-Z][a-z]{2})-(\d{4})$/.exec(dob) ?? [];
  const number = months.indexOf(month) + 1;
  return number === 0 ? undefined : `${year}-${String(number).padStart(2, '0')}-${day}`;
}

/** Returns the digits of an NHS number that identifies one patient, or undefined for any other identifier. */
export function nhsNumberOf({
  identifierType,
  identifierValue,
}: DesktopPatient['patient-identifiers'][number]): string | undefined {
  if (identifierType !== 'NHS Number' || typeof identifierValue === 'number') return undefined;
  const identifier = { system: 'nhs-number', value: identifierValue } as const;
  return isSure(identifier) ? spellingOf(identifier) : undefined;
}

/**
 * Checks every NHS number of a launch request of a host application that may send synthetic patients only.
 * Ignores the case of the identifier type, because the schema accepts any text as a type.
 */
export function syntheticPatientFaults(body: unknown): Fault[] {
  const identifiers = entriesOf(memberOf(body, 'patient'), 'patient-identifiers');
  return identifiers.flatMap((identifier, index) => {
    const type = memberOf(identifier, 'identifierType');
    if (typeof type !== 'string' || type.toLowerCase() !== 'nhs number') return [];
    const path = `patient.patient-identifiers[${index}].identifierValue`;
    return syntheticNumberFaults(memberOf(identifier, 'identifierValue'), path);
  });
}

/**
 * Checks the rules that the schema cannot express. Reads the unvalidated body, so that a caller receives the
 * errors of these rules and of the schema together.
 */
function faultsOfValues(body: unknown, now: number): Fault[] {
  const patient = memberOf(body, 'patient');
  const identifiers = entriesOf(patient, 'patient-identifiers');
  return [
    ...dayFaults(memberOf(patient, 'dob'), now),
    ...identifiers.flatMap((identifier, index) =>
      identifierFaults(identifier, `patient.patient-identifiers[${index}].identifierValue`),
    ),
    ...sizeFaults(body),
  ];
}

function dayFaults(dob: unknown, now: number): Fault[] {
  const date = birthDateOf(typeof dob === 'string' ? dob : '');
  // The schema reports a malformed date.
  if (date === undefined) return [];
  const path = 'patient.dob';
  if (!isCalendarDate(date)) return [{ path, message: 'must be a date that exists', code: 'value' }];
  const message = birthDateProblem(date, now);
  return message === undefined ? [] : [{ path, message, code: 'value' }];
}

/** The pattern of each identifier type in the specification. Other types may have any value. */
const identifierForms: ReadonlyMap<unknown, { readonly form: RegExp; readonly message: string }> = new Map([
  ['GUID', { form: new RegExp(guidPattern, 'i'), message: 'must be a GUID' }],
  ['EHR Partner ID', { form: /^\d+$/, message: 'must be a number' }],
  ['NHS Number', { form: /^\d{3} ?\d{3} ?\d{4}$/, message: 'must have ten digits' }],
]);

function identifierFaults(identifier: unknown, path: string): Fault[] {
  const type = memberOf(identifier, 'identifierType');
  const kind = identifierForms.get(type);
  const value = memberOf(identifier, 'identifierValue');
  if (typeof value === 'number' && type !== 'EHR Partner ID')
    return [{ path, message: 'must be of type string', code: 'structure' }];
  if (kind === undefined || typeof value !== 'string' || value === '' || kind.form.test(value)) return [];
  return [{ path, message: kind.message, code: 'value' }];
}

function sizeFaults(body: unknown): Fault[] {
  const carried = ['user', 'organisation', 'authorizations', 'patient'].map((name) => memberOf(body, name));
  if (Buffer.byteLength(JSON.stringify(carried)) <= maxLaunchedBytes) return [];
  const message = `together with user, organisation and authorizations must have at most ${maxLaunchedBytes} bytes`;
  return [{ path: 'patient', message, code: 'too-long' }];
}
