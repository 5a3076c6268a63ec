import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { RegisteredClient } from '@clinical-launch/contracts/registry';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { networkOf, plainAddress } from '@clinical-launch/http/call';
import { authorizationOf } from '@clinical-launch/http/request-target';
import type { Attempts } from '@clinical-launch/limits/attempts';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Once } from '@clinical-launch/tickets/chains';
import type { SingleUse } from '@clinical-launch/tickets/tickets';
import { type ClientCertificate, clientCertificateOf } from '@clinical-launch/trust/proof-of-possession';
import { hasCertificates, isCertificateOf } from '../domain/client-certificates.ts';
import { checkClientSecret } from '../domain/client-secrets.ts';
import { TokenRefusal } from '../errors.ts';
import type { ClientRequest } from '../grants/grant.ts';
import type { FindClientKeys } from '../keys/client-keys.ts';
import { assertionParameters, authenticateByAssertion, readClientAssertion } from './client-assertion.ts';
import type { FormExchange, NamedExchange } from './realm-guards.ts';

type ClientAuthenticationDependencies = {
  readonly findClientKeys: FindClientKeys;
  readonly once: Once;
  readonly events: Outbox;
  readonly clock: Clock;
  /** Delays guesses of secrets. */
  readonly attempts: Attempts;
  /** The header in which the edge forwards client certificates. If absent, certificates are ignored. */
  readonly clientCertificateHeader?: string | undefined;
};

export type SenderDependencies = ClientAuthenticationDependencies & { readonly limiter: RateLimiter };

type Authenticating = Pick<FormExchange, 'realm' | 'parameters'> & {
  readonly dependencies: SenderDependencies;
  readonly authorization: string | undefined;
  readonly address: string | undefined;
  readonly certificate: ClientCertificate | undefined;
};

/**
 * An authenticated client. `commit` stores events and uses up the client's assertion in one step, which saves
 * a round trip to the store.
 */
type AuthenticatedClient = Pick<ClientRequest, 'client' | 'commit'>;

/**
 * A request of an authenticated client. `certificate` is the client certificate of the connection, if any.
 */
export type ClientExchange = FormExchange &
  NamedExchange &
  AuthenticatedClient &
  Pick<Authenticating, 'certificate'>;

/**
 * Creates the guard that authenticates the client of a request and counts the request towards the client's
 * rate limit. It accepts a secret (RFC 6749 section 2.3.1), a signed assertion (RFC 7523 section 2.2), or the
 * certificate of the connection (RFC 8705 section 2). It throws TokenRefusal 401 for invalid credentials, and
 * 400 for two kinds of credentials at once. It throws ServiceError 429 for another wrong secret during a wait,
 * or if the client exceeds its rate limit.
 */
export function authenticateClient(dependencies: SenderDependencies) {
  return async <In extends FormExchange>(exchange: In): Promise<In & ClientExchange> => {
    const { request, realm, parameters, call } = exchange;
    const { address } = call;
    const authorization = authorizationOf(request);
    const certificate = clientCertificateOf(request, dependencies.clientCertificateHeader);
    const proven = await proveClient({
      dependencies,
      realm,
      parameters,
      authorization,
      certificate,
      address,
    });
    const { clientId, requestsPerSecond } = proven.client;
    call.identify(`client ${realm.issuer} ${clientId}`, clientId);
    // Counts the request after authentication, so that only the client itself can use up its rate limit.
    await dependencies.limiter.count(`${realm.name} ${clientId}`, requestsPerSecond);
    return { ...exchange, ...proven, certificate, clientId };
  };
}

async function proveClient(exchange: Authenticating): Promise<AuthenticatedClient> {
  const { dependencies, realm, parameters } = exchange;
  const assertion = readClientAssertion(exchange);
  if (assertion === undefined) {
    const client = authenticateByCertificate(exchange) ?? (await authenticateBySecret(exchange));
    return { client, commit: (events) => dependencies.events.append(events) };
  }
  const { client, singleUse } = await authenticateByAssertion({
    assertion,
    realm,
    kind: 'client',
    registered: realm.clients,
    findKeys: dependencies.findClientKeys,
    clientId: parameters.get('client_id'),
    now: dependencies.clock.now(),
  });
  return { client, commit: (events) => useUp(dependencies.once, singleUse, events) };
}

/**
 * Uses up a single-use credential and stores the events in the same step.
 * @throws TokenRefusal if the credential was already used
 */
