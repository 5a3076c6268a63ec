import { createEvent } from '@clinical-launch/contracts';
import type { Outbox } from '@clinical-launch/events';
import {
  type Call,
  callOf,
  isSpeculative,
  type RateLimiter,
  type ServiceError,
} from '@clinical-launch/service';
import type { Redemption, Tickets } from '@clinical-launch/tickets';
import type { Request, RequestHandler, Response } from 'express';
import { withParameters } from '../domain/addresses.ts';
import { type AuthorizationRequest, readAuthorizationRequest } from '../domain/authorization-request.ts';
import { type CodeDetail, codeProof, launchProof } from '../domain/desktop-chain.ts';
import type { DesktopIssuingRealm, Realms } from '../domain/realms.ts';
import { AuthorizeRefusal, speculativeRequest } from '../errors.ts';
import { eventSource } from '../event-source.ts';
import { askerOf, noteClient } from './asker.ts';
import { desktopRealmOfPath, type RealmParams } from './realm-of-path.ts';
import { readTokenForm } from './token-form.ts';

type AuthorizeParts = {
  readonly realms: Realms;
  readonly tickets: Tickets;
  readonly limiter: RateLimiter;
};

/**
 * `POST` or `GET /{realm}/oauth2/v2.0/authorize` (Desktop: Authorization endpoint; RFC 6749 section 4.1.1): uses the launch
 * identifier up for an authorization code and redirects with it to the registered redirect URI. Whatever is wrong is
 * answered here and never by a redirect, and leaves the launch identifier as it was.
 */
export function authorize({ realms, tickets, limiter }: AuthorizeParts): RequestHandler<RealmParams> {
  return async (request, response) => {
    response.set('Referrer-Policy', 'no-referrer');
    if (isSpeculative(request)) throw speculativeRequest();
    const realm = desktopRealmOfPath(realms, request.params);
    const asked = assertInOrder(await sentParameters(request, response), realm, response);
    await countHolder({ tickets, limiter, realm, asked });
    const redemption = await redeemLaunch({ tickets, realm, asked, call: callOf(response) });
    const code = assertRedeemed(redemption, callOf(response));
    const { redirectUri, state } = asked;
    const issuer = realm.desktop.sendsIssuer ? { iss: realm.issuer } : {};
    // Not by response.redirect, which would write the registered address another way.
    response
      .status(302)
      .set('Location', withParameters(redirectUri, { code, state, ...issuer }))
      .end();
  };
}

/** The form of a POST, the query of a GET; never both. */
function sentParameters(request: Request<RealmParams>, response: Response): Promise<URLSearchParams> {
  if (request.method === 'POST') return readTokenForm(request, response);
  return Promise.resolve(new URL(request.originalUrl, 'http://query').searchParams);
}

function assertInOrder(sent: URLSearchParams, realm: DesktopIssuingRealm, response: Response) {
  noteClient(response, realm.desktop.partners.get(sent.get('client_id') ?? ''));
  const read = readAuthorizationRequest(sent, realm);
  if ('faults' in read) throw new AuthorizeRefusal('faulty_parameters', read.faults);
  return read.request;
}

type LaunchUse = {
  readonly tickets: Tickets;
  readonly realm: DesktopIssuingRealm;
  readonly asked: AuthorizationRequest;
};

/** Whoever holds no launch identifier cannot use up a partner's limit. @throws ServiceError 429 */
async function countHolder({ tickets, limiter, realm, asked }: LaunchUse & { limiter: RateLimiter }) {
  const { clientId, requestsPerSecond } = asked.partner;
  if (requestsPerSecond === undefined) return;
  const found = await tickets.find('launch-identifier', asked.launch);
  if (found !== undefined) limiter.count(`${realm.name} ${clientId}`, requestsPerSecond);
}

function redeemLaunch({ tickets, realm, asked, call }: LaunchUse & { call: Call }): Promise<Redemption> {
  const { redirectUri, codeChallenge, scope, nonce, partner } = asked;
  const { clientId } = partner;
  const ttlSeconds = realm.desktop.authorizationCodeSeconds;
  const detail: CodeDetail = {
    clientId,
    redirectUri,
    scope,
    ...(nonce === undefined ? {} : { nonce }),
  };
  return tickets.redeem('launch-identifier', asked.launch, {
    proofs: [launchProof({ realm: realm.name, clientId })],
    successor: {
      kind: 'authorization-code',
      ttlSeconds,
      detail,
      challenge: codeProof({ clientId, redirectUri, codeChallenge }),
    },
    events: [
      createEvent('desktop.code.issued.v1', call.origin(eventSource), {
        realm: realm.name,
        clientId,
        ttlSeconds,
      }),
    ],
  });
}

/** The authorization code. @throws AuthorizeRefusal after the call has taken on the GUID of the launch it belongs to */
function assertRedeemed(redemption: Redemption, call: Call): string {
  if (redemption.outcome !== 'unknown') call.adopt(redemption.correlationId);
  switch (redemption.outcome) {
    case 'redeemed':
    case 'repeated':
      if (redemption.successor === undefined)
        throw new TypeError('A launch identifier has a code as its successor');
      return redemption.successor;
    case 'used':
      throw new AuthorizeRefusal('used_launch');
    case 'mismatch':
      throw new AuthorizeRefusal('launch_of_other_client');
    case 'unknown':
      throw new AuthorizeRefusal('unknown_launch');
  }
}

/** Writes `desktop.launch.refused.v1`; a 429 is only logged, so that a flood does not become a flood of events. */
export function auditAuthorizeRefusal(events: Outbox) {
  return async (error: ServiceError, call: Call, response: Response): Promise<void> => {
    const asker = askerOf(response);
    if (asker === undefined || error.status === 429) return;
    const isOurs = error instanceof AuthorizeRefusal;
    const refused = createEvent('desktop.launch.refused.v1', call.origin(eventSource), {
      ...asker,
      step: 'authorize',
      status: error.status,
      reason: isOurs ? error.reason : error.code,
      ...(isOurs && error.parameters.length > 0 ? { paths: [...error.parameters] } : {}),
    });
    await events.append([refused]);
  };
}
