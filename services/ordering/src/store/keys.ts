import { createHash } from 'node:crypto';
import {
  type CodedIdentifier,
  codeKeyOf,
  inCapitals,
  isNational,
  isSure,
  nobodysPattern,
  type PracticeBinding,
} from '@clinical-launch/contracts/coded-identifiers';
import type { LaunchContext, LaunchPatient } from '@clinical-launch/contracts/launch-context';
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { type ActionRule, actionRules } from '../domain/action-rules.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingTables } from './database.ts';

/**
 * Limits a query to the requests that a launch can see. Every query for requests requires a `Visibility`, so a
 * URL cannot bypass the limits.
 */
export type Visibility = {
  /** Only requests that this launch submitted. */
  readonly launchId?: string;
  /** Only requests of this patient. */
  readonly patient?: SoughtPatient;
  /**
   * The key of the originating id that the launch names (`originatingKeyOf`). The request with this id is
   * visible whoever its patient is, because newborn babies and visitors have no number.
   */
  readonly namedKey?: string;
  /** The keys of a practice: of its code and of its earlier codes. */
  readonly practiceKeys?: readonly string[];
  /** Only requests of the practices to which the client is bound. */
  readonly practices?: BoundPractices;
};

type BoundPractices = { readonly client: TestRequest['client']; readonly binding: PracticeBinding };

type PatientNumber = LaunchPatient['identifiers'][number];

/**
 * The patient of a launch, for comparison with the patients of requests. A request is of the same patient if
 * one of the keys is equal, no number of the same kind differs, and the date of birth is equal.
 */
export type SoughtPatient = {
  /** The keys of the sure identifiers (`patientKeysOf`). */
  readonly keys: readonly string[];
  readonly numbers: readonly PatientNumber[];
  /** YYYY-MM-DD */
  readonly birthDate: string;
};

/** Returns the patient of a launch for a comparison with the patients of requests. */
export const soughtPatientOf = (parties: Parties, client: TestRequest['client']): SoughtPatient => ({
  keys: patientKeysOf(parties, client),
  numbers: nationalNumbersOf(parties.patient),
  birthDate: parties.patient.birthDate,
});

/**
 * Returns the `Visibility` of a launch. It depends on the launch's action and payload, never on a URL. If the
 * action opens a named request, includes that request.
 */
export function visibilityOf(context: LaunchContext): Visibility {
  const { client, request } = context;
  const { sees, opens } = actionRules[request.action];
  const visibility = visibilityUnder(sees, context);
  if (opens !== 'named-request') return visibility;
  return { ...visibility, namedKey: originatingKeyOf(client, request.originatingId) };
}

/** Returns the `Visibility` of a launch for this rule instead of the rule of its action. */
export function visibilityUnder(sees: ActionRule['sees'], context: LaunchContext): Visibility {
  const { launchId, client, request } = context;
  const patient = soughtPatientOf(request, client);
  const practiceKeys = practiceKeysOf(context);
  const bound = boundVisibilityOf(client);
  switch (sees) {
    case 'own':
      return { launchId };
    case 'patient':
      return { patient, ...bound };
    case 'patient-of-practice':
      return { patient, practiceKeys, ...bound };
    case 'practice':
      return { practiceKeys, ...bound };
  }
}

/**
 * Returns the part of a `Visibility` that limits a client to its practices. Empty for a client that may name
 * any practice.
 */
export function boundVisibilityOf({
  practices,
  ...client
}: LaunchContext['client']): Pick<Visibility, 'practices'> {
  return practices === undefined ? {} : { practices: { client, binding: practices } };
}

/** Returns a `Visibility` for each code of the practice, because an index sorts the requests of one code. */
export const ofEachCode = ({ practiceKeys, ...visibility }: Visibility): readonly Visibility[] =>
  practiceKeys?.map((key) => ({ ...visibility, practiceKeys: [key] })) ?? [visibility];

