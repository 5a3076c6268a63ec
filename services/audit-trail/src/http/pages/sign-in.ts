import type { Outbox } from '@clinical-launch/events/event-bus';
import { redirect, sendText } from '@clinical-launch/http/answer';
import { readForm } from '@clinical-launch/http/body';
import type { Handler } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { queryOf } from '@clinical-launch/http/request-target';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import type { Pages } from '@clinical-launch/pages/templates';
import type { AuditPagesConfig } from '../../pages-config.ts';
import { foreignForm } from './errors.ts';
import { describeFailure, type OpenId } from './open-id.ts';
import type { Sessions } from './session.ts';

/** The address of the first page. */
export const home = '/audit/';

type SignInDependencies = {
  readonly openId: OpenId;
  readonly sessions: Sessions;
  readonly origin: string;
  readonly config: Pick<AuditPagesConfig, 'clientId'>;
  readonly events: Outbox;
};

/** Redirects the browser to the issuer: `GET /audit/sign-in?to=/audit/activity`. */
export function signIn({ openId, sessions, origin }: SignInDependencies): Handler {
  return async ({ request, response }) => {
    const { signIn: begun, address } = await openId.begin(returnAddress(queryOf(request).get('to'), origin));
    sessions.begin(response, begun);
    redirect(response, address);
  };
}

/**
 * Completes a sign-in that this browser started, and records it: `GET /audit/callback`. If the sign-in fails,
 * logs the cause.
 */
export function completeSignIn({
  openId,
  sessions,
  config: { clientId },
  events,
}: SignInDependencies): Handler {
  return async ({ request, response, call }) => {
    const begun = sessions.takeBegun(request, response);
    const { staff, returnTo } = await openId.complete(queryOf(request), begun).catch((error: unknown) => {
      if (error instanceof ServiceError && error.status < 500)
        call.logger.warn(describeFailure(error.cause), 'a sign-in of staff failed');
      throw error;
    });
    call.concern({ user: { username: staff.username, name: staff.name } });
    await events.append([call.event('audit.session.started.v1', { clientId })]);
    sessions.open(response, staff);
    redirect(response, returnTo);
  };
}

/**
 * Ends the session for every copy of its cookie, then opens the issuer's address that ends the issuer's
 * session, if the issuer has one: `POST /audit/sign-out`. Opens it as a navigation of its own, because
 * browsers apply `form-action` (CSP) to each redirect of a form, and the issuer may redirect to the provider
 * behind it.
 */
export function signOut({
  openId,
  sessions,
  origin,
  pages,
}: SignInDependencies & { readonly pages: Pages }): Handler {
  return async (exchange) => {
    const { request, response } = exchange;
    if (!isOwnForm(request, origin)) throw foreignForm();
    await readForm(exchange);
    await sessions.close(request, response);
    // The session of the pages has ended, whatever the issuer answers.
    const address = await openId.signOutAddress().catch(() => undefined);
    if (address === undefined) return redirect(response, '/audit/signed-out');
    response.setHeader('Refresh', `0; url=${address}`);
    sendText(response, 'text/html', pages.render('signed-out.njk', {}));
  };
}

/** Returns the page to return to: the wanted page if it is below `/audit/`, otherwise the first page. */
function returnAddress(wanted: string | null, origin: string): string {
  if (wanted === null || !URL.canParse(wanted, origin)) return home;
  const url = new URL(wanted, origin);
  const isOwn = url.origin === origin && url.pathname.startsWith(home);
  return isOwn ? url.pathname + url.search : home;
}
