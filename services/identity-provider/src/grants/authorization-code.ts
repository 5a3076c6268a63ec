import type { RegisteredPartner } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { launchOf } from '@clinical-launch/tickets/ticket-format';
import type { FoundTicket, Tickets } from '@clinical-launch/tickets/tickets';
import { type TokenBinding } from '../domain/access-token.ts';
import { narrowScope } from '../domain/authorization-request.ts';
import { isConfidential } from '../domain/client-certificates.ts';
import {
  challengeOf,
  codeProof,
  type RefreshDetail,
  readCode,
  revocationSeconds,
} from '../domain/desktop-chain.ts';
import { TokenRefusal } from '../errors.ts';
import { assertDpopKey, certificateToBind, usingUp } from './bindings.ts';
import { describedGrants, type PartnerGrant, type PartnerRequest, type TokenAnswer } from './grant.ts';
import type { PrepareTokens } from './issue-tokens.ts';

/**
 * The pattern of a code verifier (RFC 7636 section 4.1). Only the profile standard allows the tilde (Desktop:
 * Limits).
 */
export const codeVerifierPattern = '^[A-Za-z0-9_.~-]{43,128}$';
const codeVerifierForm = new RegExp(codeVerifierPattern);

/** The number of wrong proofs (verifier or redirect URI) after which a code is revoked. */
const mismatchLimit = 5;

/**
 * Creates the grant that redeems the code of a launch for tokens once (RFC 6749 section 4.1.3, RFC 7636
 * section 4.5). A replay of the code revokes all tokens that the first use issued (RFC 6749 section 4.1.2).
 */
export function authorizationCode(tickets: Tickets, prepareTokens: PrepareTokens): PartnerGrant {
  return {
    ...describedGrants.authorizationCode,
    async handle(request) {
      const requested = readRequest(request);
      request.call.trace.follow(launchOf(requested.code));
      const found = await tickets.find('authorization-code', requested.code);
      if (found === undefined) return refuseDeadCode(tickets, requested.code, request);
      const scope = agreeScope(found, requested, request);
      await request.count(requested.partner);
      const { chainEndsInSeconds } = found;
      return redeemCode({ tickets, prepareTokens, requested, scope, request, chainEndsInSeconds });
    },
  };
}

type RequestedCode = ReturnType<typeof readRequest>;

/**
 * Reads every field of the specification's table (Desktop: Token request form fields). @throws TokenRefusal
 */
function readRequest({ partner, parameters }: PartnerRequest) {
  if (partner === undefined) throw new TokenRefusal('missing_parameter', { parameter: 'client_id' });
  const scope = parameters.get('scope');
  if (scope === undefined && partner.profile !== 'standard') {
    throw new TokenRefusal('missing_parameter', { parameter: 'scope' });
  }
  const code = required(parameters, 'code');
  const redirectUri = required(parameters, 'redirect_uri');
  const codeVerifier = required(parameters, 'code_verifier');
  const mayHaveTilde = partner.profile === 'standard';
  if (!codeVerifierForm.test(codeVerifier) || (codeVerifier.includes('~') && !mayHaveTilde))
    throw new TokenRefusal('malformed_code_verifier');
  const { clientId } = partner;
  const proof = codeProof({ clientId, redirectUri, codeChallenge: challengeOf(codeVerifier) });
  return { partner, scope, code, proof };
}

function required(parameters: ReadonlyMap<string, string>, parameter: string): string {
  const value = parameters.get(parameter);
  if (value === undefined) throw new TokenRefusal('missing_parameter', { parameter });
  return value;
}

/**
 * Checks that the code belongs to this realm, client and key. Returns the scope of the tokens: the granted
 * scope or the requested part of it. Leaves the code usable.
 * @throws TokenRefusal
 */
