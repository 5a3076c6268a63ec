import { hash } from 'node:crypto';
import type { Action, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { Claim } from '@clinical-launch/tickets/tickets';

/**
 * For each action, the actions that may already hold the same originating id (IdByCaller). The actions that
 * open one existing request may repeat the id of the OrderTest that created it. Every other launch needs a
 * new id.
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

/**
 * Returns the claim of a launch on its originating id. Each client has its own ids, which are compared
 * exactly.
 */
export function originatingIdClaim(
  client: { issuer: string; clientId: string },
  { action, originatingId }: LaunchRequest,
  ttlSeconds: number,
): Claim {
  // Hashes the id, because it can have any length and contain any data of the practice system.
  const name = hash('sha256', JSON.stringify([client.issuer, client.clientId, originatingId]), 'base64url');
  return { name, holder: action, joins: joinable[action], ttlSeconds };
}
