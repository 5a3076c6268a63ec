import { issuerOf } from '@clinical-launch/contracts/addresses';
import { launchedBy } from '@clinical-launch/contracts/desktop-context';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { compileSchema, guidPattern, withoutUndefined } from '@clinical-launch/contracts/schema';
import { isTokenContext, type TokenContext } from '@clinical-launch/contracts/token-context';
import { Type } from '@clinical-launch/contracts/type';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { bindingOfTokenContext, tokenContextPurpose } from '@clinical-launch/crypto/sealing-purposes';
import { sendText } from '@clinical-launch/http/answer';
import { behind, type Exchange, type Handler, type RefusalAudit } from '@clinical-launch/http/endpoint';
import { ServiceError, tooMany } from '@clinical-launch/http/errors';
import { authorizationOf } from '@clinical-launch/http/request-target';
import type { RateLimiter } from '@clinical-launch/limits/rate-limit';
import type { Chains } from '@clinical-launch/tickets/chains';
import type { AccessTokenVerifier, Caller } from '@clinical-launch/trust/access-tokens';
import type { DpopProof } from '@clinical-launch/trust/dpop-proof';
import { invalidToken } from '@clinical-launch/trust/invalid-token';
import { clientCertificateOf, invalidProof } from '@clinical-launch/trust/proof-of-possession';
import type { ResourceApiConfig } from '../config.ts';
import type { LaunchOfToken, Resource } from '../domain/resources.ts';
import type { Revocations } from '../store/revocations.ts';
import { addressOf, idOf, realmOf } from './addresses.ts';

type GetResourceDependencies = {
  readonly tokens: AccessTokenVerifier;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly chains: Pick<Chains, 'use'>;
  readonly revocations: Revocations;
  /** Limits the requests of each client across all replicas. */
  readonly limiter: RateLimiter;
};

type CallerExchange = Exchange & { readonly caller: Caller };

/**
 * Returns a resource: `GET /resource/{name}` (desktop launch: Resource API calls), the claims about the user
 * (`GET` or `POST /resource/userinfo`, OpenID Connect Core 1.0 section 5.3), or a FHIR resource below
 * the issuer. The checks refuse in this order. First come 401 for an invalid token, and 429 over the client's
 * rate limit. Then comes 401 for a token without a launch or of a revoked launch. Next come 403 without the
 * scope or the permission, and 401 for a launch context that cannot be decrypted. Then come 404 for an id of
 * another launch, 401 for a used proof, and 429 over the limit of the launch. The audit event is stored
 * before the answer.
 */
export function getResource(
  resource: Resource,
  config: ResourceApiConfig,
  { tokens, chains, revocations, limiter, sealer }: GetResourceDependencies,
): Handler {
  const verifyCaller = async (exchange: Exchange): Promise<CallerExchange> => {
    const { request, call } = exchange;
    const { method = '', headers } = request;
    // Node joins repeated headers of this name into one string.
    const header = typeof headers.dpop === 'string' ? headers.dpop : undefined;
    const caller = await tokens.verify(authorizationOf(request), {
      clientCertificate: () => clientCertificateOf(request, config.clientCertificateHeader),
      dpop: { header, method, url: addressOf(resource.path, config.publicUrl, exchange) },
    });
    const realm = realmOf(exchange);
    // A token gives access only to the FHIR base of its own realm, because the ids of a launch are valid only
    // there.
    if (realm !== undefined && caller.issuer !== issuerOf(config.publicUrl, realm))
      throw invalidToken('the issuer is not trusted');
    call.identify(`client ${caller.issuer} ${caller.clientId}`, caller.clientId);
    return { ...exchange, caller };
  };

  return behind(verifyCaller, async (exchange) => {
    const { response, call, caller } = exchange;
    await limiter.count(`resource ${caller.issuer} ${caller.clientId}`, caller.policy.requestsPerSecond);
    const launch = launchOfToken(caller);
    call.adopt(launch.correlationId);
    if (await revocations.has(launch.correlationId)) throw invalidToken('the launch was revoked');
    assertScope(launch, resource);
    assertPermission(launch.authorizations, resource.permission);
    const id = idOf(exchange);
    const representation = resource.represent(openContext(launch, sealer), launch, id);
    if (representation === undefined)
      throw new ServiceError({ code: 'not_found', message: 'The launch has no resource with this id' });
    const { issuer, clientId } = caller;
    const read = { issuer, clientId, tokenId: launch.tokenId, resource: resource.name };
    await recordRead(chains, { launch, proof: caller.proof, event: call.event('resource.read.v1', read) });
    response.setHeader('Cache-Control', 'no-store');
    sendText(response, resource.mediaType, JSON.stringify(representation));
  });
}

