import type { Attempt, Callback } from '../domain/callbacks.ts';

const maxCallbacks = 50;
const maxAttempts = 100;

/** A callback with its attempts, the newest last. */
export type RecordedCallback = Callback & { readonly attempts: readonly Attempt[] };

export type Callbacks = ReturnType<typeof createCallbacks>;

/**
 * Creates the callbacks of all clients, and the addresses to which they are passed. They are in memory, so
 * they are lost when the process stops. The oldest callbacks of a client are dropped if it has more than 50.
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

    /** Returns the address to which the callbacks of a client are passed. */
    addressOf: (clientId: string): string | undefined => addresses.get(clientId),

    /** Sets or, without an address, removes the address of a client. */
    setAddress(clientId: string, address: string | undefined): void {
      if (address === undefined) addresses.delete(clientId);
      else addresses.set(clientId, address);
    },
  };
}
