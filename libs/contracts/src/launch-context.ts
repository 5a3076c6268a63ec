import { type CodedIdentifier, patientIdentifierSchema, practiceBindingSchema } from './coded-identifiers.ts';
import { closedObject, createParser, guidPattern, type StaticOf, withUnknownMembers } from './schema.ts';
import { signInSchema } from './sign-in.ts';
import { optionalText, Type } from './type.ts';

/** The eight actions, in the order of the OLTR specification ("Action definitions"). */
export const actions = [
  'OrderTest',
  'UpdateTest',
  'PatientSampleQueue',
  'PatientRequestList',
  'LocationSampleQueue',
  'PatientReport',
  'PatientReportList',
  'LocationReportList',
] as const;

export type Action = (typeof actions)[number];

/** The seconds after which a launch session ends regardless of its use: a working day. */
export const launchSessionSeconds = 12 * 3600;

const word = Type.String({ minLength: 1 });

const personNameSchema = closedObject({
  title: optionalText(),
  family: word,
  given: Type.Array(Type.String()),
});

export const patientSchema = closedObject({
  name: personNameSchema,
  previousFamilyName: optionalText(),
  /** The date of birth in the form YYYY-MM-DD. */
  birthDate: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }),
  gender: Type.Enum(['male', 'female', 'other', 'unknown']),
  address: closedObject({ lines: Type.Array(Type.String()), postalCode: optionalText() }),
  identifiers: Type.Array(patientIdentifierSchema),
  telecom: Type.Array(
    closedObject({
      system: Type.Enum(['phone', 'email']),
      value: Type.String(),
      use: Type.Optional(Type.Enum(['home', 'work', 'mobile'])),
    }),
  ),
});

/** A clinician who requests tests. */
export const practitionerSchema = closedObject({
  identifier: closedObject({ system: Type.Enum(['professional-code', 'local-staff-code']), value: word }),
  name: personNameSchema,
});

export const organizationSchema = closedObject({
  identifier: closedObject({
    system: Type.Enum(['ods-organization-code', 'local-org-code', 'performing-org']),
    value: word,
  }),
  name: word,
});

/**
 * The elements of a ServiceRequest that the tables of the specification list, and the sign-in. Other elements
 * are dropped.
 */
const launchRequestSchema = Type.Object({
  action: Type.Enum([...actions]),
  originatingId: Type.String(),
  /** A FHIR dateTime with offset, exactly as the caller wrote it. */
  authoredOn: Type.String(),
  author: Type.Object({ username: Type.String(), name: personNameSchema }),
  /** The sign-in of the author to the PMS, if the PMS sent it. */
  signIn: Type.Optional(signInSchema),
  patient: patientSchema,
  requester: practitionerSchema,
  practice: organizationSchema,
  performer: organizationSchema,
});

/**
 * The context of a launch token and of the launch session that the token opens. New members must be optional,
 * because tickets that older releases stored do not contain them.
 */
const launchContextSchema = Type.Object({
  /**
   * The GUID of the launch request. It is the correlation id of all later requests and events of the launch.
   */
  launchId: Type.String({ pattern: guidPattern }),
  /** The time at which the launch URL was issued, in milliseconds since 1970. */
  issuedAt: Type.Integer(),
  client: Type.Object({
    issuer: Type.String(),
    clientId: Type.String(),
    /** The origins whose pages may frame the application. By default, the list is empty. */
    frameAncestors: Type.Array(Type.String()),
    /** The origin to which the result page offers the order document by postMessage. */
    resultOrigin: optionalText(),
    /** The practices for which the client could launch when it sent the request. If absent, any practice. */
    practices: Type.Optional(practiceBindingSchema),
  }),
  request: launchRequestSchema,
  /** Whether the author may change the favourites and order sets of the practice. If absent, true. */
  isPracticeEditor: Type.Optional(Type.Boolean()),
});

const launchNoticeSchema = Type.Object({
  /** The registered page of the client for users whose launch was refused. */
  errorPage: optionalText(),
  /** Whether only a navigation or a form opens the launch. If absent, false. */
  requiresNavigation: Type.Optional(Type.Boolean()),
});

/**
 * Returns the challenge of a launch token whose client requires navigations. Only a request that may open
 * such a launch proves this challenge. Any other request counts as a mismatch, which leaves the token usable.
 */
export const navigationChallenge = (challenge: string): string => `navigate ${challenge}`;

export type PersonName = StaticOf<typeof personNameSchema>;
export type LaunchPatient = StaticOf<typeof patientSchema>;
export type LaunchPractitioner = StaticOf<typeof practitionerSchema>;
export type PractitionerIdentifierSystem = LaunchPractitioner['identifier']['system'];
export type LaunchOrganization = StaticOf<typeof organizationSchema>;
export type OrganizationIdentifierSystem = LaunchOrganization['identifier']['system'];
export type LaunchRequest = StaticOf<typeof launchRequestSchema>;
export type LaunchContext = StaticOf<typeof launchContextSchema> & {
  /** The earlier codes of the practice, which each process adds from its registry (`withEarlierCodes`). */
  readonly formerly?: readonly CodedIdentifier<'ods-organization-code' | 'local-org-code'>[];
};
export type LaunchNotice = StaticOf<typeof launchNoticeSchema>;

/**
 * Returns the content of a launch session as a launch context. Accepts unknown members, which a newer release
 * may have added.
 * @throws TypeError that lists the invalid paths, without values
 */
export const parseLaunchContext = createParser(withUnknownMembers(launchContextSchema), 'launch context');

/**
 * Returns the notice of a launch token. Accepts unknown members, which a newer release may have added.
 * @throws TypeError that lists the invalid paths, without values
 */
export const parseLaunchNotice = createParser(withUnknownMembers(launchNoticeSchema), 'launch notice');
