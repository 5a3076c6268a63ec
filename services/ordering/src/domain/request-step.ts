import type { ActionRule } from './action-rules.ts';
import type { TestRequest } from './test-request.ts';

/** What a launch does with a request. */
export type RequestStep = 'view' | 'change-tests' | 'record-samples';

/** Returns what the action does with a request. A request that can no longer be changed is only shown. */
export function requestStep(
  { may }: Pick<ActionRule, 'may'>,
  { status }: Pick<TestRequest, 'status'>,
): RequestStep {
  if (status === 'Complete') return 'view';
  if (may.includes('change-tests')) return 'change-tests';
  return may.includes('record-samples') ? 'record-samples' : 'view';
}
