import type { RequestHandler } from 'express';
import type { Realms } from '../domain/realms.ts';
import type { KeyRing } from '../store/key-ring.ts';
import { type RealmParams, realmOfPath } from './realm-of-path.ts';

/**
 * `GET /{realm}/discovery/v2.0/keys`: the realm's public keys (RFC 7517 section 5). A cache may keep them for five
 * minutes and a client for ten on top: a key is published that long before it signs.
 */
export function getKeys(realms: Realms, keyRing: KeyRing): RequestHandler<RealmParams> {
  return async (request, response) => {
    const keys = await keyRing.publicKeys(realmOfPath(realms, request.params));
    response.set('Cache-Control', 'public, max-age=300').json({ keys });
  };
}
