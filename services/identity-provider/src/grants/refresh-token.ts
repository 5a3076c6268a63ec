import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Outbox } from '@clinical-launch/events/event-bus';
import { launchOf } from '@clinical-launch/tickets/ticket-format';
import type { FoundTicket, Redemption, Tickets } from '@clinical-launch/tickets/tickets';
import { narrowScope } from '../domain/authorization-request.ts';
import { isConfidential } from '../domain/client-certificates.ts';
import {
  type Link,
  type RefreshDetail,
  readRefreshToken,
  revocationSeconds,
} from '../domain/desktop-chain.ts';
import { TokenRefusal, tooManyRefreshes } from '../errors.ts';
import { assertDpopKey, certificateToBind, usingUp } from './bindings.ts';
import { describedGrants, type PartnerGrant, type PartnerRequest, type TokenAnswer } from './grant.ts';
import type { PrepareTokens } from './issue-tokens.ts';

/**
 * The seconds during which a used refresh token returns its successor again, because an answer may be lost,
 * and the seconds after the use of the successor, because two tabs may refresh at the same time.
 */
const repeatable = { repeatableSeconds: 60, repeatableAfterUseSeconds: 10 };

/**
 * The maximum number of refreshes of a launch. The limit allows more than one refresh a minute for twelve
 * hours. Each refresh uses storage until the launch ends.
 */
const refreshLimit = { redemptions: 1000 };

type RefreshDependencies = {
  readonly tickets: Tickets;
  readonly prepareTokens: PrepareTokens;
  readonly events: Outbox;
};

type Refresh = RefreshDependencies & { readonly token: string; readonly request: PartnerRequest };

/**
 * Creates the grant that redeems and rotates a refresh token (RFC 6749 section 6). A token reused after the
 * grace period must have leaked, so the whole token family is revoked (RFC 9700 section 4.14.2).
 */
export function refreshToken(dependencies: RefreshDependencies): PartnerGrant {
  return {
    ...describedGrants.refreshToken,
    async handle(request) {
      const token = request.parameters.get('refresh_token');
      if (token === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'refresh_token' });
      request.call.trace.follow(launchOf(token));
      const refresh = { ...dependencies, token, request };
      const found = await dependencies.tickets.find('refresh-token', token);
      if (found === undefined) return repeat(refresh);
      const link = linkOf(found);
      await assertOwn(link, request);
      request.call.adopt(found.correlationId);
      return rotate(refresh, link);
    },
  };
}

/** The content of a refresh token, and the seconds until its launch ends. */
type LiveLink = Link<RefreshDetail> & { readonly chainEndsInSeconds: number | undefined };

function linkOf(ticket: FoundTicket): LiveLink {
  return { ...readRefreshToken(ticket), chainEndsInSeconds: ticket.chainEndsInSeconds };
}

async function rotate(refresh: Refresh, link: LiveLink): Promise<TokenAnswer> {
  const tokens = await prepare(refresh, link);
  const redemption = await redeem(refresh, { detail: link.detail, events: [tokens.event] });
  if (redemption.outcome === 'redeemed')
    return tokens.answer({ context: link.context, refreshToken: successorOf(redemption) });
  if (redemption.outcome === 'repeated') return answerAgain(refresh, link, redemption);
  throw refusalOf(redemption);
}

/** Handles a token that was used within the grace period, was used earlier, or is unknown. */
async function repeat(refresh: Refresh): Promise<TokenAnswer> {
  const { request } = refresh;
  // A used or unknown token creates no successor, so this detail is never stored.
  const redemption = await redeem(refresh, { detail: {}, events: [] });
  if (redemption.outcome === 'repeated') {
    const link = linkOf(redemption);
    await assertOwn(link, request);
    request.call.adopt(redemption.correlationId);
    return answerAgain(refresh, link, redemption);
  }
  if ('correlationId' in redemption) request.call.adopt(redemption.correlationId);
  throw refusalOf(redemption);
}

