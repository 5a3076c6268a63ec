import { createHash } from 'node:crypto';
import type { LaunchPolicy } from '@clinical-launch/contracts';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from './clock.ts';
import { ServiceError } from './errors.ts';

/** One identity provider whose access tokens are accepted, and on what terms. */
export type IssuerPolicy = {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Its published keys; when absent, its discovery document (OpenID Connect Discovery 1.0) says where they are. */
  readonly jwksUri?: string;
  readonly rightClaims: readonly ('scope' | 'scp' | 'roles')[];
  /** Only tokens that name themselves access tokens (RFC 9068 section 4); for issuers that are known to. */
  readonly requiresAccessTokenType: boolean;
  /** The clients that may call, and what each registered; any client when absent. */
  readonly clients?: ReadonlyMap<string, LaunchPolicy>;
};

/** Who calls, as a verified access token has it. */
export type Caller = {
  readonly issuer: string;
  readonly clientId: string;
  readonly rights: ReadonlySet<string>;
  readonly policy: LaunchPolicy;
  /** Everything that the token says, for who needs more than the rights. Verified; of whatever form they came. */
  readonly claims: Readonly<Record<string, unknown>>;
};

export type AccessTokenVerifier = {
  /**
   * Verifies the Bearer token of an Authorization header (RFC 6750 section 2.1).
   * @throws ServiceError 401 when there is none or it is not valid, 503 when the issuer's keys cannot be had.
   */
  verify(authorization: string | undefined): Promise<Caller>;
};

/** Asymmetric only: with a symmetric one among them, a public key could be used as the secret. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const clockToleranceSeconds = 10;
/** A verified token is remembered this long at most, so that a withdrawn key has an end. */
const rememberedMs = 5 * 60_000;
const rememberedTokens = 10_000;

/** Creates the verifier for all trusted issuers. Keys are fetched when first needed and kept. */
export function createAccessTokenVerifier({
  issuers,
  clock,
}: {
  issuers: readonly IssuerPolicy[];
  clock: Clock;
}): AccessTokenVerifier {
  const trusted = new Map(issuers.map((policy) => [policy.issuer, { policy, keys: publishedKeys(policy) }]));
  const remembered = new Map<string, { caller: Caller; until: number }>();

  return {
    async verify(authorization) {
      const token = bearerToken(authorization);
      const fingerprint = createHash('sha256').update(token).digest('base64');
      const known = remembered.get(fingerprint);
      if (known !== undefined && known.until > clock.now()) return known.caller;
      remembered.delete(fingerprint);

      const found = trusted.get(claimedIssuer(token));
      if (found === undefined) throw invalidToken('the issuer is not trusted');
      const claims = await verifySignature(token, found, clock);
      const caller = callerOf(claims, found.policy);
      if (remembered.size >= rememberedTokens) remembered.clear();
      const expiresAt = ((claims.exp ?? 0) + clockToleranceSeconds) * 1000;
      remembered.set(fingerprint, { caller, until: Math.min(expiresAt, clock.now() + rememberedMs) });
      return caller;
    },
  };
}

function bearerToken(authorization: string | undefined): string {
  // RFC 6750 section 3.1: who sent nothing is told no error code, only how to authenticate.
  if (authorization === undefined) throw invalidToken('there is no Bearer token', { challenge: 'Bearer' });
  const [, token] = /^Bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(authorization) ?? [];
  if (token === undefined) throw invalidToken('the Authorization header has no Bearer token');
  return token;
}

/** Only chooses whose keys are tried; the signature decides. */
function claimedIssuer(token: string): string {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    if (typeof claims === 'object' && claims !== null && 'iss' in claims && typeof claims.iss === 'string')
      return claims.iss;
  } catch {
    // Falls through: a token that cannot be read names no issuer.
  }
  throw invalidToken('the token cannot be read');
}

