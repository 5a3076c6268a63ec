import { readFileSync } from 'node:fs';
import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { ServiceError } from '@clinical-launch/http/errors';

export type Patient = LaunchRequest['patient'] & {
  readonly id: string;
  readonly guid: string;
  readonly ehrPartnerId: string;
};

/** The records of the simulated applications: one practice, its people and its patients. */
export type Records = Omit<LaunchRequest, 'action' | 'originatingId' | 'authoredOn' | 'patient'> & {
  /** The host application's record of the same user and practice. */
  readonly host: {
    readonly userERN: string;
    readonly email: string;
    readonly orgERN: string;
    readonly cdb: string;
    readonly authorizations: readonly string[];
  };
  readonly patients: readonly Patient[];
};

export const records = JSON.parse(
  readFileSync(new URL('./records.json', import.meta.url), 'utf8'),
) as Records;

/**
 * Returns the patient with this id, or the first patient if the id is null.
 * @throws ServiceError 400 for an unknown id
 */
export function getPatient(id: string | null): Patient {
  const patient = id === null ? records.patients[0] : records.patients.find((one) => one.id === id);
  if (patient === undefined) throw badRequest('Patient not found');
  return patient;
}

/** Creates a 400 error for an invalid form of a simulator. */
export const badRequest = (message: string) => new ServiceError({ code: 'invalid_request', message });

type Person = {
  readonly sub: string;
  readonly username: string;
  readonly name: string;
  readonly role: string;
  readonly rights: readonly string[];
};

/** The invented people who can sign in to the pages of the audit trail. */
export const people: readonly Person[] = [
  {
    sub: 'staff-1',
    username: 'r.adeyemi',
    name: 'Ruth Adeyemi',
    role: 'Support desk',
    rights: ['audit.read'],
  },
  {
    sub: 'staff-2',
    username: 'g.lindqvist',
    name: 'Gunnar Lindqvist',
    role: 'Privacy officer',
    rights: ['audit.read'],
  },
  { sub: 'staff-3', username: 'm.doyle', name: 'Maeve Doyle', role: 'Receptionist', rights: [] },
];

/** Returns the person of an account, or undefined for an unknown account. */
export const findPerson = (sub: string | null): Person | undefined =>
  people.find((person) => person.sub === sub);