export async function useUp(
  once: Once,
  { name, forSeconds }: SingleUse,
  events: readonly CloudEvent[],
  clientId?: string,
): Promise<void> {
  if (await once.use(name, { forSeconds, events })) return;
  throw new TokenRefusal('used_assertion', { clientId });
}

/**
 * Authenticates the client in `client_id` by the certificate of the connection. Returns undefined without a
 * certificate, for a request with other credentials, and for a client without registered certificates.
 * @throws TokenRefusal 401
 */
function authenticateByCertificate({
  dependencies,
  realm,
  parameters,
  authorization,
  certificate,
}: Authenticating): RegisteredClient | undefined {
  if (certificate === undefined || authorization !== undefined || parameters.has('client_secret'))
    return undefined;
  const client = realm.clients.get(parameters.get('client_id') ?? '');
  if (client === undefined || !hasCertificates(client)) return undefined;
  if (isCertificateOf(client, certificate, dependencies.clock.now())) return client;
  throw new TokenRefusal('wrong_certificate', { clientId: client.clientId });
}

/**
 * Authenticates a client by its secret. The right secret never waits: secrets have 256 random bits, so that a
 * wait would protect nothing, and one node with an old secret would stop all nodes behind its address.
 */
async function authenticateBySecret(exchange: Authenticating): Promise<RegisteredClient> {
  const { realm, parameters, authorization, address } = exchange;
  const { attempts } = exchange.dependencies;
  const credentials = readClientCredentials({ authorization, parameters, realm: realm.name });
  // Counts attempts for unknown clients too, so that the answer does not reveal which clients exist.
  const key = JSON.stringify([realm.name, credentials.clientId, networkOf(plainAddress(address))]);
  const client = checkSecret(exchange, credentials);
  if (!(client instanceof TokenRefusal)) return client;
  await attempts.failed(key);
  throw client;
}

/** Returns the client, or the refusal if the secret is wrong or has expired. */
function checkSecret(
  { dependencies, realm }: Authenticating,
  { clientId, clientSecret, challenge: headers }: ClientCredentials,
): RegisteredClient | TokenRefusal {
  const client = realm.clients.get(clientId);
  const check = checkClientSecret(client, clientSecret, dependencies.clock.now());
  if (client === undefined) return new TokenRefusal('unknown_client', { headers });
  switch (check) {
    case 'accepted':
      return client;
    case 'expired':
      return new TokenRefusal('expired_secret', { headers, clientId });
    case 'wrong':
      return new TokenRefusal('wrong_secret', { headers, clientId });
  }
}

type ClientCredentials = {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The headers of the 401 answer that refuses these credentials. */
  readonly challenge: Readonly<Record<string, string>>;
};

export const clientAuthenticationMethods = ['client_secret_basic', 'client_secret_post'];
export const clientParameters = ['client_id', 'client_secret', ...assertionParameters];

/**
 * Reads the client credentials of a token request from the body or HTTP Basic (RFC 6749 section 2.3.1).
 * @param realm the protection space in the challenge
 * @throws TokenRefusal if there are none, if they are malformed, or if there are two kinds
 */
function readClientCredentials({
  authorization,
  parameters,
  realm,
}: {
  authorization: string | undefined;
  parameters: ReadonlyMap<string, string>;
  realm: string;
}): ClientCredentials {
  const clientId = parameters.get('client_id');
  const clientSecret = parameters.get('client_secret');
  if (authorization === undefined) {
    if (clientId === undefined || clientSecret === undefined) throw new TokenRefusal('no_authentication');
    return { clientId, clientSecret, challenge: {} };
  }
  if (clientSecret !== undefined) throw new TokenRefusal('two_authentications');
  // Only a client that sent an Authorization header receives a challenge (RFC 6749 section 5.2).
  const challenge = { 'WWW-Authenticate': `Basic realm="${realm}", charset="UTF-8"` };
  const basic = readBasic(authorization);
  if (basic === undefined) throw new TokenRefusal('malformed_authorization', { headers: challenge });
  if (clientId !== undefined && clientId !== basic.clientId) throw new TokenRefusal('two_authentications');
  return { ...basic, challenge };
}

/**
 * Reads HTTP Basic credentials (RFC 7617 section 2), in which the client id and the secret are
 * form-urlencoded (RFC 6749 section 2.3.1).
 */
function readBasic(authorization: string): { clientId: string; clientSecret: string } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  try {
    return { clientId: formDecode(pair.slice(0, colon)), clientSecret: formDecode(pair.slice(colon + 1)) };
  } catch {
    // A percent sign without two hexadecimal digits is not form-urlencoded.
    return undefined;
  }
}

const formDecode = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
