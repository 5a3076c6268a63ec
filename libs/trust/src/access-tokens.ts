import { hash } from 'node:crypto';
import { asymmetricAlgorithms } from '@clinical-launch/contracts/client-authentication';
import { type PracticeBinding, practiceBindingOf } from '@clinical-launch/contracts/coded-identifiers';
import type { LaunchPolicy, Registry } from '@clinical-launch/contracts/registry';
import { memberOf, withoutUndefined } from '@clinical-launch/contracts/schema';
import { clockToleranceSeconds, expiryToleranceSeconds } from '@clinical-launch/contracts/time';
import { ServiceError } from '@clinical-launch/http/errors';
import { createOutboundFetch, type OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Logger } from '@clinical-launch/runtime/logger';
import { errors, type JWTPayload, type JWTVerifyResult } from 'jose';
import { LRUCache } from 'lru-cache';
import type { DpopProof } from './dpop-proof.ts';
import { invalidToken, missingToken, refusedToken } from './invalid-token.ts';
import { createIssuerKeys } from './issuer-keys.ts';
import { type IssuerPolicy, issuerPolicies } from './issuer-policies.ts';
import {
  dpopChallenge,
  type Possession,
  type PresentedToken,
  provePossession,
} from './proof-of-possession.ts';
import { keepKeys } from './published-keys.ts';
import { followRegistry, type RegistrySource, watchRegistry } from './registry-file.ts';
import type { Revocations } from './revocations.ts';
import { assertNoIdToken, assertPossibleTimes, isIdToken } from './token-claims.ts';
import type { Trust } from './trust.ts';
import type { VerificationKeys } from './verification-keys.ts';

/** The caller of a verified access token. */
export type Caller = {
  readonly issuer: string;
  readonly clientId: string;
  /** The rights in the token that the registry grants to this client. */
  readonly rights: ReadonlySet<string>;
  readonly policy: LaunchPolicy;
  /** The practices for which the client may act. If absent, the client may act for every practice. */
  readonly practices?: PracticeBinding;
  /** All claims of the verified token, for code that needs further claims. Their types are not checked. */
  readonly claims: Readonly<Record<string, unknown>>;
  /**
   * The DPoP proof of a bound token. Claim the proof before you serve the request, so that it counts only
   * once.
   */
  readonly proof?: DpopProof;
};

export type AccessTokenVerifier = {
  /**
   * Verifies the access token of an Authorization header (RFC 6750 section 2.1). A token that is bound to a
   * key needs a proof of possession (RFC 9449). A token that is bound to a certificate needs that certificate
   * (RFC 8705). Endpoints that pass neither a proof nor a certificate accept only unbound tokens.
   * @throws ServiceError 401 if the token is missing, invalid or revoked, and 503 if the issuer's keys or the
   * revocations cannot be read
   */
  verify(authorization: string | undefined, possession?: Possession): Promise<Caller>;
};

/**
 * The maximum time for which a verified token is cached. After this time, the token is verified again, and
 * refused if its key was withdrawn.
 */
const rememberedMs = 5 * 60_000;
/**
 * The maximum number of cached tokens. The least recently used tokens are removed first. A flood of other
 * tokens can displace the token of a busy client. That token is then only verified again.
 */
const rememberedTokens = 10_000;

type VerifierOptions = {
  readonly issuers: readonly IssuerPolicy[];
  readonly clock: Clock;
  readonly fetchOutbound: OutboundFetch;
  /** Logs why keys cannot be fetched. */
  readonly logger?: Logger | undefined;
  /** The ids of revoked tokens. Absent if no accepted token can be revoked by its id. */
  readonly revocations?: Revocations | undefined;
  readonly knownKeys?: Map<string, VerificationKeys>;
};

