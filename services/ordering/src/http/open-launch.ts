import type { ActionRule } from '../domain/action-rules.ts';
import type { TestRequest } from '../domain/test-request.ts';
import type { TestRequests } from '../store/test-requests.ts';
import type { VisitHandler } from './visit.ts';

/**
 * `GET /oltr/{launchId}/` of the actions that begin with a request or a list: leads to the page that the action is
 * for.
 */
export function openLaunch({ testRequests }: { readonly testRequests: TestRequests }): VisitHandler {
  return async ({ response, home, rule, context }) => {
    if (rule.opens !== 'named-request') return response.redirect(303, `${home}requests`);
    const named = await testRequests.findNamed(context);
    // With an identifier that was never seen the user chooses among the patient's requests.
    response.redirect(303, named === undefined ? `${home}requests?choose` : requestPage(home, rule, named));
  };
}

/** What a request is opened for. */
export type RequestStep = 'view' | 'change-tests' | 'record-samples';

/** What the action does to a request; one that cannot be changed any more is shown. */
export function requestStep(
  { may }: Pick<ActionRule, 'may'>,
  { status }: Pick<TestRequest, 'status'>,
): RequestStep {
  if (status === 'Complete') return 'view';
  if (may.includes('change-tests')) return 'change-tests';
  return may.includes('record-samples') ? 'record-samples' : 'view';
}

const stepPages: Readonly<Record<RequestStep, string>> = {
  view: '',
  'change-tests': '/tests/',
  'record-samples': '/samples',
};

/** Where a request is opened for what the action is for. */
export function requestPage(
  home: string,
  rule: Pick<ActionRule, 'may'>,
  request: Pick<TestRequest, 'guid' | 'status'>,
): string {
  return `${home}requests/${request.guid}${stepPages[requestStep(rule, request)]}`;
}
