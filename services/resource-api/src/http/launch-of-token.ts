import { launchedBy } from '@clinical-launch/contracts/desktop-context';
import { compileSchema, guidPattern, withoutUndefined } from '@clinical-launch/contracts/schema';
import { isTokenContext, type TokenContext } from '@clinical-launch/contracts/token-context';
import { Type } from '@clinical-launch/contracts/type';
import { placeOfTokenContext, tokenContextPurpose } from '@clinical-launch/crypto/seal-places';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import type { Caller } from '@clinical-launch/trust/access-tokens';
import { invalidToken } from '@clinical-launch/trust/invalid-token';
import type { LaunchOfToken } from '../domain/resources.ts';

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
export function launchOfToken({ claims, issuer }: Caller): LaunchOfToken {
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
export function openContext(launch: LaunchOfToken, sealer: Pick<Sealer, 'open'>): TokenContext {
  const context = open(launch, sealer);
  if (isTokenContext(context)) return context;
  throw invalidToken('the launch context of the token is not the context of a desktop launch');
}

function open(
  { sealedContext, tokenId, correlationId: launchId }: LaunchOfToken,
  sealer: Pick<Sealer, 'open'>,
): unknown {
  try {
    return sealer.open(tokenContextPurpose, sealedContext, placeOfTokenContext({ tokenId, launchId }));
  } catch (cause) {
    throw invalidToken('the launch context of the token cannot be decrypted', { cause });
  }
}
