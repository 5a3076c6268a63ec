import type { Action } from '@clinical-launch/contracts/launch-context';
import type { RequestStatus, TestRequest } from './test-request.ts';

/** An action that a user may take in a launch, besides signing out. */
export type Permission = 'order' | 'change-tests' | 'record-samples' | 'read';

export type ActionRule = {
  /**
   * The requests that the launch can see: its own; those of its patient, from any requester; those of its
   * patient in its own practice, because no other practice may remove a test; or all of its practice.
   */
  readonly sees: 'own' | 'patient' | 'patient-of-practice' | 'practice';
  /** The first page: a new order, the request with the launch's originating id, or a list. */
  readonly opens: 'new-order' | 'named-request' | 'list';
  /** The statuses of the requests in its list. */
  readonly lists: readonly RequestStatus[];
  readonly may: readonly Permission[];
};

const every: readonly RequestStatus[] = ['Incomplete', 'Complete'];

/** OLTR: Action definitions, one row for each action. */
export const actionRules: Readonly<Record<Action, ActionRule>> = {
  OrderTest: { sees: 'own', opens: 'new-order', lists: [], may: ['order', 'read'] },
  UpdateTest: {
    sees: 'patient-of-practice',
    opens: 'named-request',
    lists: ['Incomplete'],
    may: ['change-tests', 'read'],
  },
  PatientSampleQueue: {
    sees: 'patient',
    opens: 'named-request',
    lists: ['Incomplete'],
    may: ['record-samples', 'read'],
  },
  PatientRequestList: {
    sees: 'patient',
    opens: 'list',
    lists: ['Incomplete'],
    may: ['record-samples', 'read'],
  },
  LocationSampleQueue: {
    sees: 'practice',
    opens: 'list',
    lists: ['Incomplete'],
    may: ['record-samples', 'read'],
  },
  PatientReport: { sees: 'patient', opens: 'named-request', lists: every, may: ['read'] },
  PatientReportList: { sees: 'patient', opens: 'list', lists: every, may: ['read'] },
  LocationReportList: { sees: 'practice', opens: 'list', lists: every, may: ['read'] },
};

/** A step that a launch can take with a request. */
export type RequestStep = 'view' | 'change-tests' | 'record-samples';

/** Returns the step that the action takes with a request. A Complete request can only be viewed. */
export function requestStep(
  { may }: Pick<ActionRule, 'may'>,
  { status }: Pick<TestRequest, 'status'>,
): RequestStep {
  if (status === 'Complete') return 'view';
  if (may.includes('change-tests')) return 'change-tests';
  return may.includes('record-samples') ? 'record-samples' : 'view';
}
