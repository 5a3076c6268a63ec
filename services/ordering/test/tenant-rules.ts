import { actions } from '@clinical-launch/contracts/launch-context';
import type { Client, Practice, StoredOrder, Tenant, TenantLaunch } from './tenants.ts';

/**
 * The requests that a launch of each action may see (OLTR: Action definitions). The table shares no code with
 * the rules of the service.
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

/** The actions that have a list of requests. */
export const listing = actions.filter((action) => reach[action] !== 'own');

const sameClient = (one: Client, other: Client) =>
  one.issuer === other.issuer && one.clientId === other.clientId;

/**
 * Returns whether two tenants have the same practice. An ODS code is unique everywhere, a local code only
 * within one issuer and client.
 */
export const samePractice = (one: Omit<Tenant, 'patient'>, other: Omit<Tenant, 'patient'>) =>
  sameCode(one.practice, other.practice) &&
  (one.practice.identifier.system === 'ods-organization-code' || sameClient(one.client, other.client));

const sameCode = ({ identifier: one }: Practice, { identifier: other }: Practice) =>
  one.system === other.system && one.value === other.value;

/**
 * Returns whether two patients share an identifier. A hospital number counts only within one client and
 * practice. If the launch's patient has several identifiers, a different national number excludes the order.
 */
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

/** Returns whether the practice binding of the launch's client allows the practice of an order. */
export const isWithinBinding = (launch: TenantLaunch, { client, practice: { identifier } }: StoredOrder) =>
  launch.practices === 'any' ||
  launch.practices.some(
    ({ system, code }) =>
      system === identifier.system &&
      code.toUpperCase() === identifier.value.toUpperCase() &&
      (system === 'ods-organization-code' || sameClient(launch.client, client)),
  );

/** The actions that open the request that their launch names, whoever its patient is. */
const naming = ['UpdateTest', 'PatientSampleQueue', 'PatientReport'];

/**
 * Returns whether a launch may see an order that another launch made.
 * @param isNamed whether the launch names the originating id of the order
 */
export function maySee(launch: TenantLaunch, order: StoredOrder, { isNamed = false } = {}): boolean {
  const reached = reach[launch.action];
  if (reached === 'own') return false;
  const isOwnName = isNamed && naming.includes(launch.action) && sameClient(launch.client, order.client);
  return (
    (!reached.includes('patient') || samePatient(launch, order) || isOwnName) &&
    (!reached.includes('practice') || samePractice(launch, order)) &&
    isWithinBinding(launch, order)
  );
}
