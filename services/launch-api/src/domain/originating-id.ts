import { hash } from 'node:crypto';
import type { Action, LaunchRequest } from '@clinical-launch/contracts';
import type { Claim } from '@clinical-launch/tickets';

/**
 * Whose claims on an originating id (IdByCaller) an action lives with. The actions that open one existing request
 * may repeat the id under which an OrderTest created it; every other launch needs an id of its own.
 */
const joinable: Readonly<Record<Action, readonly Action[]>> = {
  OrderTest: [],
  UpdateTest: ['OrderTest'],
  PatientSampleQueue: ['OrderTest'],
  PatientReport: ['OrderTest'],
  PatientRequestList: [],
  LocationSampleQueue: [],
  PatientReportList: [],
  LocationReportList: [],
};

/** The claim of a launch on its originating id: once per client, however the id is spelt it is compared exactly. */
export function originatingIdClaim(
  client: { issuer: string; clientId: string },
  { action, originatingId }: LaunchRequest,
  ttlSeconds: number,
): Claim {
  // Hashed: the ids are of any length, and what a PMS writes into them is its own business.
  const name = hash('sha256', JSON.stringify([client.issuer, client.clientId, originatingId]), 'base64url');
  return { name, holder: action, joins: joinable[action], ttlSeconds };
}
