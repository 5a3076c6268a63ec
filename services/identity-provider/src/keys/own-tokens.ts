import type { Clock } from '@clinical-launch/runtime/clock';
import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { IssuingRealm } from '../domain/realms.ts';
import type { KeyRing } from './key-ring.ts';

type OwnTokenDependencies = { readonly audience: string; readonly keyRing: KeyRing; readonly clock: Clock };

/** Returns the claims of a valid access token of this realm, or undefined for any other token. */
export type FindOwnToken = (realm: IssuingRealm, token: string) => Promise<JWTPayload | undefined>;

/** Creates the function that verifies our own access tokens with our published keys. */
export function createOwnTokens({ audience, keyRing, clock }: OwnTokenDependencies): FindOwnToken {
  return async (realm, token) => {
    const keys = createLocalJWKSet({ keys: await keyRing.publicKeys(realm) });
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: realm.issuer,
        audience,
        typ: 'at+jwt',
        currentDate: new Date(clock.now()),
        requiredClaims: ['exp'],
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  };
}