/** Returns the SQL condition that a request is visible. */
export function isVisible({ launchId, patient, namedKey, practiceKeys, practices }: Visibility) {
  return (by: ExpressionBuilder<OrderingTables, 'test_requests'>): Expression<SqlBool> =>
    by.and([
      ...(launchId === undefined ? [] : [by('test_requests.launch_id', '=', launchId)]),
      ...(practiceKeys === undefined ? [] : [by('test_requests.practice_key', 'in', practiceKeys)]),
      ...(practices === undefined ? [] : [isOfBoundPractice('test_requests', practices)]),
      ...(patient === undefined ? [] : [isOfPatient('test_requests', patient, namedKey)]),
    ]);
}

/** Returns the SQL condition that a request is of a patient, or that it has the key of the named request. */
export function isOfPatient(table: string, patient: SoughtPatient, namedKey?: string) {
  const hasKey = sql`${sql.ref(`${table}.patient_keys`)} && ${sql.val([...patient.keys])}::text[]`;
  const isOf = sql<SqlBool>`${hasKey} and ${isSamePerson(table, patient)}`;
  if (namedKey === undefined) return isOf;
  return sql<SqlBool>`((${isOf}) or ${sql.ref(`${table}.originating_key`)} = ${namedKey})`;
}

/**
 * Returns the SQL condition that a request with a key of a patient is of this patient. Without a date of
 * birth, compares only the numbers. Ignores numbers that identify nobody, also in requests of older releases.
 */
export function isSamePerson(
  table: string,
  { numbers, birthDate }: { readonly numbers: readonly PatientNumber[]; readonly birthDate?: string },
) {
  const differs = [
    ...(birthDate === undefined ? [] : ['@.birthDate != $birthDate']),
    ...numbers.map(({ system }, at) => {
      const isNobodys = `exists(@.isDoubtful) || @.value like_regex ${JSON.stringify(nobodysPattern(system))}`;
      const isOther = `@.system == $numbers[${at}].system && @.value != $numbers[${at}].value`;
      return `exists(@.identifiers[*] ? (${isOther} && !(${isNobodys})))`;
    }),
  ];
  if (differs.length === 0) return sql<SqlBool>`true`;
  // The planner regards one call of a function as hardly selective, so it reads a list in the order of an
  // index.
  return sql<SqlBool>`not jsonb_path_exists(
    ${sql.ref(`${table}.parties`)},
    ${sql.lit(`$.patient ? (${differs.join(' || ')})`)},
    ${JSON.stringify({ numbers, birthDate })}::jsonb)`;
}

/** Returns the SQL expression for the date of birth in a request, in the form YYYY-MM-DD. */
export const bornOn = (table: string) =>
  sql<string>`${sql.ref(`${table}.parties`)} -> 'patient' ->> 'birthDate'`;

/**
 * Returns the SQL condition that a request belongs to a practice to which the client is bound. A local code
 * is valid only within its issuer and client.
 */
export function isOfBoundPractice(table: string, { client, binding }: BoundPractices) {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const codes = (system: keyof PracticeBinding) => sql`${sql.val([...binding[system]])}::text[]`;
  return sql<SqlBool>`case ${column('practice_system')}
    when 'ods-organization-code'
      then upper(${column('practice_code')} collate "C") = any(${codes('ods-organization-code')})
    when 'local-org-code'
      then ${column('issuer')} = ${client.issuer} and ${column('client_id')} = ${client.clientId}
        and ${column('practice_code')} = any(${codes('local-org-code')})
    else false end`;
}

/**
 * Returns the sure national numbers of a patient with at least two identifiers. They exclude another patient
 * who has the same hospital number by mistake. For a patient with one identifier, the key alone is sufficient.
 */
function nationalNumbersOf({ identifiers }: Pick<LaunchPatient, 'identifiers'>): PatientNumber[] {
  const numbers = identifiers.filter((each) => isNational(each.system) && isSure(each));
  return identifiers.length < 2 ? [] : numbers;
}

type Parties = Pick<TestRequest['parties'], 'patient' | 'practice'>;

/**
 * Returns the SHA-256 of each sure identifier of a patient. A national identifier is unique everywhere. A
 * hospital number is unique only within the practice and the client that use it, because every hospital has a
 * number 42.
 */
export function patientKeysOf({ patient, practice }: Parties, client: TestRequest['client']): string[] {
  const local = [client.issuer, client.clientId, practice.identifier.system, codeOf(practice)];
  return patient.identifiers
    .filter(isSure)
    .map(({ system, value }) => keyOf(...(isNational(system) ? [] : local), system, value));
}

