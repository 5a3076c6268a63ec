import type { Sealers } from '@clinical-launch/crypto/sealing-purposes';
import { behind, type Endpoint, type Exchange, endpoint, type Handler } from '@clinical-launch/http/endpoint';
import { ServiceError, temporarilyUnavailable } from '@clinical-launch/http/errors';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { readSentCookies } from '@clinical-launch/pages/cookies';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { followRegistry, type RegistrySource } from '@clinical-launch/trust/registry-file';
import type { DeveloperPortalConfig } from '../config.ts';
import { credentialsOf, type SandboxClient, sandboxClientsOf } from '../domain/sandbox-clients.ts';
import type { Callbacks } from '../store/callbacks.ts';
import type { Listeners } from '../store/listeners.ts';
import type { DeveloperSession, Sessions } from '../store/sessions.ts';
import { createDialect, createShow } from './pages.ts';

export type DeveloperPortalDependencies = {
  readonly tokens: AccessTokenVerifier;
  readonly registry: RegistrySource;
  /** Opens the callback secrets in the registry. */
  readonly sealers: Pick<Sealers, 'callback'>;
  readonly clock: Clock;
  /** Sends requests to the platform. */
  readonly fetchOutbound: OutboundFetch;
};

/** A request of a developer who is signed in for a sandbox client. */
export type Visit = Exchange & {
  readonly sessionId: string;
  readonly session: DeveloperSession;
  readonly client: SandboxClient;
};

type PlatformCall = {
  readonly authorization: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

type Stores = {
  readonly sessions: Sessions;
  readonly callbacks: Callbacks;
  readonly listeners: Listeners;
};

export type Portal = ReturnType<typeof createPortal>;

/** Creates the functions that the endpoints share: pages, error answers, and the check of the session. */
export function createPortal(
  config: DeveloperPortalConfig,
  { sessions, fetchOutbound, ...dependencies }: DeveloperPortalDependencies & Stores,
) {
  const show = createShow();
  const clients = followRegistry(dependencies.registry, sandboxClientsOf);
  const cookieName = `${config.publicUrl.startsWith('https:') ? '__Secure-' : ''}developer-session`;

  /**
   * Returns the session of a request and its client. Ends the session if the client is no longer a sandbox
   * client, or if a credential that it had at the sign-in was removed or has expired.
   */
  const findVisit = ({ request }: Pick<Exchange, 'request'>): Omit<Visit, keyof Exchange> | undefined => {
    for (const sessionId of readSentCookies(request, cookieName)) {
      const session = sessions.find(sessionId);
      const client = session && clients().get(session.clientId);
      const current = client && credentialsOf(client, dependencies.clock.now());
      if (session?.credentials.every((one) => current?.includes(one)) && client !== undefined)
        return { sessionId, session, client };
      sessions.end(sessionId);
    }
    return undefined;
  };

  const callPlatform = createPlatformCall(config, fetchOutbound);

  const signedIn = async (exchange: Exchange): Promise<Visit> => {
    const { request, call } = exchange;
    if (request.method === 'POST' && !isOwnForm(request, config.publicUrl)) throw foreignForm();
    const visit = findVisit(exchange);
    const isEnded = visit !== undefined && (await isRevoked(visit, sessions, callPlatform));
    if (isEnded) sessions.end(visit.sessionId);
    if (visit === undefined || isEnded)
      throw new ServiceError({
        code: 'session_required',
        message: 'You are not signed in, or your session has ended',
      });
    call.identify(`developer ${visit.client.clientId}`, visit.client.clientId);
    return { ...exchange, ...visit };
  };

  const options = {
    source: '/developer-portal',
    dialect: createDialect(config, show),
    headers: { 'Cache-Control': 'no-store' },
  };

  return {
    config,
    ...dependencies,
    sessions,
    cookieName,
    show,
    findVisit,

    /** Returns the sandbox clients of the current registry, by client id. */
    clients,

    callPlatform,

    open: (path: string, methods: Partial<Record<'GET' | 'POST', Handler>>): Endpoint =>
      endpoint({ ...options, path, methods }),

    /**
     * Creates an endpoint for developers who are signed in. Answers 401 without a session, and 403 to a form
     * that another website sent.
     */
    behindSignIn(path: string, methods: Partial<Record<'GET' | 'POST', Handler<Visit>>>): Endpoint {
      const guarded = Object.entries(methods).map(([method, handle]) => [method, behind(signedIn, handle)]);
      return endpoint({ ...options, path, methods: Object.fromEntries(guarded) });
    },
  };
}

/** Returns true if the platform refuses the token of a session, because it was revoked. Asks once a minute. */
async function isRevoked(
  { sessionId, session }: Omit<Visit, keyof Exchange>,
  sessions: Sessions,
  callPlatform: ReturnType<typeof createPlatformCall>,
): Promise<boolean> {
  if (!sessions.isDue(sessionId)) return false;
  const call = { authorization: `Bearer ${session.accessToken}`, body: '{}' };
  const answer = await callPlatform('/AccessApi/Validate', call).catch(() => undefined);
  return answer?.status === 401;
}

/** Creates the error for a form that another website sent. */
export const foreignForm = () =>
  new ServiceError({ code: 'foreign_form', message: 'This form was sent from another website' });

/**
 * Creates the function that posts JSON to the platform with an access token. The function throws ServiceError
 * 503 if there is no answer, or if the edge refuses the address of this process.
 */
const createPlatformCall =
  ({ platformUrl }: DeveloperPortalConfig, fetchOutbound: OutboundFetch) =>
  async (path: string, { authorization, body, headers }: PlatformCall) => {
    const url = new URL(path, platformUrl);
    const sent = { ...headers, authorization, 'content-type': 'application/json' };
    const request = { method: 'POST', headers: sent, body, isOperators: true } as const;
    const answer = await fetchOutbound(url, request).catch((cause) => {
      throw temporarilyUnavailable('The platform did not answer', { cause });
    });
    // A 403 without `Launch-Refusal` is from the edge, because services state the reason of a refusal there.
    if (answer.status === 403 && answer.headers['launch-refusal'] === undefined)
      throw temporarilyUnavailable('The platform does not accept requests of the developer pages', {
        cause: new Error('add the address of the developer portal to SERVER_ALLOWED_NETWORKS of the edge'),
      });
    return answer;
  };
