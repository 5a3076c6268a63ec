import type { Attempt, Callback } from '../domain/callbacks.ts';

const maxCallbacks = 50;
const maxAttempts = 100;

/** A callback with its attempts, the newest last. */
export type RecordedCallback = Callback & { readonly attempts: readonly Attempt[] };

/**
 * Creates the store of the callbacks of all clients, and of the addresses to which the portal sends them. The
 * store is in memory, so a restart loses its content. Keeps the newest 50 callbacks of each client.
 */
export function createCallbacks() {
  const ofClients = new Map<string, Map<string, RecordedCallback>>();
  const addresses = new Map<string, string>();
  const of = (clientId: string) => ofClients.get(clientId) ?? new Map<string, RecordedCallback>();

  return {
    /** Returns the callbacks of a client, the newest first. */
    list: (clientId: string): readonly RecordedCallback[] => [...of(clientId).values()].toReversed(),

    find: (clientId: string, id: string): RecordedCallback | undefined => of(clientId).get(id),

    /** Adds an attempt to a callback, which becomes the newest of its client. Its kind does not change. */
    record(clientId: string, callback: Callback, attempt: Attempt): RecordedCallback {
      const callbacks = of(clientId);
      const known = callbacks.get(callback.id);
      const attempts = [...(known?.attempts ?? []), attempt].slice(-maxAttempts);
      const recorded = { ...callback, kind: known?.kind ?? callback.kind, attempts };
      callbacks.delete(callback.id);
      callbacks.set(callback.id, recorded);
      for (const oldest of [...callbacks.keys()].slice(0, -maxCallbacks)) callbacks.delete(oldest);
      ofClients.set(clientId, callbacks);
      return recorded;
    },

    addressOf: (clientId: string): string | undefined => addresses.get(clientId),

    /** Sets the address of a client, or removes it if `address` is undefined. */
    setAddress(clientId: string, address: string | undefined): void {
      if (address === undefined) addresses.delete(clientId);
      else addresses.set(clientId, address);
    },
  };
}