/**
 * Returns the SHA-256 that identifies a practice. An ODS code is unique nationally. Every other code is
 * unique only within the issuer and client that use it, because two vendors may each have a practice 0042.
 */
export function practiceKeyOf(
  practice: { readonly identifier: CodedIdentifier },
  { issuer, clientId }: TestRequest['client'],
): string {
  const { system } = practice.identifier;
  return keyOf(...(system === 'ods-organization-code' ? [] : [issuer, clientId]), system, codeOf(practice));
}

/** Returns the keys of a launch's practice: of its code and of its earlier codes. */
export const practiceKeysOf = ({ request, client, formerly = [] }: LaunchContext): string[] =>
  [request.practice, ...formerly.map((identifier) => ({ identifier }))].map((practice) =>
    practiceKeyOf(practice, client),
  );

/**
 * Returns the SHA-256 that identifies a practice's favourites and order sets for one catalogue. For the
 * default catalogue, which has no id, this is the key of the practice.
 */
export function choicesKeyOf(
  practice: { readonly identifier: CodedIdentifier },
  client: TestRequest['client'],
  catalogueId: string | undefined,
): string {
  const practiceKey = practiceKeyOf(practice, client);
  return catalogueId === undefined ? practiceKey : keyOf(practiceKey, catalogueId);
}

/**
 * Returns the SHA-256 that identifies a user's own favourites for one catalogue. A user name is unique only
 * within a practice and client, because a user of another practice may have the same name.
 */
export function userKeyOf(
  { practice, author }: Pick<LaunchContext['request'], 'practice' | 'author'>,
  client: TestRequest['client'],
  catalogueId: string | undefined,
): string {
  const choicesKey = choicesKeyOf(practice, client, catalogueId);
  return keyOf(choicesKey, client.issuer, client.clientId, author.username);
}

/**
 * Returns the SHA-256 that identifies the owner of a draft. A later launch may find the draft if all these
 * parts are equal: client, practice, laboratory, catalogue, user, and the patient's valid identifiers and
 * date of birth. Returns undefined for a patient without a valid identifier.
 */
export function draftOwnerKeyOf(
  { client, request }: Pick<LaunchContext, 'client' | 'request'>,
  catalogueId = '',
): string | undefined {
  const { author, patient, performer, practice } = request;
  const patientKeys = patientKeysOf({ patient, practice }, client).toSorted();
  if (patientKeys.length === 0) return undefined;
  const { issuer, clientId } = client;
  const laboratory = codeKeyOf(performer.identifier);
  const place = [issuer, clientId, practiceKeyOf(practice, client), laboratory, catalogueId];
  return keyOf('draft', ...place, author.username, patient.birthDate, ...patientKeys);
}

/**
 * Returns the SHA-256 of the user and the patient of a launch. Windows with the same key do not lock each
 * other. A list of a whole practice has no patient. A patient without a valid identifier is never the same
 * as another patient.
 */
export function subjectKeyOf({ launchId, client, request }: LaunchContext): string {
  const { practice, patient, action } = request;
  const userKey = userKeyOf(request, client, undefined);
  if (actionRules[action].sees === 'practice') return keyOf('practice', userKey);
  const patientKeys = patientKeysOf({ patient, practice }, client).toSorted();
  const identity = patientKeys.length === 0 ? [launchId] : patientKeys;
  return keyOf('patient', userKey, patient.birthDate, ...identity);
}

/** Returns the code of a practice for comparison. An ODS code is in capitals; other codes are unchanged. */
const codeOf = ({ identifier: { system, value } }: { readonly identifier: CodedIdentifier }) =>
  system === 'ods-organization-code' ? inCapitals(value) : value;

/** Returns the SHA-256 of an originating id with the issuer and client that chose the id. */
export const originatingKeyOf = ({ issuer, clientId }: TestRequest['client'], originatingId: string) =>
  keyOf(issuer, clientId, originatingId);

/** Returns a SHA-256. The parts are written as JSON, so that different lists of parts have different keys. */
const keyOf = (...parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
