import type { WriteTime } from '@clinical-launch/contracts/time';
import type { ActionRule } from '../domain/action-rules.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { requestPage, resultPage } from './addresses.ts';

type Reported = { readonly request: TestRequest; readonly rule: ActionRule; readonly home: string };

/**
 * Presents the links on the page of a request: back to the list or the result page, and to the page for
 * changing the request.
 */
export function presentReportLinks({ request, rule, home }: Reported, write: WriteTime) {
  const change = changeName(rule);
  const isComplete = request.status === 'Complete';
  return {
    back: backLink({ request, rule, home }),
    change:
      change === undefined || isComplete
        ? undefined
        : { href: requestPage(home, rule, request), text: change },
    ...(change !== undefined && isComplete ? { submittedAt: write(request.updatedAt) } : {}),
  };
}

/**
 * Returns the link to the list of the launch. A launch without a list has submitted the request itself, so
 * the link leads to the result page.
 */
function backLink({ request, rule, home }: Reported) {
  return rule.lists.length > 0
    ? { href: `${home}requests`, text: 'Back to the list of requests' }
    : { href: resultPage(home, request), text: 'Back to the submitted request' };
}

/** Returns the text of the link for changing a request, or undefined if the action may only read it. */
function changeName({ may }: ActionRule): string | undefined {
  if (may.includes('change-tests')) return 'Change tests';
  return may.includes('record-samples') ? 'Record samples' : undefined;
}
