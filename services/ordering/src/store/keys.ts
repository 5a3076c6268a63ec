import { createHash } from 'node:crypto';
import type { CodedIdentifier, LaunchContext, LaunchPatient } from '@clinical-launch/contracts';
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { actionRules } from '../domain/action-rules.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { OrderingTables } from './database.ts';

/** Which requests a launch can see at all. Every query for requests takes one, so that no address leads past it. */
export type Sight = {
  /** Those that this launch made. */
  readonly launchId?: string;
  /** Those of the patient with one of these keys. */
  readonly patientKeys?: readonly string[];
  /** Not those that have another number of one of these kinds: they are another person's, whatever else is alike. */
  readonly patientNumbers?: readonly PatientNumber[];
  readonly practiceKey?: string;
};

type PatientNumber = LaunchPatient['identifiers'][number];

/** What a launch sees, by the rule of its action and by what its caller sent, whatever a URL says. */
export function sightOf({ launchId, client, request }: LaunchContext): Sight {
  const { patient, practice } = request;
  const patientKeys = patientKeysOf({ patient, practice }, client);
  const patientNumbers = nationalNumbersOf(patient);
  const practiceKey = practiceKeyOf(practice);
  switch (actionRules[request.action].sees) {
    case 'own':
      return { launchId };
    case 'patient':
      return { patientKeys, patientNumbers };
    case 'patient-of-practice':
      return { patientKeys, patientNumbers, practiceKey };
    case 'practice':
      return { practiceKey };
  }
}

/** The condition of a query that holds for what is seen. */
export function isInSight({ launchId, patientKeys, patientNumbers = [], practiceKey }: Sight) {
  return (by: ExpressionBuilder<OrderingTables, 'test_requests'>): Expression<SqlBool> =>
    by.and([
      ...(launchId === undefined ? [] : [by('test_requests.launch_id', '=', launchId)]),
      ...(practiceKey === undefined ? [] : [by('test_requests.practice_key', '=', practiceKey)]),
      ...(patientKeys === undefined
        ? []
        : [sql<SqlBool>`test_requests.patient_keys && ${sql.val([...patientKeys])}::text[]`]),
      ...patientNumbers.map((number) => sql<SqlBool>`not ${hasOtherNumber('test_requests.parties', number)}`),
    ]);
}

/** Whether the patient of a request has another number of this kind. */
export const hasOtherNumber = (
  parties: string,
  { system, value }: PatientNumber,
) => sql<SqlBool>`jsonb_path_exists(
  ${sql.ref(parties)}, '$.patient.identifiers[*] ? (@.system == $system && @.value != $value)',
  ${JSON.stringify({ system, value })}::jsonb)`;

/**
 * The numbers that are one person's everywhere, where they tell more than the keys do: two patients who were given one
 * hospital number by mistake still have an NHS number each.
 */
export function nationalNumbersOf({ identifiers }: Pick<LaunchPatient, 'identifiers'>): PatientNumber[] {
  return identifiers.length < 2 ? [] : identifiers.filter(({ system }) => system !== 'hospital-number');
}

type Parties = Pick<TestRequest['parties'], 'patient' | 'practice'>;

/**
 * SHA-256 of each of the patient's identifiers. A national identifier is one person's everywhere; a hospital number is one
 * person's within the practice and the client that use it, since every hospital has a number 42.
 */
export function patientKeysOf({ patient, practice }: Parties, client: TestRequest['client']): string[] {
  const { system: practiceSystem, value: practiceCode } = practice.identifier;
  const local = [client.issuer, client.clientId, practiceSystem, practiceCode];
  return patient.identifiers.map(({ system, value }) =>
    keyOf(...(system === 'hospital-number' ? local : []), system, value),
  );
}

/** SHA-256 of the practice's code set and code. */
export const practiceKeyOf = ({ identifier: { system, value } }: { identifier: CodedIdentifier }) =>
  keyOf(system, value);

/** SHA-256 of what the caller calls the request, which is its own word alone. */
export const originatingKeyOf = ({ issuer, clientId }: TestRequest['client'], originatingId: string) =>
  keyOf(issuer, clientId, originatingId);

/** Parts are told apart by their JSON, so that no two lists of parts make one key. */
const keyOf = (...parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');
