import { type ActionRule, type RequestStep, requestStep } from '../domain/action-rules.ts';
import type { TestRequest } from '../domain/test-request.ts';

const stepPages: Readonly<Record<RequestStep, string>> = {
  view: '',
  'change-tests': '/tests/',
  'record-samples': '/samples',
};

/** Returns the URL that opens a request for the action. */
export function requestPage(
  home: string,
  rule: Pick<ActionRule, 'may'>,
  request: Pick<TestRequest, 'guid' | 'status'>,
): string {
  return `${home}requests/${request.guid}${stepPages[requestStep(rule, request)]}`;
}

/** Returns the URL of a submitted request, with the hidden IFRAME for the PMS. */
export const resultPage = (home: string, { guid }: Pick<TestRequest, 'guid'>) => `${home}orders/${guid}`;
