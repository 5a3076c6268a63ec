import type { ActionRule } from '../domain/action-rules.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { requestPage, resultPage } from './addresses.ts';
import type { WriteTime } from './written-time.ts';

type Reported = { readonly request: TestRequest; readonly rule: ActionRule; readonly home: string };

/**
 * Presents where the report of a request leads: back to where it was opened, and to what the action came to do to it.
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

/** To the list of the launch; a launch that has none made the request, and goes back to what it submitted. */
function backLink({ request, rule, home }: Reported) {
  return rule.lists.length > 0
    ? { href: `${home}requests`, text: 'Back to the list of requests' }
    : { href: resultPage(home, request), text: 'Back to the submitted order' };
}

/** What the action came to do to a request, if it may. */
function changeName({ may }: ActionRule): string | undefined {
  if (may.includes('change-tests')) return 'Change tests';
  return may.includes('record-samples') ? 'Record samples' : undefined;
}
