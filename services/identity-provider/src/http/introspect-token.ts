import { isTokenContext, type TokenContext } from '@clinical-launch/contracts/token-context';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { bindingOfTokenContext, tokenContextPurpose } from '@clinical-launch/crypto/sealing-purposes';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { sendJson } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import { authorizationOf } from '@clinical-launch/http/request-target';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Chains } from '@clinical-launch/tickets/chains';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import { type AccessTokenVerifier, assertRight } from '@clinical-launch/trust/access-tokens';
import { clientCertificateOf } from '@clinical-launch/trust/proof-of-possession';
import type { RevokedTokens } from '@clinical-launch/trust/revoked-tokens';
import type { JWTPayload } from 'jose';
import { confirmationOf } from '../domain/access-token.ts';
import { readRefreshToken } from '../domain/desktop-chain.ts';
import { hostClaim, signInClaims } from '../domain/desktop-tokens.ts';
import type { IssuingRealm } from '../domain/realms.ts';
import { introspectedContext } from '../domain/smart-context.ts';
import { TokenRefusal } from '../errors.ts';
import type { FindOwnToken } from '../keys/own-tokens.ts';
import { pickParameters, type RealmExchange, readTokenForm } from './realm-guards.ts';

/** The right that a resource server needs. */
export const introspectionRight = 'token.introspect';

type IntrospectDependencies = {
  readonly tickets: Pick<Tickets, 'find'>;
  readonly chains: Chains;
  readonly revokedTokens: Pick<RevokedTokens, 'has'>;
  readonly tokens: AccessTokenVerifier;
  readonly findOwnToken: FindOwnToken;
  readonly limiter: RateLimiter;
  readonly events: Outbox;
  /** Decrypts the launch context in access tokens. */
  readonly contextSealer: Pick<Sealer, 'open'>;
  readonly pseudonyms: Pick<PatientPseudonyms, 'fhirIdsOf'>;
  readonly clientCertificateHeader?: string | undefined;
};

/**
 * Returns whether a token is active: `POST /{realm}/oauth2/v2.0/introspect` (RFC 7662). A resource server
 * must send an access token of one of our realms with the right `token.introspect` (section 2.1). The answer
 * contains no patient data except the id of the FHIR Patient.
 */
export function introspectToken(dependencies: IntrospectDependencies): Handler<RealmExchange> {
  const { tokens, limiter, events, clientCertificateHeader } = dependencies;
  return async (exchange) => {
    const { realm, request, response, call } = exchange;
    const requester = await tokens.verify(authorizationOf(request), {
      clientCertificate: () => clientCertificateOf(request, clientCertificateHeader),
    });
    call.identify(`client ${requester.issuer} ${requester.clientId}`, requester.clientId);
    await limiter.count(
      `introspection ${requester.issuer} ${requester.clientId}`,
      requester.policy.requestsPerSecond,
    );
    assertRight(requester, introspectionRight);
    const form = await readTokenForm(exchange);
    const token = pickParameters(form, ['token', 'token_type_hint']).get('token');
    if (token === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'token' });
    const answer = await lookUp(dependencies, realm, token);
    const introspected = call.event('access.introspected.v1', {
      realm: realm.name,
      issuer: requester.issuer,
      clientId: requester.clientId,
      isActive: answer.active,
    });
    await events.append([introspected]);
    sendJson(response, answer);
  };
}

type Introspection = { readonly active: boolean; readonly [member: string]: unknown };

const inactive: Introspection = { active: false };

async function lookUp(
  dependencies: IntrospectDependencies,
  realm: IssuingRealm,
  token: string,
): Promise<Introspection> {
  const { tickets, findOwnToken, contextSealer, pseudonyms } = dependencies;
  const found = await tickets.find('refresh-token', token);
  if (found !== undefined) {
    const { context, detail } = readRefreshToken(found);
    if (context.realm !== realm.name) return inactive;
    const { clientId: client_id, scope } = detail;
    const sub = context.user.userERN;
    const claims = { ...signInClaims(context), ...hostClaim(context), ...confirmationOf(detail) };
    const launch = introspectedContext({ realm, scope, fhirIds: pseudonyms.fhirIdsOf(context) });
    return { active: true, client_id, scope, sub, iss: realm.issuer, ...claims, ...launch };
  }
  const claims = await findOwnToken(realm, token);
  if (claims === undefined || (await hasEnded(claims, realm, dependencies))) return inactive;
  const { launch_context: sealed, ...others } = claims;
  const answer = { active: true, token_type: isBoundToKey(claims) ? 'DPoP' : 'Bearer', ...others };
  if (sealed === undefined) return answer;
  const context = openContext(claims, contextSealer);
  if (context === undefined) return inactive;
  const { fhirIds } = context;
  const scope = String(claims.scope);
  return fhirIds === undefined ? answer : { ...answer, ...introspectedContext({ realm, scope, fhirIds }) };
}

/**
 * Decrypts the launch context of an access token. Returns undefined if it cannot be decrypted, for example
 * because a rotation removed its key. The resource API refuses such a token.
 */
function openContext(
  { launch_context, jti, sid }: JWTPayload,
  sealer: Pick<Sealer, 'open'>,
): TokenContext | undefined {
  const binding = bindingOfTokenContext({ tokenId: String(jti), launchId: String(sid) });
  try {
    const context = sealer.open(tokenContextPurpose, String(launch_context), binding);
    return isTokenContext(context) ? context : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a token was revoked. Queries the store without a cache, so that a revocation applies
 * immediately. A token of a launch is revoked with its launch.
 */
async function hasEnded(
  { sid, jti, client_id }: JWTPayload,
  { clients }: IssuingRealm,
  { chains, revokedTokens }: Pick<IntrospectDependencies, 'chains' | 'revokedTokens'>,
): Promise<boolean> {
  if (typeof sid === 'string') return await chains.isRevoked(sid);
  // The tokens of a client that was removed from the registry are inactive.
  if (typeof client_id !== 'string' || !clients.has(client_id) || jti === undefined) return true;
  return await revokedTokens.has(jti);
}

/**
 * Returns whether a token is bound to a key. A token that is bound only to a certificate is a Bearer token
 * (RFC 8705 section 3).
 */
const isBoundToKey = ({ cnf }: JWTPayload) => typeof cnf === 'object' && cnf !== null && 'jkt' in cnf;