/** Creates the verifier for all trusted issuers. Fetches keys when they are first needed and caches them. */
export function createAccessTokenVerifier({
  issuers,
  revocations,
  knownKeys = new Map(),
  ...options
}: VerifierOptions): AccessTokenVerifier {
  const { clock } = options;
  const keysOf = (policy: IssuerPolicy) =>
    keepKeys(knownKeys, `${policy.issuer} ${policy.jwksUri}`, () => createIssuerKeys(policy, options));
  const trusted = new Map(
    issuers.map((policy) => [policy.issuer, { policy, keys: keysOf(policy), bindings: bindingsOf(policy) }]),
  );
  const remembered = new LRUCache<string, { caller: Caller; until: number }>({ max: rememberedTokens });

  const callerWith = async (token: string): Promise<Caller> => {
    const fingerprint = hash('sha256', token, 'base64');
    const known = remembered.get(fingerprint);
    if (known !== undefined && known.until > clock.now()) return known.caller;
    remembered.delete(fingerprint);

    const found = trusted.get(claimedIssuer(token));
    if (found === undefined) throw invalidToken('the issuer is not trusted');
    const { payload: claims, protectedHeader } = await verifySignature(token, found, clock.now());
    const caller = callerOf(claims, { ...found, type: protectedHeader.typ });
    const expiresAt = ((claims.exp ?? 0) + expiryToleranceSeconds) * 1000;
    remembered.set(fingerprint, { caller, until: Math.min(expiresAt, clock.now() + rememberedMs) });
    return caller;
  };

  return {
    async verify(authorization, possession = {}) {
      const presented = presentedToken(authorization, possession);
      const caller = await callerWith(presented.token);
      const { cnf, jti } = caller.claims;
      // Checks for a revocation at each request, because a token may be revoked while it is cached.
      if (typeof jti === 'string' && revocations?.has(jti)) throw invalidToken('the token was revoked');
      const proof = await provePossession(presented, { cnf, possession, now: clock.now() });
      return proof === undefined ? caller : { ...caller, proof };
    },
  };
}

const presentedForm = /^(Bearer|DPoP) +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i;

function presentedToken(authorization: string | undefined, { dpop }: Possession): PresentedToken {
  if (authorization === undefined)
    throw missingToken(dpop === undefined ? 'Bearer' : `Bearer, ${dpopChallenge}`);
  const [, scheme = '', token] = presentedForm.exec(authorization) ?? [];
  const isBearer = scheme.toLowerCase() === 'bearer';
  if (token === undefined || !(isBearer || dpop !== undefined))
    throw invalidToken('the Authorization header has no Bearer token');
  return { scheme: isBearer ? 'bearer' : 'dpop', token };
}

/**
 * Returns the issuer that the unverified token claims. The issuer only selects the keys that verify the
 * signature.
 */
function claimedIssuer(token: string): string {
  const issuer = memberOf(partOf(token, 1), 'iss');
  if (typeof issuer !== 'string') throw invalidToken('the token cannot be read');
  return issuer;
}

/** Returns the JSON of a part of an unverified token, or undefined if it cannot be read. */
function partOf(token: string, part: 0 | 1): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
}

async function verifySignature(
  token: string,
  { policy, keys }: { policy: IssuerPolicy; keys: VerificationKeys },
  now: number,
): Promise<JWTVerifyResult> {
  // Checked first, because such a token would be tried with several keys.
  if (policy.requiresKeyId && memberOf(partOf(token, 0), 'kid') === undefined)
    throw invalidToken('the token has no key id');
  try {
    const verified = await keys.verify(token, {
      issuer: policy.issuer,
      audience: [...policy.audiences],
      algorithms: asymmetricAlgorithms,
      currentDate: new Date(now),
      requiredClaims: ['exp'],
      ...(policy.requiresAccessTokenType ? { typ: 'at+jwt' } : {}),
    });
    assertPossibleTimes(verified.payload, now / 1000 + clockToleranceSeconds);
    return verified;
  } catch (error) {
    // An ID token fails the check of the type, but the reason “ID token” helps the caller more.
    const isOfOtherType = error instanceof errors.JWTClaimValidationFailed && error.claim === 'typ';
    if (isOfOtherType && isIdToken(error.payload, (audience = '') => policy.clients.has(audience)))
      throw invalidToken('the token is an ID token');
    throw error instanceof errors.JOSEError ? refusedToken(error, now) : error;
  }
}

type Bindings = ReadonlyMap<string, PracticeBinding>;

/**
 * Computes the practice binding of each client once for all requests, because a client may be bound to many
 * practices.
 */
