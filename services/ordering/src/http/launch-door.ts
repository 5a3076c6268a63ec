import { type LaunchContext, parseLaunchContext } from '@clinical-launch/contracts/launch-context';
import { concerningLaunch } from '@clinical-launch/crypto/concerning';
import { callOf, guidForm } from '@clinical-launch/http/call';
import { launchSessionIdleSeconds, readLaunchSessionCookies } from '@clinical-launch/pages/launch-session';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import type { Pages } from '@clinical-launch/pages/templates';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { RequestHandler } from 'express';
import { actionRules, type Permission } from '../domain/action-rules.ts';
import { foreignForm, notOfThisAction, pageNotFound, sessionEnded } from '../errors.ts';
import type { Dependencies } from './dependencies.ts';
import type { LaunchParameters, SessionLife, Visit } from './visit.ts';

/** Answers a visit. */
export type VisitHandler = (visit: Visit, dependencies: Dependencies) => Promise<void>;

/**
 * Accepts a request if its cookie is the live session of the launch in its path, and extends the session.
 * With a permission, accepts it only if the launch's action has that permission. The handler throws
 * ServiceError 404 for a path without a launch, 401 without its session, 403 for a form from another site and
 * for a step that the action does not allow, 429 for more requests of a session than a user can cause.
 */
export function createLaunchDoor(dependencies: Dependencies) {
  const { tickets, pages, publicOrigin, isSecure, pseudonyms, countRequest } = dependencies;
  return (handle: VisitHandler, permission?: Permission): RequestHandler<LaunchParameters> =>
    async (request, response) => {
      const { launchId } = request.params;
      if (!guidForm.test(launchId)) throw pageNotFound();
      const call = callOf(response);
      call.trace.follow(launchId);
      response.set(launchPageHeaders(pages));
      if (request.method !== 'GET' && request.method !== 'HEAD' && !isOwnForm(request, publicOrigin)) {
        throw foreignForm();
      }
      const session = await findSession(tickets, readLaunchSessionCookies(request, isSecure), launchId);
      if (session === undefined) throw sessionEnded();
      const { context, ticket, life } = session;
      call.source = '/ordering';
      call.adopt(launchId);
      call.identify(`session ${launchId}`, context.client.clientId);
      call.concern(concerningLaunch(context.request, pseudonyms));
      response.set(launchPageHeaders(pages, context.client.frameAncestors));
      countRequest(launchId);
      const rule = actionRules[context.request.action];
      if (permission !== undefined && !rule.may.includes(permission)) throw notOfThisAction();
      const home = `/oltr/${launchId}/`;
      const visit = { request, response, launchId, context, rule, call, ticket, session: life, home };
      await handle(visit, dependencies);
    };
}

function launchPageHeaders({ scriptHash }: Pages, frameAncestors: readonly string[] = []) {
  return {
    ...pageHeaders({ frameAncestors, scriptHashes: [scriptHash] }),
    // With no-referrer, a browser sends `Origin: null` even with our own forms (Fetch, "append a request
    // Origin header").
    'Referrer-Policy': 'same-origin',
  };
}

type Session = { readonly ticket: string; readonly context: LaunchContext; readonly life: SessionLife };

/** Finds the live session of this launch among the tickets that the browser sent, and extends it. */
async function findSession(
  tickets: Pick<Tickets, 'find'>,
  sent: readonly string[],
  launchId: string,
): Promise<Session | undefined> {
  for (const ticket of sent) {
    const found = await tickets.find('launch-session', ticket, { extendSeconds: launchSessionIdleSeconds });
    const context = found === undefined ? undefined : parseLaunchContext(found.context);
    if (context?.launchId !== launchId) continue;
    const lastSeconds = found?.chainEndsInSeconds ?? Number.POSITIVE_INFINITY;
    return { ticket, context, life: { idleSeconds: launchSessionIdleSeconds, lastSeconds } };
  }
  return undefined;
}
