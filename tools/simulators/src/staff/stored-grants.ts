import type { Adapter, AdapterPayload } from 'oidc-provider';
import { Memory } from '../memory.ts';

/**
 * Creates the store for one kind of objects of the provider. The store is in memory, and removes its oldest
 * objects when it is full.
 */
export function createStore(): Adapter {
  const stored = new Memory<AdapterPayload>();
  return {
    upsert: async (id, payload) => void stored.set(id, payload),
    find: async (id) => stored.get(id),
    findByUid: async (uid) => [...stored.values()].find((payload) => payload.uid === uid),
    findByUserCode: async () => undefined,
    consume: async (id) => {
      const payload = stored.get(id);
      if (payload !== undefined) payload['consumed'] = Math.floor(Date.now() / 1000);
    },
    destroy: async (id) => void stored.delete(id),
    revokeByGrantId: async (grantId) => {
      for (const [id, payload] of stored) if (payload.grantId === grantId) stored.delete(id);
    },
  };
}