async function verifySignature(
  token: string,
  { policy, keys }: { policy: IssuerPolicy; keys: JWTVerifyGetKey },
  clock: Clock,
): Promise<JWTPayload> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: policy.issuer,
      audience: [...policy.audiences],
      algorithms,
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(clock.now()),
      requiredClaims: ['exp'],
      ...(policy.requiresAccessTokenType ? { typ: 'at+jwt' } : {}),
    });
    if (protectedHeader.kid === undefined) throw invalidToken('the token names no key');
    // jose looks at `iat` only together with a maximum age.
    if ((payload.iat ?? 0) > clock.now() / 1000 + clockToleranceSeconds)
      throw invalidToken('the token is from the future');
    return payload;
  } catch (error) {
    throw error instanceof errors.JOSEError
      ? invalidToken('the token is not valid', { cause: error })
      : error;
  }
}

/** The keys of an issuer, where a failure to get them cannot be taken for a fault of the token. */
function publishedKeys(policy: IssuerPolicy): JWTVerifyGetKey {
  let remote: Promise<JWTVerifyGetKey> | undefined;
  const find = () => {
    remote ??= locateKeys(policy).then((address) => createRemoteJWKSet(address, { timeoutDuration: 5000 }));
    // A failed look-up is not remembered.
    remote.catch(() => {
      remote = undefined;
    });
    return remote;
  };
  return async (header, token) => {
    try {
      return await (await find())(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
        throw error;
      throw keysUnavailable(error);
    }
  };
}

async function locateKeys({ issuer, jwksUri }: IssuerPolicy): Promise<URL> {
  if (jwksUri !== undefined) return new URL(jwksUri);
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, {
    redirect: 'error',
    signal: AbortSignal.timeout(5000),
  });
  const metadata: unknown = response.ok ? await response.json() : undefined;
  if (typeof metadata !== 'object' || metadata === null)
    throw new Error('The discovery document cannot be had');
  const { issuer: statedIssuer, jwks_uri: address } = metadata as { issuer?: unknown; jwks_uri?: unknown };
  // OpenID Connect Discovery 1.0 section 4.3
  if (statedIssuer !== issuer || typeof address !== 'string')
    throw new Error('The discovery document is of another issuer');
  return new URL(address);
}

function callerOf(claims: JWTPayload, { issuer, rightClaims, clients }: IssuerPolicy): Caller {
  const clientId = [claims.client_id, claims.azp, claims.appid].find((claim) => typeof claim === 'string');
  if (typeof clientId !== 'string') throw invalidToken('the token names no client');
  const policy = clients === undefined ? {} : clients.get(clientId);
  if (policy === undefined) throw invalidToken('the client is not registered here');
  const rights = new Set(rightClaims.flatMap((name) => wordsOf(claims[name])));
  return { issuer, clientId, policy, rights, claims };
}

function wordsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim.filter((word) => typeof word === 'string') : [];
}

type InvalidTokenOptions = { readonly challenge?: string; readonly cause?: unknown };

/** The 401 of a token that is not accepted (RFC 6750 section 3). */
export function invalidToken(
  reason: string,
  { challenge = 'Bearer error="invalid_token"', cause }: InvalidTokenOptions = {},
): ServiceError {
  return new ServiceError({
    status: 401,
    code: 'invalid_token',
    message: `Not authorised: ${reason}`,
    headers: { 'WWW-Authenticate': challenge },
    cause,
  });
}

function keysUnavailable(cause: unknown): ServiceError {
  return new ServiceError({
    status: 503,
    code: 'temporarily_unavailable',
    message: "The issuer's keys cannot be had now: try again",
    headers: { 'Retry-After': '2' },
    cause,
  });
}

/**
 * Checks that the caller holds a right.
 * @throws ServiceError 403 (RFC 6750 section 3.1, insufficient_scope).
 */
export function assertRight(caller: Caller, right: string): void {
  if (caller.rights.has(right)) return;
  throw new ServiceError({
    status: 403,
    code: 'insufficient_scope',
    message: `The token does not carry the right ${right}`,
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${right}"` },
  });
}
