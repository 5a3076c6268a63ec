import type { EventOrigin, LaunchContext } from '@clinical-launch/contracts';
import {
  launchSessionIdleSeconds,
  pageHeaders,
  readLaunchSessionCookies,
} from '@clinical-launch/service/pages';
import type { Pages } from '@clinical-launch/service/pages/templates';
import type { Tickets } from '@clinical-launch/tickets';
import type { Request, RequestHandler, Response } from 'express';
import { type ActionRule, actionRules, type Permission } from '../domain/action-rules.ts';

import { foreignForm, formOfAnotherLaunch, notOfThisAction, pageNotFound, sessionEnded } from '../errors.ts';

type LaunchParameters = { launchId: string; guid?: string };

/** A request within a live launch. */
export type Visit = {
  readonly request: Request<LaunchParameters>;
  readonly response: Response;
  readonly launchId: string;
  readonly context: LaunchContext;
  readonly rule: ActionRule;
  /** Where the events of this request come from. */
  readonly origin: EventOrigin;
  /** The session's ticket, for the cookie of the order's own paths and to end it. */
  readonly ticket: string;
  /** `/oltr/{launchId}/` */
  readonly home: string;
};

export type VisitHandler = (visit: Visit) => Promise<void>;

type VisitNeeds = {
  readonly tickets: Pick<Tickets, 'find'>;
  readonly pages: Pages;
  readonly publicOrigin: string;
};

/**
 * Lets a request in if its cookie is the live session of the launch that its path names, and prolongs the session.
 * With a permission, only in a launch whose action gives it. The handler throws ServiceError 404 for a path without a
 * launch, 401 without its session, 403 for a form from elsewhere and for what the action does not allow.
 */
export function createDoor({ tickets, pages, publicOrigin }: VisitNeeds) {
  const isSecure = publicOrigin.startsWith('https:');
  return (handle: VisitHandler, permission?: Permission): RequestHandler<LaunchParameters> =>
    async (request, response) => {
      const { launchId } = request.params;
      if (!guidForm.test(launchId)) throw pageNotFound();
      response.set(launchPageHeaders(pages));
      if (request.method !== 'GET' && request.method !== 'HEAD') assertOwnForm(request, publicOrigin);
      const session = await findSession(tickets, readLaunchSessionCookies(request, isSecure), launchId);
      if (session === undefined) throw sessionEnded();
      const { context, ticket } = session;
      const call = callOf(response);
      call.source = '/ordering';
      call.adopt(launchId);
      call.identify(`session ${launchId}`);
      response.set(launchPageHeaders(pages, context.client.frameAncestors));
      const rule = actionRules[context.request.action];
      if (permission !== undefined && !rule.may.includes(permission)) throw notOfThisAction();
      const origin = call.origin('/ordering');
      await handle({
        request,
        response,
        launchId,
        context,
        rule,
        origin,
        ticket,
        home: `/oltr/${launchId}/`,
      });
    };
}

/**
 * The fields of a form of this launch. Every page names its launch in its forms.
 * @throws ServiceError 409 for a form that names another launch; 413, 415 and 400 as `readForm`.
 */
export async function readLaunchForm({ request, response, launchId }: Visit): Promise<URLSearchParams> {
  const form = await readForm(request, response);
  if (form.getAll('launch').some((named) => named !== launchId)) throw formOfAnotherLaunch();
  return form;
}

function launchPageHeaders({ scriptHash }: Pages, frameAncestors: readonly string[] = []) {
  return {
    ...pageHeaders({ frameAncestors, scriptHashes: [scriptHash] }),
    // With no-referrer a browser sends `Origin: null` with our own forms too (Fetch, "append a request Origin header").
    'Referrer-Policy': 'same-origin',
  };
}

type Session = { readonly ticket: string; readonly context: LaunchContext };

/** Finds the live session of this launch among the tickets that the browser sent, and prolongs it. */
async function findSession(
  tickets: Pick<Tickets, 'find'>,
  sent: readonly string[],
  launchId: string,
): Promise<Session | undefined> {
  for (const ticket of sent) {
    const found = await tickets.find('launch-session', ticket, { extendSeconds: launchSessionIdleSeconds });
    const context = found === undefined ? undefined : parseLaunchContext(found.context);
    if (context?.launchId === launchId) return { ticket, context };
  }
  return undefined;
}

/**
 * Refuses what a page of another site makes a browser send. Browsers say where a form comes from in
 * `Sec-Fetch-Site`, older ones in `Origin`; what sends neither is no browser, and has no cookie but its own.
 */
function assertOwnForm(request: Request<LaunchParameters>, publicOrigin: string): void {
  const site = request.get('sec-fetch-site');
  const origin = request.get('origin');
  const isOwn =
    site === undefined
      ? origin === undefined || origin === publicOrigin
      : site === 'same-origin' || site === 'none';
  if (!isOwn) throw foreignForm();
}
