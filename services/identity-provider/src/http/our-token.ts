import { assertRight, type Caller } from '@clinical-launch/service';
import type { Realms } from '../domain/realms.ts';
import { notOurToken } from '../errors.ts';

/**
 * Checks that the caller holds a right which one of our own realms gave. Issuers of others are trusted for their own
 * launches: what they write into their tokens gives nobody power over partner applications.
 * @throws ServiceError 403
 */
export function assertOurRight(caller: Caller, right: string, realms: Realms): void {
  if (!realms.all().some(({ issuer }) => issuer === caller.issuer)) throw notOurToken(right);
  assertRight(caller, right);
}
