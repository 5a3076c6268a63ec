import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { readForm } from '@clinical-launch/http/body';
import type { Exchange } from '@clinical-launch/http/endpoint';
import type { LaunchSession } from '@clinical-launch/pages/launch-session';
import type { ActionRule } from '../domain/action-rules.ts';
import { formOfAnotherLaunch } from '../errors.ts';
import type { Choosing } from '../work/launch.ts';

/** A request within a live launch. */
export type Visit = Exchange & {
  readonly launchId: string;
  readonly context: LaunchContext;
  readonly rule: ActionRule;
  /** The session, extended by this request. */
  readonly session: LaunchSession;
  /** `/oltr/{launchId}/` */
  readonly home: string;
};

/**
 * Reads the fields of a form of this launch. Every page names its launch in its forms.
 * @throws ServiceError 409 for a form of another launch; 413, 415 and 400 as `readForm`
 */
export async function readLaunchForm({ request, response, launchId }: Visit): Promise<URLSearchParams> {
  const form = await readForm(request, response);
  if (form.getAll('launch').some((named) => named !== launchId)) throw formOfAnotherLaunch();
  return form;
}

/** A visit to the pages that choose tests: those of a new order, or of the change of a request. */
export type ChoosingVisit = Visit &
  Choosing & {
    /** The path of these pages, with a slash at the end. */
    readonly base: string;
  };
