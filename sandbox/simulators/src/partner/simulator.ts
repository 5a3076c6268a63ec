import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BoundedMap, indented } from '@clinical-launch/conformance/recorder';
import { issuerOf } from '@clinical-launch/contracts/addresses';
import { type Endpoint, type Exchange, type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { queryOf } from '@clinical-launch/http/request-target';
import { setCookie } from '@clinical-launch/pages/cookies';
import type { Clock } from '@clinical-launch/runtime/clock';
import { parseCookie } from 'cookie';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { type Simulation, simulated } from '../simulator.ts';
import { type Attempt, type VisitedLaunch } from '../wire/visits.ts';
import { type Authorization, createIdentityProvider, type Tokens } from './identity-provider.ts';

/**
 * The name of the cookie that opens the pages of one patient. Each patient's cookie has its own path, so two
 * windows with two patients never mix.
 */
const sessionCookie = 'partner-session';

/**
 * A launch that the pages of the demo show. If another host application requested the launch, the id is empty,
 * and no page shows it.
 */
type Visited = Pick<VisitedLaunch, 'id' | 'exchanges' | 'attempts'>;

type Opened = { readonly visited: Visited; readonly secret: string; readonly tokens: Tokens };
type Session = Opened & { readonly expiresAt: number; readonly refreshed: number };

/** Creates the sessions of the partner application. The tokens stay in this backend. */
function createSessions(clock: Clock, refreshWith: (token: string) => Promise<Tokens>) {
  const sessions = new BoundedMap<Session>();
  const store = (id: string, session: Opened, refreshed: number) => {
    const { expires_in: seconds = 0 } = session.tokens;
    sessions.set(id, { ...session, refreshed, expiresAt: clock.now() + seconds * 1000 });
  };
  const get = (id: string): Session => {
    const session = sessions.get(id);
    if (session === undefined) throw noSession();
    return session;
  };
  return {
    open: (id: string, session: Opened): void => store(id, session, 0),

    /** Returns the session of the window that sent a request. @throws ServiceError 401 */
    of(exchange: Exchange): Session {
      const session = get(textParameter(exchange, 'id'));
      if (session.secret !== cookiesOf(exchange.request)[sessionCookie]) throw noSession();
      return session;
    },

    /** Refreshes the tokens of a session, and returns the used refresh token. @throws ServiceError 401 */
    async refresh(id: string): Promise<string> {
      const session = get(id);
      const used = String(session.tokens.refresh_token);
      store(id, { ...session, tokens: await refreshWith(used) }, session.refreshed + 1);
      return used;
    },
  };
}

const noSession = () =>
  new ServiceError({ code: 'session_required', message: 'No patient is open in this window.' });

/** Returns the cookies of a request by name. */
const cookiesOf = ({ headers }: IncomingMessage) => parseCookie(headers.cookie ?? '');

const application = { name: 'Lighthouse Shared Care (simulator)', home: '/demo/partner' };

const browserCookie = 'partner-browser';

/**
 * Creates a small partner application for the demo. It has two registered addresses (launch handler and auth
 * handler), and a page that shows the patient when the tokens have arrived. All tokens stay in its backend.
 */
export function partnerSimulator(simulation: Simulation): Endpoint[] {
  const { config, clock, reach, show, sendTo, recorder, visits } = simulation;
  const send = recorder.fetchAs('Partner application');
  const sendAsBrowser = recorder.fetchAs('Browser');
  const cookie = {
    httpOnly: true,
    sameSite: 'lax',
    secure: config.publicUrl.startsWith('https:'),
  } as const;
  const issuer = issuerOf(config.publicUrl, 'demo/desktop');
  const identityProvider = createIdentityProvider({
    issuer,
    clientId: 'partner-demo',
    redirectUri: `${config.publicUrl}/demo/partner/callback`,
    scope: 'openid profile email offline_access launch resource.read',
    reach,
    send,
  });
  const pending = new BoundedMap<Authorization & { readonly browser: string; readonly visited: Visited }>();
  const sessions = createSessions(clock, (token) => identityProvider.refresh(token));

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
    const visited = visits.find(launch) ?? { id: '', exchanges: [], attempts: new Map() };
    const { exchanges, id: reference } = visited;
    recorder.received(exchanges, request, { sender: 'Browser', status: 200, reference });
    const authorization = await recorder.into(exchanges, () => identityProvider.authorize(launch));
    const browser = cookiesOf(request)[browserCookie] ?? randomUUID();
    pending.set(authorization.state, { ...authorization, browser, visited });
    setCookie(response, { ...cookie, name: browserCookie, value: browser, path: '/demo/partner' });
    const { endpoint, fields } = authorization;
    recorder.unseen(exchanges, { address: endpoint, form: fields, reference });
    show(response, 'partner/views/authorize.njk', { application, endpoint, fields });
  };

  /** Handles `redirectUri`: completes the flow that the same browser began. */
  const handleCallback: Handler = async ({ request, response }) => {
    const query = queryOf(request);
    const state = query.get('state') ?? '';
    const begun = pending.get(state);
    if (begun === undefined || begun.browser !== cookiesOf(request)[browserCookie])
      return refuse(response, 'This answer belongs to no launch of this browser.');
    pending.delete(state);
    const { visited, endpoint, fields } = begun;
    const { exchanges, attempts, id: reference } = visited;
    recorder.received(exchanges, request, { sender: 'Browser', status: 303, reference });
    const exchange = () => identityProvider.exchangeCode(query, begun);
    const tokens = await recorder.into(exchanges, exchange);
    const id = randomUUID();
    const secret = randomUUID();
    sessions.open(id, { secret, tokens, visited });
    const body = new URLSearchParams(fields);
    addReplays(attempts, {
      authorize: () => sendAsBrowser(reach(endpoint), { method: 'POST', body, redirect: 'manual' }),
      exchange,
      refresh: () => sessions.refresh(id),
      refreshWith: (token) => identityProvider.refresh(token),
    });
    const path = `/demo/partner/patients/${id}`;
    setCookie(response, { ...cookie, name: sessionCookie, value: secret, path });
    sendTo(response, path);
  };

  const read = async (path: string, accessToken: string) => {
    const answer = await send(config.platformUrl + path, {
      headers: { Authorization: `Bearer ${accessToken}` },
      signal: AbortSignal.timeout(10_000),
    });
    return { path, status: answer.status, text: indented(await answer.text()) };
  };

  const showPatient: Handler = async (exchange) => {
    const { tokens, expiresAt, refreshed, visited } = sessions.of(exchange);
    const claims = tokens.claims();
    const details = claims?.['authorizationDetails'];
    const [patient] = JSON.parse(typeof details === 'string' ? details : '[]') as object[];
    const resources = await recorder.into(visited.exchanges, () =>
      Promise.all(['/resource/me', '/resource/patient'].map((path) => read(path, tokens.access_token))),
    );
    const home = `/demo/partner/patients/${textParameter(exchange, 'id')}`;
    const validUntil = `${new Date(expiresAt).toISOString().slice(11, 19)} UTC`;
    const model = { application, claims, patient, resources, validUntil, refreshed, home, wire: visited.id };
    show(exchange.response, 'partner/views/context.njk', model);
  };

  const refresh: Handler = async (exchange) => {
    const id = textParameter(exchange, 'id');
    await recorder.into(sessions.of(exchange).visited.exchanges, () => sessions.refresh(id));
    sendTo(exchange.response, `/demo/partner/patients/${id}`);
  };

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
      call.logger.warn({ err: error }, 'the partner application received no tokens');
      refuse(response, `The identity provider gave no tokens (${reason}).`, 502);
    }
  };
}

