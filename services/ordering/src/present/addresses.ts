import { type ActionRule, type RequestStep, requestStep } from '../domain/action-rules.ts';
import type { TestRequest } from '../domain/test-request.ts';

const stepPages: Readonly<Record<RequestStep, string>> = {
  view: '',
  'change-tests': '/tests/',
  'record-samples': '/samples',
};

/** Returns the URL of the page that the action opens for a request. */
export function requestPage(
  home: string,
  rule: Pick<ActionRule, 'may'>,
  request: Pick<TestRequest, 'guid' | 'status'>,
): string {
  return `${reportPage(home, request)}${stepPages[requestStep(rule, request)]}`;
}

/** Returns the URL of the page that shows a request. */
export const reportPage = (home: string, { guid }: Pick<TestRequest, 'guid'>) => `${home}requests/${guid}`;

/** Returns the URL of the result page of a submitted request. */
export const resultPage = (home: string, { guid }: Pick<TestRequest, 'guid'>) => `${home}orders/${guid}`;