function agreeScope(
  found: FoundTicket,
  { scope, partner }: RequestedCode,
  { realm, call, dpopProof }: PartnerRequest,
): string {
  const { context, detail } = readCode(found);
  if (context.realm !== realm.name) throw new TokenRefusal('unknown_code');
  call.adopt(found.correlationId);
  if (detail.clientId !== partner.clientId) throw new TokenRefusal('code_of_other_client');
  assertDpopKey(dpopProof?.thumbprint, { partner, boundTo: detail.dpopKey });
  if (scope === undefined) return detail.scope;
  const narrowed = narrowScope(scope, detail.scope.split(' '));
  if (narrowed === undefined) throw new TokenRefusal('scope_beyond_grant');
  return narrowed.join(' ');
}

async function redeemCode({
  tickets,
  prepareTokens,
  requested: { partner, code, proof },
  scope,
  request,
  chainEndsInSeconds,
}: {
  tickets: Tickets;
  prepareTokens: PrepareTokens;
  requested: RequestedCode & { partner: RegisteredPartner };
  scope: string;
  request: PartnerRequest;
  chainEndsInSeconds: number | undefined;
}): Promise<TokenAnswer> {
  const { realm, call, dpopProof } = request;
  const { clientId } = partner;
  const grant = 'authorization_code';
  const binding = {
    dpopKey: dpopProof?.thumbprint,
    certificate: certificateToBind(partner, request.certificate),
  };
  const tokens = await prepareTokens({ realm, clientId, grant, scope, call, binding, chainEndsInSeconds });
  const { refreshTokenSeconds: ttlSeconds, sessionSeconds: chainSeconds } = realm.desktop;
  const detail: RefreshDetail = { clientId, scope, ...refreshBinding(partner, binding) };
  const redemption = await tickets.redeem('authorization-code', code, {
    proofs: [proof],
    ...usingUp(dpopProof),
    successor: { kind: 'refresh-token', ttlSeconds, chainSeconds, detail },
    onReplay: revocation('code_replayed', { realm, call }),
    onMismatch: { limit: mismatchLimit, ...revocation('code_guessed', { realm, call }) },
    events: [tokens.event],
  });
  if (redemption.outcome !== 'redeemed' && redemption.outcome !== 'repeated')
    throw new TokenRefusal(refusals[redemption.outcome]);
  if (redemption.successor === undefined)
    throw new TypeError('A redeemed code must have a refresh token as successor');
  const { context, detail: given } = readCode(redemption);
  const { nonce } = given;
  return tokens.answer({ context, refreshToken: redemption.successor, ...withoutUndefined({ nonce }) });
}

/** The refusal for each outcome without tokens. A code has no limit, so it cannot be exhausted. */
const refusals = {
  mismatch: 'code_mismatch',
  used: 'used_code',
  unknown: 'unknown_code',
  'used-proof': 'used_dpop_proof',
  exhausted: 'unknown_code',
} as const;

/**
 * Returns the key and certificate that a refresh token is bound to. Returns neither for a client that
 * authenticates, because authentication already binds its refresh tokens (RFC 9449 section 5, RFC 8705
 * section 4).
 */
function refreshBinding(
  partner: RegisteredPartner,
  { dpopKey, certificate }: TokenBinding,
): Pick<RefreshDetail, 'dpopKey' | 'certificate'> {
  if (isConfidential(partner)) return {};
  return withoutUndefined({ dpopKey, certificate });
}

/**
 * Refuses an invalid code. If the code was already used, revokes the launch. Passes no code verifier to
 * `redeem`, so that the code can never be redeemed.
 */
async function refuseDeadCode(tickets: Tickets, code: string, request: PartnerRequest): Promise<never> {
  const redemption = await tickets.redeem('authorization-code', code, {
    ...usingUp(request.dpopProof),
    onReplay: revocation('code_replayed', request),
    events: [],
  });
  if (redemption.outcome === 'used-proof') throw new TokenRefusal('used_dpop_proof');
  if (redemption.outcome !== 'used') throw new TokenRefusal('unknown_code');
  request.call.adopt(redemption.correlationId);
  throw new TokenRefusal('used_code');
}

function revocation(
  reason: 'code_replayed' | 'code_guessed',
  { realm, call }: Pick<PartnerRequest, 'realm' | 'call'>,
) {
  const data = { realm: realm.name, reason };
  return {
    revokeForSeconds: revocationSeconds(realm),
    events: [call.event('desktop.chain.revoked.v1', data)],
  };
}