/** Returns the identity provider's reason for a refusal, or undefined for any other error. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError)
    return `${error.error}: ${error.error_description ?? 'no description'}`;
  return error instanceof ClientError ? error.message : undefined;
}

/**
 * Seconds after which a used refresh token is refused. For ten seconds after the use of its successor, the
 * token is accepted again, because an answer can be lost.
 */
const afterRepetition = 11;

type Requests = {
  /** Sends the authorization request with the launch identifier. */
  readonly authorize: () => Promise<unknown>;
  readonly exchange: () => Promise<unknown>;
  /** Refreshes the tokens of the session, and returns the used refresh token. */
  readonly refresh: () => Promise<string>;
  readonly refreshWith: (token: string) => Promise<unknown>;
};

/** Adds attempts that repeat a request that may succeed only once. */
function addReplays(attempts: Map<string, Attempt>, requests: Requests): void {
  const { authorize, exchange, refresh, refreshWith } = requests;
  attempts.set('identifier', {
    label: 'Launch identifier again: 400',
    explanation: 'Sends the authorization request of this launch a second time.',
    async send() {
      await authorize();
      return undefined;
    },
  });
  attempts.set('refresh', {
    label: 'Refresh token again: 400',
    explanation: `Refreshes the tokens twice, and sends the first refresh token ${afterRepetition} seconds later. It counts as stolen, so the launch is revoked.`,
    async send() {
      const used = await orRefused(refresh());
      if (used === undefined) return undefined;
      await orRefused(refresh());
      return { afterSeconds: afterRepetition, send: async () => void (await orRefused(refreshWith(used))) };
    },
  });
  attempts.set('code', {
    label: 'Code again: 400',
    explanation: 'Exchanges the code a second time. It counts as stolen, so the launch is revoked.',
    async send() {
      await orRefused(exchange());
      return undefined;
    },
  });
}

/** Ignores a refusal, which the visitor wants to see and which has been recorded. */
const orRefused = <Result>(request: Promise<Result>): Promise<Result | undefined> =>
  request.catch((error: unknown) => {
    if (error instanceof ResponseBodyError || error instanceof ClientError) return undefined;
    throw error;
  });
