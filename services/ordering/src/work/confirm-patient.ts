import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import { actionRules } from '../domain/action-rules.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { isConfirmed, storeConfirmation } from '../store/confirmed-patients.ts';
import type { Launch, WorkDependencies } from './launch.ts';

/**
 * Returns whether a launch may change a request, because both have the same date of birth, or a user has
 * confirmed that the date was corrected. The launch of a whole practice has no patient to compare.
 */
export async function isPatientConfirmed(
  { database }: Pick<WorkDependencies, 'database'>,
  { request: { action, patient } }: LaunchContext,
  { guid, parties }: TestRequest,
): Promise<boolean> {
  const { birthDate } = patient;
  const isSame = actionRules[action].sees === 'practice' || parties.patient.birthDate === birthDate;
  return isSame || isConfirmed(database, { guid, birthDate });
}

/**
 * Stores that the user confirmed: the request is for the patient of the launch, whose date of birth was
 * corrected. Stores the audit event in the same transaction, once.
 */
export async function confirmPatient(
  { database, clock }: Pick<WorkDependencies, 'database' | 'clock'>,
  { context, call }: Launch,
  { guid }: TestRequest,
): Promise<void> {
  const { launchId } = context;
  const at = new Date(clock.now()).toISOString();
  await database.transaction().execute(async (tx) => {
    if (!(await storeConfirmation(tx, context, { guid, at }))) return;
    await appendToOutbox(tx, [call.event('order.patient.confirmed.v1', { orderGuid: guid, launchId })]);
  });
}
