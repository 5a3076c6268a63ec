import { type LaunchContext, parseLaunchContext } from '@clinical-launch/contracts/launch-context';
import { concerningLaunch } from '@clinical-launch/crypto/concerning';
import { setHeaders } from '@clinical-launch/http/answer';
import { guidForm } from '@clinical-launch/http/call';
import { type Exchange, type Guard, textParameter } from '@clinical-launch/http/endpoint';
import { launchSessionIdleSeconds, readLaunchSessionCookies } from '@clinical-launch/pages/launch-session';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import type { Pages } from '@clinical-launch/pages/templates';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { actionRules, type Permission } from '../domain/action-rules.ts';
import { foreignForm, notOfThisAction, pageNotFound, sessionEnded } from '../errors.ts';
import type { Dependencies } from './dependencies.ts';
import type { SessionLife, Visit } from './visit.ts';

/**
 * Creates the guard that accepts a request if its cookie is the live session of the launch in its path, and
 * extends the session. It throws ServiceError 404 for a path without a launch, 401 without its session, 403
 * for a form from another site, 429 for more requests of a session than a user can cause.
 */
export function inLaunch(dependencies: Dependencies): Guard<Exchange, Visit> {
  const { tickets, pages, publicOrigin, isSecure, pseudonyms, countRequest } = dependencies;
  return async (exchange) => {
    const { request, response, call } = exchange;
    const launchId = textParameter(exchange, 'launchId');
    if (!guidForm.test(launchId)) throw pageNotFound();
    call.trace.follow(launchId);
    // Set before anything is refused, so that an error page cannot be framed by a stranger.
    setHeaders(response, launchPageHeaders(pages));
    if (request.method !== 'GET' && request.method !== 'HEAD' && !isOwnForm(request, publicOrigin)) {
      throw foreignForm();
    }
    const session = await findSession(tickets, readLaunchSessionCookies(request, isSecure), launchId);
    if (session === undefined) throw sessionEnded();
    const { context, ticket, life } = session;
    const { clientId, frameAncestors } = context.client;
    call.adopt(launchId);
    call.identify(`session ${launchId}`, clientId);
    call.concern(concerningLaunch(context.request, pseudonyms));
    setHeaders(response, launchPageHeaders(pages, frameAncestors));
    countRequest(launchId);
    const rule = actionRules[context.request.action];
    return { ...exchange, launchId, context, rule, ticket, session: life, home: `/oltr/${launchId}/` };
  };
}

/** Creates the guard of a step that not every action has. It throws ServiceError 403. */
export function may(permission: Permission): Guard<Visit, Visit> {
  return (visit) => {
    if (!visit.rule.may.includes(permission)) throw notOfThisAction();
    return visit;
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
