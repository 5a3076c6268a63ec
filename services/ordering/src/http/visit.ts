import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import type { Exchange } from '@clinical-launch/http/endpoint';
import type { LaunchSession } from '@clinical-launch/pages/launch-session';
import type { ActionRule } from '../domain/action-rules.ts';
import type { WindowState } from '../domain/chosen-window.ts';
import { formOfAnotherLaunch } from '../errors.ts';
import type { Choosing } from '../work/launch.ts';
import { readSentForm } from './error-page.ts';

/** An HTTP request with a live session of its launch. */
export type Visit = Exchange & {
  readonly launchId: string;
  readonly context: LaunchContext;
  readonly rule: ActionRule;
  /** The session, which this HTTP request has extended. */
  readonly session: LaunchSession;
  /** The path of the launch: `/oltr/{launchId}/` */
  readonly home: string;
  /** The state of the window in its browser. Absent if the page does not depend on the window. */
  readonly window?: WindowState;
};

/**
 * Reads the fields of a form of this launch. Every form contains the id of its launch.
 * @throws ServiceError 409 for a form of another launch; 413, 415 and 400, as `readSentForm` does
 */
export async function readLaunchForm(visit: Visit): Promise<URLSearchParams> {
  const form = await readSentForm(visit);
  if (form.getAll('launch').some((named) => named !== visit.launchId)) throw formOfAnotherLaunch();
  return form;
}

/** An HTTP request for the pages of a new order or of a change. */
export type ChoosingVisit = Visit &
  Choosing & {
    /** The path of the page for choosing tests, with a slash at the end. */
    readonly base: string;
  };
