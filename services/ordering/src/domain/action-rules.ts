import type { Action } from '@clinical-launch/contracts/launch-context';
import type { RequestStatus, TestRequest } from './test-request.ts';

/** A permission of a user in a launch. Every user may also sign out. */
export type Permission = 'order' | 'change-tests' | 'record-samples' | 'read';

export type ActionRule = {
  /**
   * The requests that the launch can see: `own`, only requests that this launch made; `patient`, requests of
   * its patient from any practice; `patient-of-practice`, requests of its patient in its own practice,
   * because another practice must not remove tests; `practice`, all requests of its practice.
   */
  readonly sees: 'own' | 'patient' | 'patient-of-practice' | 'practice';
  /** The first page: a new order, the request with the launch's originating id, or the list. */
  readonly opens: 'new-order' | 'named-request' | 'list';
  /** The statuses of the requests in the action's list; empty for an action without a list. */
  readonly lists: readonly RequestStatus[];
  /** Whether the list at first hides requests whose samples another place collects, until they are overdue. */
  readonly hidesElsewhere?: true;
  readonly may: readonly Permission[];
};

const every: readonly RequestStatus[] = ['Incomplete', 'Complete'];

/** The rule of each action (OLTR: Action definitions). */
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
    hidesElsewhere: true,
    lists: ['Incomplete'],
    may: ['record-samples', 'read'],
  },
  LocationSampleQueue: {
    sees: 'practice',
    opens: 'list',
    hidesElsewhere: true,
    lists: ['Incomplete'],
    may: ['record-samples', 'read'],
  },
  PatientReport: { sees: 'patient', opens: 'named-request', lists: every, may: ['read'] },
  PatientReportList: { sees: 'patient', opens: 'list', lists: every, may: ['read'] },
  LocationReportList: { sees: 'practice', opens: 'list', lists: every, may: ['read'] },
};

/** The page that a launch opens for a request. */
export type RequestStep = 'view' | 'change-tests' | 'record-samples';

/** Returns the page that an action opens for a request. A Complete request can only be viewed. */
export function requestStep(
  { may }: Pick<ActionRule, 'may'>,
  { status }: Pick<TestRequest, 'status'>,
): RequestStep {
  if (status === 'Complete') return 'view';
  if (may.includes('change-tests')) return 'change-tests';
  return may.includes('record-samples') ? 'record-samples' : 'view';
}
