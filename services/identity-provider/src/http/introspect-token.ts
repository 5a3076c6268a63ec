import { createEvent } from '@clinical-launch/contracts';
import type { Outbox } from '@clinical-launch/events';
import { type AccessTokenVerifier, callOf, type RateLimiter } from '@clinical-launch/service';
import type { Tickets } from '@clinical-launch/tickets';
import type { RequestHandler } from 'express';
import type { JWTPayload } from 'jose';
import { readRefreshToken } from '../domain/desktop-chain.ts';
import type { DesktopIssuingRealm, Realms } from '../domain/realms.ts';
import { TokenRefusal } from '../errors.ts';
import { eventSource } from '../event-source.ts';
import type { FindOwnToken } from '../store/own-tokens.ts';
import { assertOurRight } from './our-token.ts';
import { desktopRealmOfPath, type RealmParams } from './realm-of-path.ts';
import { pickParameters, readTokenForm } from './token-form.ts';

const requiredRight = 'token.introspect';

type IntrospectParts = {
  readonly realms: Realms;
  readonly tickets: Tickets;
  readonly tokens: AccessTokenVerifier;
  readonly findOwnToken: FindOwnToken;
  readonly limiter: RateLimiter;
  readonly events: Outbox;
};

/**
 * `POST /{realm}/oauth2/v2.0/introspect` (RFC 7662), for resource servers: they bring an access token of a realm of ours
 * with the right `token.introspect` (section 2.1). Tells nothing of the patient.
 */
export function introspectToken(parts: IntrospectParts): RequestHandler<RealmParams> {
  const { realms, tokens, limiter, events } = parts;
  return async (request, response) => {
    const realm = desktopRealmOfPath(realms, request.params);
    const asker = await tokens.verify(request.get('authorization'));
    limiter.count(`introspection ${asker.issuer} ${asker.clientId}`, asker.policy.requestsPerSecond);
    assertOurRight(asker, requiredRight, realms);
    const form = await readTokenForm(request, response);
    const token = pickParameters(form, ['token', 'token_type_hint']).get('token');
    if (token === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'token' });
    const told = await lookUp(parts, realm, token);
    const introspected = createEvent('access.introspected.v1', callOf(response).origin(eventSource), {
      realm: realm.name,
      issuer: asker.issuer,
      clientId: asker.clientId,
      isActive: told.active,
    });
    await events.append([introspected]);
    response.json(told);
  };
}

type Introspection = { readonly active: boolean; readonly [member: string]: unknown };

const inactive: Introspection = { active: false };

async function lookUp(
  { tickets, findOwnToken }: IntrospectParts,
  realm: DesktopIssuingRealm,
  token: string,
): Promise<Introspection> {
  const found = await tickets.find('refresh-token', token);
  if (found !== undefined) {
    const { context, detail } = readRefreshToken(found);
    if (context.realm !== realm.name) return inactive;
    const { clientId: client_id, scope } = detail;
    return { active: true, client_id, scope, sub: context.user.userERN, iss: realm.issuer };
  }
  const claims = await findOwnToken(realm, token);
  if (claims === undefined) return inactive;
  if (typeof claims.sid === 'string' && (await tickets.isChainRevoked(claims.sid))) return inactive;
  return { active: true, token_type: 'Bearer', ...toldOf(claims) };
}

/** All but the rest of the token: what is sealed in it is for the resource API. */
function toldOf({ launch_context: _sealed, ...claims }: JWTPayload): JWTPayload {
  return claims;
}
