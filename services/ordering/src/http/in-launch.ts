import { withEarlierCodes } from '@clinical-launch/contracts/earlier-codes';
import { guidForm } from '@clinical-launch/contracts/schema';
import { concerningLaunch } from '@clinical-launch/crypto/patient-pseudonym';
import { setHeaders } from '@clinical-launch/http/answer';
import { type Exchange, type Guard, textParameter } from '@clinical-launch/http/endpoint';
import {
  findLaunchSessions,
  launchSessionIdleSeconds,
  openSessionCookie,
} from '@clinical-launch/pages/launch-session';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import type { Pages } from '@clinical-launch/pages/templates';
import { actionRules, type Permission } from '../domain/action-rules.ts';
import { foreignForm, notOfThisAction, pageNotFound, sessionEnded } from '../errors.ts';
import type { Dependencies } from './dependencies.ts';
import { readSentForm } from './error-page.ts';
import type { Visit } from './visit.ts';

/**
 * Creates the guard of the pages of a launch. An HTTP request needs a cookie with the live session of the
 * launch in the path. The guard extends the session and its cookie, unless `extending` is empty. It throws
 * ServiceError 404 if the path contains no launch id, 401 without the session, 403 for a form from another
 * site, and 429 above the rate limit.
 */
export function inLaunch(
  dependencies: Dependencies,
  extending: { readonly extendSeconds?: number } = { extendSeconds: launchSessionIdleSeconds },
): Guard<Exchange, Visit> {
  const { tickets, registry, pages, publicOrigin, isSecure, pseudonyms, countRequest } = dependencies;
  return async (exchange) => {
    const { request, response, call } = exchange;
    const launchId = textParameter(exchange, 'launchId');
    if (!guidForm.test(launchId)) throw pageNotFound();
    call.trace.follow(launchId);
    // Sets the headers before any check, so that another site cannot frame an error page.
    setHeaders(response, launchPageHeaders(pages));
    if (request.method !== 'GET' && request.method !== 'HEAD' && !isOwnForm(request, publicOrigin)) {
      throw foreignForm();
    }
    const sessions = await findLaunchSessions(tickets, request, { isSecure, ...extending }).catch(
      async (cause: unknown) => {
        // If Redis is unavailable, the error page contains the fields, so that no typed text is lost.
        if (request.method === 'POST') await readSentForm(exchange);
        throw cause;
      },
    );
    const session = sessions.find(({ context }) => context.launchId === launchId);
    if (session === undefined) throw sessionEnded();
    const context = withEarlierCodes(session.context, registry.current());
    const { clientId, frameAncestors } = context.client;
    call.adopt(launchId);
    call.identify(`session ${launchId}`, clientId);
    call.concern(concerningLaunch(context.request, pseudonyms));
    setHeaders(response, launchPageHeaders(pages, frameAncestors));
    const path = `/oltr/${launchId}`;
    const isFramed = frameAncestors.length > 0;
    if (extending.extendSeconds !== undefined)
      response.appendHeader('Set-Cookie', openSessionCookie(session, { path, isSecure, isFramed }));
    countRequest(launchId);
    const rule = actionRules[context.request.action];
    return { ...exchange, launchId, context, rule, session, home: `${path}/` };
  };
}

/** Creates the guard that throws ServiceError 403 if the launch's action does not have a permission. */
export function requirePermission(permission: Permission): Guard<Visit, Visit> {
  return (visit) => {
    if (!visit.rule.may.includes(permission)) throw notOfThisAction();
    return visit;
  };
}

function launchPageHeaders({ scriptHash }: Pages, frameAncestors: readonly string[] = []) {
  return {
    ...pageHeaders({ frameAncestors, scriptHashes: [scriptHash] }),
    // With `no-referrer`, a browser sends `Origin: null` even for same-origin forms (Fetch, "append a request
    // Origin header").
    'Referrer-Policy': 'same-origin',
  };
}
