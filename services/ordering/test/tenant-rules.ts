import { actions } from '@clinical-launch/contracts/launch-context';
import type { Client, Practice, StoredOrder, Tenant, TenantLaunch } from './tenants.ts';

/**
 * The requests that each action may see, independent of the service's own rules (OLTR: Action definitions).
 */
const reach: Readonly<Record<(typeof actions)[number], readonly ('patient' | 'practice')[] | 'own'>> = {
  OrderTest: 'own',
  UpdateTest: ['patient', 'practice'],
  PatientSampleQueue: ['patient'],
  PatientRequestList: ['patient'],
  LocationSampleQueue: ['practice'],
  PatientReport: ['patient'],
  PatientReportList: ['patient'],
  LocationReportList: ['practice'],
};

/** The actions that list requests. */
export const listing = actions.filter((action) => reach[action] !== 'own');

const sameClient = (one: Client, other: Client) =>
  one.issuer === other.issuer && one.clientId === other.clientId;

/**
 * Returns whether two codes name the same practice: an ODS code everywhere, a local code within one issuer
 * and client.
 */
export const samePractice = (one: Omit<Tenant, 'patient'>, other: Omit<Tenant, 'patient'>) =>
  sameCode(one.practice, other.practice) &&
  (one.practice.identifier.system === 'ods-organization-code' || sameClient(one.client, other.client));

const sameCode = ({ identifier: one }: Practice, { identifier: other }: Practice) =>
  one.system === other.system && one.value === other.value;

/** Returns whether two patients are the same: they share a number, and differ in no other national number. */
export function samePatient(launch: Tenant, order: Tenant): boolean {
  const isLocal = (system: string) => system === 'hospital-number';
  const areNear = sameClient(launch.client, order.client) && sameCode(launch.practice, order.practice);
  const { identifiers } = launch.patient;
  const isShared = identifiers.some(({ system, value }) =>
    order.patient.identifiers.some(
      (other) => other.system === system && other.value === value && (!isLocal(system) || areNear),
    ),
  );
  const isContradicted =
    identifiers.length > 1 &&
    identifiers.some(({ system, value }) =>
      order.patient.identifiers.some(
        (other) => !isLocal(system) && other.system === system && other.value !== value,
      ),
    );
  return isShared && !isContradicted;
}

/** Returns whether an order is of a practice that the launch's client is bound to. */
export const isWithinBinding = (launch: TenantLaunch, { client, practice: { identifier } }: StoredOrder) =>
  launch.practices === 'any' ||
  launch.practices.some(
    ({ system, code }) =>
      system === identifier.system &&
      code.toUpperCase() === identifier.value.toUpperCase() &&
      (system === 'ods-organization-code' || sameClient(launch.client, client)),
  );

/** Returns whether a launch may see an order that another launch made. */
export function maySee(launch: TenantLaunch, order: StoredOrder): boolean {
  const reached = reach[launch.action];
  if (reached === 'own') return false;
  return (
    (!reached.includes('patient') || samePatient(launch, order)) &&
    (!reached.includes('practice') || samePractice(launch, order)) &&
    isWithinBinding(launch, order)
  );
}
