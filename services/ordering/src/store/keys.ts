import { createHash } from 'node:crypto';
import type { CodedIdentifier, LaunchContext } from '@clinical-launch/contracts';
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
  readonly practiceKey?: string;
};

/** What a launch sees, by the rule of its action and by what its caller sent, whatever a URL says. */
export function sightOf({ launchId, client, request }: LaunchContext): Sight {
  const { patient, practice } = request;
  const patientKeys = patientKeysOf({ patient, practice }, client);
  const practiceKey = practiceKeyOf(practice);
  switch (actionRules[request.action].sees) {
    case 'own':
      return { launchId };
    case 'patient':
      return { patientKeys };
    case 'patient-of-practice':
      return { patientKeys, practiceKey };
    case 'practice':
      return { practiceKey };
  }
}

/** The condition of a query that holds for what is seen. */
export function isInSight({ launchId, patientKeys, practiceKey }: Sight) {
  return (by: ExpressionBuilder<OrderingTables, 'test_requests'>): Expression<SqlBool> =>
    by.and([
      ...(launchId === undefined ? [] : [by('test_requests.launch_id', '=', launchId)]),
      ...(practiceKey === undefined ? [] : [by('test_requests.practice_key', '=', practiceKey)]),
      ...(patientKeys === undefined
        ? []
        : [sql<SqlBool>`test_requests.patient_keys && ${sql.val([...patientKeys])}::text[]`]),
    ]);
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
