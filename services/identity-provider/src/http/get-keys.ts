import { sendJson } from '@clinical-launch/http/answer';
import type { Handler } from '@clinical-launch/http/endpoint';
import type { KeyRing } from '../keys/key-ring.ts';
import type { RealmExchange } from './realm-guards.ts';

/**
 * Publishes the realm's public keys: `GET /{realm}/discovery/v2.0/keys` (RFC 7517 section 5). Caches may
 * store the keys for five minutes, and clients for another ten minutes. Each key is published for these 15
 * minutes before it signs.
 */
export function getKeys(keyRing: KeyRing): Handler<RealmExchange> {
  return async ({ realm, response }) => {
    const keys = await keyRing.publicKeys(realm);
    response.setHeader('Cache-Control', 'public, max-age=300');
    sendJson(response, { keys });
  };
}
