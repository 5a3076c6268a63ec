import { sendStatus } from '@clinical-launch/http/answer';
import { behind, type Handler } from '@clinical-launch/http/endpoint';
import { authorizationOf } from '@clinical-launch/http/request-target';
import type { Chains } from '@clinical-launch/tickets/chains';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { clientCertificateOf } from '@clinical-launch/trust/proof-of-possession';
import type { RevokedTokens } from '@clinical-launch/trust/revoked-tokens';
import { claimedClient } from '../domain/client-assertion.ts';
import { isConfidential } from '../domain/client-certificates.ts';
import { readRefreshToken, revocationSeconds } from '../domain/desktop-chain.ts';
import type { DesktopIssuingRealm, IssuingRealm } from '../domain/realms.ts';
import { TokenRefusal, tooManyRevokedTokens } from '../errors.ts';
import type { FindOwnToken } from '../keys/own-tokens.ts';
import {
  authenticateClient,
  type ClientExchange,
  clientParameters,
  type SenderDependencies,
} from './authenticate-client.ts';
import { authenticatePartner, type PartnerExchange } from './authenticate-partner.ts';
import {
  type FormExchange,
  isDesktopRealm,
  pickParameters,
  type RealmExchange,
  readTokenForm,
} from './realm-guards.ts';

type RevokeDependencies = SenderDependencies & {
  readonly tickets: Pick<Tickets, 'find'>;
  readonly chains: Chains;
  readonly revokedTokens: RevokedTokens;
  readonly findOwnToken: FindOwnToken;
};

/**
 * Revokes a token: `POST /{realm}/oauth2/v2.0/revoke` (RFC 7009). A client revokes its access token. A
 * partner application revokes a refresh or access token, and with it all codes and tokens of the same launch.
 * The answer is the same for an inactive token.
 */
export function revokeToken(dependencies: RevokeDependencies): Handler<RealmExchange> {
  const ofClient = behind(authenticateClient(dependencies)<FormExchange>, (exchange) =>
    revokeClientToken(dependencies, exchange),
  );
  const ofPartner = behind(authenticatePartner(dependencies)<FormExchange<DesktopIssuingRealm>>, (exchange) =>
    revokeLaunch(dependencies, exchange),
  );
  return async (sent) => {
    const { realm, response } = sent;
    const form = await readTokenForm(sent);
    const parameters = pickParameters(form, [...clientParameters, 'token', 'token_type_hint']);
    const exchange = { ...sent, parameters };
    if (isDesktopRealm(realm) && isPartner(dependencies, { ...exchange, realm }))
      await ofPartner({ ...exchange, realm });
    else await ofClient(exchange);
    sendStatus(response, 200);
  };
}

/**
 * Returns whether a request in a desktop realm is from a partner application. A request with credentials but
 * without a known partner counts as a request of a client, even of an unknown client. Otherwise, the answer
 * would reveal which clients exist.
 */
function isPartner(
  { clientCertificateHeader }: RevokeDependencies,
  { realm, parameters, request }: FormExchange<DesktopIssuingRealm>,
): boolean {
  const { clients, desktop } = realm;
  if (clients.size === 0) return true;
  const assertion = parameters.get('client_assertion');
  const named =
    parameters.get('client_id') ?? (assertion === undefined ? undefined : claimedClient(assertion));
  if (named !== undefined && desktop.partners.has(named)) return true;
  const isAuthenticating =
    authorizationOf(request) !== undefined ||
    assertion !== undefined ||
    parameters.has('client_secret') ||
    (named !== undefined && clientCertificateOf(request, clientCertificateHeader) !== undefined);
  return !isAuthenticating;
}

async function revokeLaunch(
  dependencies: RevokeDependencies,
  exchange: FormExchange<DesktopIssuingRealm> & PartnerExchange,
): Promise<void> {
  const { realm, call, partner } = exchange;
  const held = await findHeld(dependencies, realm, tokenOf(exchange));
  if (held === undefined) return;
  if (partner !== undefined && held.clientId !== partner.clientId) {
    throw new TokenRefusal('token_of_other_client');
  }
  const owner = realm.desktop.partners.get(held.clientId);
  if (partner === undefined && owner !== undefined && isConfidential(owner))
    throw new TokenRefusal('no_authentication');
  call.adopt(held.chain);
  const data = { realm: realm.name, reason: 'revoked_by_client' } as const;
  await dependencies.chains.revoke(held.chain, {
    forSeconds: revocationSeconds(realm),
    events: [call.event('desktop.chain.revoked.v1', data)],
  });
}

async function findHeld(
  { tickets, findOwnToken }: RevokeDependencies,
  realm: IssuingRealm,
  token: string,
): Promise<{ readonly clientId: string; readonly chain: string } | undefined> {
  const found = await tickets.find('refresh-token', token);
  if (found !== undefined) {
    const { context, detail } = readRefreshToken(found);
    return context.realm === realm.name
      ? { clientId: detail.clientId, chain: found.correlationId }
      : undefined;
  }
  const claims = await findOwnToken(realm, token);
  // An access token of a client belongs to no launch.
  if (typeof claims?.sid !== 'string' || typeof claims.client_id !== 'string') return undefined;
  return { clientId: claims.client_id, chain: claims.sid };
}

/**
 * The seconds for which verifiers may accept an expired token, because of their tolerance and slower clocks.
 */
const clockSlackSeconds = 60;

async function revokeClientToken(dependencies: RevokeDependencies, exchange: ClientExchange): Promise<void> {
  const { realm, call, client, commit } = exchange;
  const owner = `${realm.name} ${client.clientId}`;
  const claims = await dependencies.findOwnToken(realm, tokenOf(exchange));
  if (claims !== undefined && claims.client_id !== client.clientId) {
    throw new TokenRefusal('token_of_other_client');
  }
  // Uses up the client's assertion, even if there is nothing to revoke.
  await commit([]);
  if (claims?.jti === undefined || claims.exp === undefined) return;
  const data = { realm: realm.name, clientId: client.clientId, tokenId: claims.jti };
  const revoked = await dependencies.revokedTokens.revoke(claims.jti, {
    owner,
    forSeconds: claims.exp - dependencies.clock.now() / 1000 + clockSlackSeconds,
    events: [call.event('access.token.revoked.v1', data)],
  });
  if (revoked.outcome === 'full') throw tooManyRevokedTokens(revoked.retryAfterSeconds);
}

function tokenOf({ parameters }: Pick<FormExchange, 'parameters'>): string {
  const token = parameters.get('token');
  if (token === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'token' });
  return token;
}
