import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { issuerOf } from '@clinical-launch/contracts/addresses';
import { type Endpoint, type Exchange, type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { queryOf } from '@clinical-launch/http/request-target';
import { setCookie } from '@clinical-launch/pages/cookies';
import { parseCookie } from 'cookie';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { Memory } from '../memory.ts';
import { type Simulation, simulated } from '../simulator.ts';
import { type Authorization, createIdentityProvider, type Tokens } from './identity-provider.ts';

const application = { name: 'Lighthouse Shared Care (simulator)', home: '/demo/partner' };

/** Distinguishes the browser that began a launch from every other. */
const browserCookie = 'partner-browser';
/** Opens one patient's pages; each has its own path, so two windows with two patients never mix. */
const sessionCookie = 'partner-session';

type Pending = Authorization & { readonly browser: string };
type Session = {
  readonly secret: string;
  readonly tokens: Tokens;
  readonly expiresAt: number;
  readonly refreshed: number;
};

/**
 * Creates a small partner application, for the demo: its two registered addresses (launch handler and auth
 * handler), and the page that it shows when it has its tokens. All tokens stay in its backend.
 */
export function partnerSimulator(simulation: Simulation): Endpoint[] {
  const { config, clock, reach, show, sendTo } = simulation;
  const isSecure = config.publicUrl.startsWith('https:');
  const issuer = issuerOf(config.publicUrl, 'demo/desktop');
  const identityProvider = createIdentityProvider({
    issuer,
    clientId: 'partner-demo',
    redirectUri: `${config.publicUrl}/demo/partner/callback`,
    scope: 'openid profile email offline_access launch resource.read',
    reach,
  });
  const pending = new Memory<Pending>();
  const sessions = new Memory<Session>();

  const refuse = (response: ServerResponse, message: string, status = 400) => {
    response.statusCode = status;
    show(response, 'partner/views/refused.njk', { application, message });
  };

  /** Handles `launchUrl`: begins the authorization code flow for the launch identifier. */
  const handleLaunch: Handler = async ({ request, response }) => {
    const query = queryOf(request);
    const launch = query.get('launch');
    // An attacker who could name another issuer here would receive the launch identifier.
    if (query.get('iss') !== issuer) return refuse(response, 'It was asked to sign in somewhere unknown.');
    if (launch === null || launch === '') return refuse(response, 'The launch identifier is missing.');
    const authorization = await identityProvider.authorize(launch);
    const browser = cookiesOf(request)[browserCookie] ?? randomUUID();
    pending.set(authorization.state, { ...authorization, browser });
    setCookie(response, {
      name: browserCookie,
      value: browser,
      path: '/demo/partner',
      httpOnly: true,
      sameSite: 'lax',
      secure: isSecure,
    });
    const { endpoint, fields } = authorization;
    show(response, 'partner/views/authorize.njk', { application, endpoint, fields });
  };

  /** Handles `redirectUri`: completes the flow that this same browser began. */
  const handleCallback: Handler = async ({ request, response }) => {
    const query = queryOf(request);
    const state = query.get('state') ?? '';
    const begun = pending.get(state);
    if (begun === undefined || begun.browser !== cookiesOf(request)[browserCookie])
      return refuse(response, 'This answer belongs to no launch of this browser.');
    pending.delete(state);
    const tokens = await identityProvider.exchangeCode(query, begun);
    const id = randomUUID();
    const secret = randomUUID();
    keep(id, { secret, tokens, refreshed: 0 });
    const path = `/demo/partner/patients/${id}`;
    setCookie(response, {
      name: sessionCookie,
      value: secret,
      path,
      httpOnly: true,
      sameSite: 'lax',
      secure: isSecure,
    });
    sendTo(response, path);
  };

  function keep(id: string, session: Omit<Session, 'expiresAt'>): void {
    const { expires_in: seconds = 0 } = session.tokens;
    sessions.set(id, { ...session, expiresAt: clock.now() + seconds * 1000 });
  }

  const read = async (path: string, accessToken: string) => {
    const answer = await fetch(config.platformUrl + path, {
      headers: { Authorization: `Bearer ${accessToken}` },
      signal: AbortSignal.timeout(10_000),
    });
    return { path, status: answer.status, text: indented(await answer.text()) };
  };

  const showPatient: Handler = async (exchange) => {
    const { tokens, expiresAt, refreshed } = sessionOf(exchange);
    const claims = tokens.claims();
    const details = claims?.['authorizationDetails'];
    const [patient] = JSON.parse(typeof details === 'string' ? details : '[]') as object[];
    const resources = await Promise.all(
      ['/resource/me', '/resource/patient'].map((path) => read(path, tokens.access_token)),
    );
    const home = `/demo/partner/patients/${textParameter(exchange, 'id')}`;
    const validUntil = `${new Date(expiresAt).toISOString().slice(11, 19)} UTC`;
    const model = { application, claims, patient, resources, validUntil, refreshed, home };
    show(exchange.response, 'partner/views/context.njk', model);
  };

  const refresh: Handler = async (exchange) => {
    const id = textParameter(exchange, 'id');
    const session = sessionOf(exchange);
    const tokens = await identityProvider.refresh(String(session.tokens.refresh_token));
    keep(id, { ...session, tokens, refreshed: session.refreshed + 1 });
    sendTo(exchange.response, `/demo/partner/patients/${id}`);
  };

  function sessionOf(exchange: Exchange): Session {
    const session = sessions.get(textParameter(exchange, 'id'));
    if (session === undefined || session.secret !== cookiesOf(exchange.request)[sessionCookie]) {
      throw new ServiceError({
        code: 'session_required',
        message: 'No patient is open in this window.',
      });
    }
    return session;
  }

  return [
    simulated('/demo/partner', {
      GET: ({ response }) => show(response, 'partner/views/start.njk', { application }),
    }),
    simulated('/demo/partner/launch', { GET: handleLaunch }),
    simulated('/demo/partner/callback', { GET: orRefuse(refuse, handleCallback) }),
    simulated('/demo/partner/patients/:id', { GET: orRefuse(refuse, showPatient) }),
    simulated('/demo/partner/patients/:id/refresh', { POST: orRefuse(refuse, refresh) }),
  ];
}

/** Returns a handler that shows a page if the identity provider refused, or there is no session. */
function orRefuse(
  refuse: (response: ServerResponse, message: string, status?: number) => void,
  handle: Handler,
): Handler {
  return async (exchange) => {
    const { response, call } = exchange;
    try {
      await handle(exchange);
    } catch (error) {
      if (error instanceof ServiceError) return refuse(response, error.message, error.status);
      const reason = refusalOf(error);
      if (reason === undefined) throw error;
      call.logger.warn({ err: error }, 'the partner application got no tokens');
      refuse(response, `The identity provider gave no tokens (${reason}).`, 502);
    }
  };
}

function refusalOf(error: unknown): string | undefined {
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError)
    return `${error.error}: ${error.error_description ?? 'no description'}`;
  return error instanceof ClientError ? error.message : undefined;
}

const cookiesOf = ({ headers }: IncomingMessage) => parseCookie(headers.cookie ?? '');

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