function bindingsOf({ clients }: IssuerPolicy): Bindings {
  return new Map(
    [...clients].flatMap(([clientId, { policy }]) => {
      const binding = practiceBindingOf(policy.practices);
      return binding === undefined ? [] : [[clientId, binding] as const];
    }),
  );
}

type Accepted = {
  readonly policy: IssuerPolicy;
  readonly bindings: Bindings;
  /** The header `typ` of the token. */
  readonly type: string | undefined;
};

/** The type of an access token (RFC 9068 section 2.1). No ID token has this type. */
const accessTokenType = /^(?:application\/)?at\+jwt$/i;

/**
 * Returns the caller. Its rights are the rights that the token contains and the registry grants. No other
 * code decides rights.
 */
function callerOf(claims: JWTPayload, { policy, bindings, type = '' }: Accepted): Caller {
  const { issuer, rightClaims, clientIdClaims, clients } = policy;
  const clientId = clientIdClaims.map((name) => claims[name]).find((claim) => typeof claim === 'string');
  if (typeof clientId !== 'string') throw invalidToken('the token contains no client id');
  if (!accessTokenType.test(type)) assertNoIdToken(claims, clientId);
  const client = clients.get(clientId);
  if (client === undefined) throw invalidToken('the client is not registered');
  const carried = new Set(rightClaims.flatMap((name) => wordsOf(claims[name])));
  const rights = new Set(client.grants.filter((right) => carried.has(right)));
  const practices = bindings.get(clientId);
  return {
    issuer,
    clientId,
    policy: client.policy,
    rights,
    claims,
    ...withoutUndefined({ practices }),
  };
}

function wordsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((word) => typeof word === 'string') : [];
}

/**
 * Checks that the caller has a right.
 * @throws ServiceError 403 (RFC 6750 section 3.1, insufficient_scope)
 */
export function assertRight(caller: Caller, right: string): void {
  if (caller.rights.has(right)) return;
  throw new ServiceError({
    code: 'insufficient_scope',
    message: `The token does not have the right ${right}`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${right}"` },
  });
}

type FollowingVerifierOptions = Omit<VerifierOptions, 'issuers' | 'knownKeys'> & {
  readonly policiesOf: (registry: Registry) => readonly IssuerPolicy[];
  readonly revocations: Revocations | undefined;
};

/** Creates a verifier of access tokens that uses the current registry at each request. */
export function createFollowingVerifier(
  registry: RegistrySource,
  { policiesOf, ...options }: FollowingVerifierOptions,
): AccessTokenVerifier {
  const knownKeys = new Map<string, VerificationKeys>();
  const verifier = followRegistry(registry, (current) =>
    createAccessTokenVerifier({ issuers: policiesOf(current), knownKeys, ...options }),
  );
  return { verify: (...presented) => verifier().verify(...presented) };
}

type OpenVerifierOptions = Pick<FollowingVerifierOptions, 'clock' | 'revocations'> & {
  readonly logger: Logger;
  /**
   * Returns the policies of the issuers whose tokens are accepted. By default, the policies of the platform's
   * realms and of the trusted issuers.
   */
  readonly policiesOf?: typeof issuerPolicies;
  /** Refuses a registry that this process cannot use, before it takes effect. @throws Error */
  readonly checkRegistry?: (registry: Registry) => void;
};

/**
 * Opens the verifier of a process that follows its registry. The verifier accepts clients that are registered
 * while the process runs.
 * @throws TypeError if the registry is invalid
 */
export function openTokenVerifier(
  { registryFile, options, allowedNetworks, isProduction }: Trust,
  { clock, logger, policiesOf = issuerPolicies, revocations, checkRegistry: check }: OpenVerifierOptions,
) {
  const { publicUrl } = options;
  const registry = watchRegistry(registryFile, { publicUrl, logger, isProduction, check });
  return {
    registry,
    tokens: createFollowingVerifier(registry, {
      clock,
      logger,
      revocations,
      policiesOf: (current) => policiesOf(current, options),
      fetchOutbound: createOutboundFetch({ allowedNetworks }),
    }),
    checks: {},
    stop: async () => registry.stop(),
  };
}
