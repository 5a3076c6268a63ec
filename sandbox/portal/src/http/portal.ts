import { randomBytes } from 'node:crypto';
import type { Sealers } from '@clinical-launch/crypto/sealing-purposes';
import {
  behind,
  type Endpoint,
  type Exchange,
  endpoint,
  type Guard,
  type Handler,
} from '@clinical-launch/http/endpoint';
import { ServiceError, temporarilyUnavailable } from '@clinical-launch/http/errors';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { readSentCookies } from '@clinical-launch/pages/cookies';
import { isOwnForm } from '@clinical-launch/pages/own-form';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { AccessTokenVerifier } from '@clinical-launch/trust/access-tokens';
import { followRegistry, type RegistrySource } from '@clinical-launch/trust/registry-file';
import type { DeveloperPortalConfig } from '../config.ts';
import { examplePayload } from '../domain/example-payload.ts';
import { credentialsOf, type SandboxClient, sandboxClientsOf } from '../domain/sandbox-clients.ts';
import { createCallbacks } from '../store/callbacks.ts';
import { createSessions, type DeveloperSession } from '../store/sessions.ts';
import { createDialect, createShow } from './pages.ts';

type SharedDependencies = {
  readonly clock: Clock;
  /** Opens the callback secrets in the registry. */
  readonly sealers: Pick<Sealers, 'callback'>;
};

export type DeveloperPortalDependencies = SharedDependencies & {
  readonly tokens: AccessTokenVerifier;
  readonly registry: RegistrySource;
  /** Sends requests to the platform. */
  readonly fetchOutbound: OutboundFetch;
};

/** A request of a developer of a client. */
export type ClientVisit = Exchange & { readonly client: SandboxClient };

/** A request of a developer who is signed in for a sandbox client. */
export type Visit = ClientVisit & { readonly sessionId: string; readonly session: DeveloperSession };

type PlatformCall = {
  readonly authorization: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

type DevelopersOptions<Known extends ClientVisit> = SharedDependencies & {
  readonly config: Pick<
    DeveloperPortalConfig,
    'publicUrl' | 'platformUrl' | 'allowedNetworks' | 'isProduction'
  > &
    Partial<Pick<DeveloperPortalConfig, 'statementKeys'>>;
  /** Returns the clients whose developers may send requests, by client id. */
  readonly clients: () => ReadonlyMap<string, SandboxClient>;
  /** Finds the client of a request. @throws ServiceError if the request may see no client */
  readonly identify: Guard<Exchange, Known>;
};

/** What the endpoints of a client share. The portal identifies the client by a session, the twin without. */
export type Developers = ReturnType<typeof createDevelopers<ClientVisit>>;

/** Creates the stores and functions that the endpoints of developers share. */
export function createDevelopers<Known extends ClientVisit>({
  identify,
  ...options
}: DevelopersOptions<Known>) {
  const show = createShow();
  const dialect = createDialect(options.config, show);
  const endpointOptions = {
    source: '/developer-portal',
    dialect,
    headers: { 'Cache-Control': 'no-store' },
  };
  return {
    ...options,
    show,
    dialect,
    callbacks: createCallbacks(),

    /** Creates an endpoint for everybody. */
    open: (path: string, methods: Partial<Record<'GET' | 'POST', Handler>>): Endpoint =>
      endpoint({ ...endpointOptions, path, methods }),

    /** Creates an endpoint for the developers of a client. */
    ofClient(path: string, methods: Partial<Record<'GET' | 'POST', Handler<Known>>>): Endpoint {
      const guarded = Object.entries(methods).map(([method, handle]) => [method, behind(identify, handle)]);
      return endpoint({ ...endpointOptions, path, methods: Object.fromEntries(guarded) });
    },
  };
}

export type Portal = ReturnType<typeof createPortal>;

/**
 * Creates the functions that the endpoints of the portal share. Its endpoints of a client answer 401 without
 * a session, and 403 to a form that another website sent.
 */
export function createPortal(
  config: DeveloperPortalConfig,
  { fetchOutbound, registry, tokens, ...dependencies }: DeveloperPortalDependencies,
) {
  const sessions = createSessions(dependencies.clock);
  const clients = followRegistry(registry, sandboxClientsOf);
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

  /**
   * Returns the status with which the launch API answers a check of a token. The payload is valid, so that the
   * audit trail does not record a refused request of the client. The status is 401 for a revoked token.
   */
  const checkToken = async (accessToken: string, client: SandboxClient): Promise<number> => {
    const payload = examplePayload(client, config.namespaces, { now: dependencies.clock.now() });
    const { status } = await callPlatform('/AccessApi/Validate', {
      authorization: `Bearer ${accessToken}`,
      body: JSON.stringify(payload),
      headers: { 'code-challenge': randomBytes(32).toString('base64url') },
    });
    return status;
  };

  /** Returns true if the platform refuses the token of a session, because it was revoked. Asks once a minute. */
  const isRevoked = async ({ sessionId, session, client }: Omit<Visit, keyof Exchange>) =>
    sessions.isDue(sessionId) &&
    (await checkToken(session.accessToken, client).catch(() => undefined)) === 401;

  const signedIn = async (exchange: Exchange): Promise<Visit> => {
    const { request, call } = exchange;
    if (request.method === 'POST' && !isOwnForm(request, config.publicUrl)) throw foreignForm();
    const visit = findVisit(exchange);
    const isEnded = visit !== undefined && (await isRevoked(visit));
    if (isEnded) sessions.end(visit.sessionId);
    if (visit === undefined || isEnded)
      throw new ServiceError({
        code: 'session_required',
        message: 'You are not signed in, or your session has ended',
      });
    call.identify(`developer ${visit.client.clientId}`, visit.client.clientId);
    return { ...exchange, ...visit };
  };

  const developers = createDevelopers({ ...dependencies, config, clients, identify: signedIn });
  return { ...developers, config, sessions, tokens, cookieName, findVisit, callPlatform, checkToken };
}

/** Creates the error for a form that another website sent. */
export const foreignForm = () =>
  new ServiceError({ code: 'foreign_form', message: 'This form was sent from another website' });

/**
 * Creates the function that posts to the platform, by default JSON. The function throws ServiceError
 * 503 if there is no answer, or if the edge refuses the address of this process.
 */
const createPlatformCall =
  ({ platformUrl }: DeveloperPortalConfig, fetchOutbound: OutboundFetch) =>
  async (path: string, { authorization, body, headers }: PlatformCall) => {
    const url = new URL(path, platformUrl);
    const sent = { 'content-type': 'application/json', ...headers, authorization };
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