function refusalOf(redemption: Redemption) {
  switch (redemption.outcome) {
    case 'used':
      return new TokenRefusal('used_refresh_token');
    case 'used-proof':
      return new TokenRefusal('used_dpop_proof');
    case 'exhausted':
      return tooManyRefreshes(redemption.chainEndsInSeconds);
    case 'redeemed':
    case 'repeated':
    case 'mismatch':
    case 'unknown':
      return new TokenRefusal('unknown_refresh_token');
  }
}

type Redeemed = Extract<Redemption, { context: unknown }>;

/** Returns the unused successor again, with new access and ID tokens. */
async function answerAgain(refresh: Refresh, link: LiveLink, redemption: Redeemed): Promise<TokenAnswer> {
  const tokens = await prepare(refresh, link);
  await refresh.events.append([tokens.event]);
  return tokens.answer({ context: link.context, refreshToken: successorOf(redemption) });
}

/**
 * Prepares the tokens for the requested part of the granted scope. The requested scope limits only this
 * access token. The next refresh token has the whole granted scope (RFC 6749 section 6).
 * @throws TokenRefusal
 */
function prepare({ prepareTokens, request }: Refresh, { detail, chainEndsInSeconds }: LiveLink) {
  const { realm, call, parameters, dpopProof } = request;
  const owner = realm.desktop.partners.get(detail.clientId);
  if (owner === undefined) throw new TokenRefusal('unknown_partner');
  const granted = detail.scope.split(' ');
  const scope = narrowScope(parameters.get('scope') ?? detail.scope, granted);
  if (scope === undefined) throw new TokenRefusal('scope_beyond_grant');
  const { clientId } = detail;
  return prepareTokens({
    realm,
    clientId,
    grant: 'refresh_token',
    scope: scope.join(' '),
    call,
    binding: { dpopKey: dpopProof?.thumbprint, certificate: certificateToBind(owner, request.certificate) },
    chainEndsInSeconds,
  });
}

function redeem(
  { tickets, token, request: { realm, call, dpopProof } }: Refresh,
  { detail, events }: { detail: object; events: readonly CloudEvent[] },
): Promise<Redemption> {
  const replayed = { realm: realm.name, reason: 'refresh_token_replayed' } as const;
  return tickets.redeem('refresh-token', token, {
    ...usingUp(dpopProof),
    limit: refreshLimit,
    successor: {
      kind: 'refresh-token',
      ttlSeconds: realm.desktop.refreshTokenSeconds,
      // Applies only to launches that an earlier release issued. They have no absolute end.
      chainSeconds: realm.desktop.sessionSeconds,
      detail,
      isDerived: true,
    },
    ...repeatable,
    onReplay: {
      revokeForSeconds: revocationSeconds(realm),
      events: [call.event('desktop.chain.revoked.v1', replayed)],
    },
    events,
  });
}

function successorOf({ successor }: Redeemed): string {
  if (successor === undefined) throw new TypeError('A redeemed refresh token must have another as successor');
  return successor;
}

/**
 * Checks that the token belongs to this realm, client, key and certificate, and that its partner is still
 * registered. Then counts the request.
 * @throws TokenRefusal, or ServiceError 429
 */
async function assertOwn(
  { context, detail }: Link<RefreshDetail>,
  { realm, partner, dpopProof, certificate, count }: PartnerRequest,
): Promise<void> {
  if (context.realm !== realm.name) throw new TokenRefusal('unknown_refresh_token');
  if (partner !== undefined && partner.clientId !== detail.clientId) {
    throw new TokenRefusal('refresh_token_of_other_client');
  }
  const owner = realm.desktop.partners.get(detail.clientId);
  if (owner === undefined) throw new TokenRefusal('unknown_partner');
  if (partner === undefined && isConfidential(owner)) throw new TokenRefusal('no_authentication');
  assertDpopKey(dpopProof?.thumbprint, { partner: owner, boundTo: detail.dpopKey });
  if (detail.certificate !== undefined && certificate !== detail.certificate)
    throw new TokenRefusal('ticket_of_other_certificate');
  await count(owner);
}