/**
 * The limit of reads of one launch, so that no single access token can fill the store. No application needs
 * as many reads.
 */
const readLimit = { uses: 300, seconds: 60 };

/**
 * Stores the event of a read. In the same step, counts the read towards the limit of the launch and uses up
 * the DPoP proof of the request.
 * @throws ServiceError 401 for a replayed proof, and 429 for a launch that was read too often
 */
async function recordRead(
  chains: Pick<Chains, 'use'>,
  {
    launch: { correlationId },
    proof,
    event,
  }: { launch: LaunchOfToken; proof: DpopProof | undefined; event: CloudEvent },
): Promise<void> {
  const use = await chains.use(correlationId, { proof, limit: readLimit, events: [event] });
  switch (use.outcome) {
    case 'accepted':
      return;
    case 'used-proof':
      throw invalidProof(
        'The DPoP proof was already used. Create a new proof for each request, with its own jti',
      );
    case 'limited':
      throw tooMany(use.waitSeconds * 1000);
  }
}

/** Checks that the scope of the token allows reading a resource. @throws ServiceError 403 */
function assertScope({ scopes }: LaunchOfToken, { scope }: Resource): void {
  if (scope === undefined || scopes.some((word) => scope.pattern.test(word))) return;
  const { needed } = scope;
  throw new ServiceError({
    code: 'insufficient_scope',
    message: `The token does not have the scope ${needed}`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${needed}"` },
  });
}

/**
 * Checks that the user has a permission. A token with another scope would not help, so the challenge contains
 * no scope (RFC 6750 section 3.1).
 * @throws ServiceError 403
 */
function assertPermission(authorizations: readonly string[], permission: string | undefined): void {
  if (permission === undefined || authorizations.includes(permission)) return;
  throw new ServiceError({
    code: 'insufficient_scope',
    message: `The user does not have the permission ${permission}`,
    headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope"' },
  });
}

/** Returns a function that creates the event `resource.refused.v1` for a refusal other than 405. */
export function auditRefusal(resource: Resource): RefusalAudit<CallerExchange> {
  return ({ status, code }, { call, caller }) => {
    if (status === 405) return undefined;
    return call.event('resource.refused.v1', {
      status,
      reason: code,
      resource: resource.name,
      ...withoutUndefined({ issuer: caller?.issuer, clientId: caller?.clientId }),
    });
  };
}

const claimsForm = compileSchema(
  Type.Object({
    sid: Type.String({ pattern: guidPattern }),
    jti: Type.String({ maxLength: 100 }),
    scope: Type.String(),
    authorizations: Type.Array(Type.String()),
    launch_context: Type.String(),
    launched_by: Type.Optional(launchedBy),
  }),
);

/** Reads the claims of a desktop launch. @throws ServiceError 401 for any other token */
function launchOfToken({ claims, issuer }: Caller): LaunchOfToken {
  if (!claimsForm.is(claims)) throw invalidToken('the token was not issued for a desktop launch');
  const { sid: correlationId, jti: tokenId, scope, authorizations, launch_context: sealedContext } = claims;
  const launch = { correlationId, tokenId, issuer, scopes: scope.split(' '), authorizations, sealedContext };
  return { ...launch, ...withoutUndefined({ launched_by: claims.launched_by }) };
}

/**
 * Decrypts the launch context that the identity provider stored in the token.
 * @throws ServiceError 401 if the context cannot be decrypted, for example because a rotation removed its
 * key. A refreshed token uses the current key.
 */
function openContext(launch: LaunchOfToken, sealer: Pick<Sealer, 'open'>): TokenContext {
  const context = open(launch, sealer);
  if (isTokenContext(context)) return context;
  throw invalidToken('the launch context of the token is not the context of a desktop launch');
}

function open(
  { sealedContext, tokenId, correlationId: launchId }: LaunchOfToken,
  sealer: Pick<Sealer, 'open'>,
): unknown {
  try {
    return sealer.open(tokenContextPurpose, sealedContext, bindingOfTokenContext({ tokenId, launchId }));
  } catch (cause) {
    throw invalidToken('the launch context of the token cannot be decrypted', { cause });
  }
}
