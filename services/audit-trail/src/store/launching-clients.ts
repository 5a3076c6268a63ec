import type { AuditDatabase } from './tables.ts';

export type LaunchingClient = { readonly issuer: string; readonly clientId: string };

/**
 * The clients that have launched. These clients are stored, because the hash of a caller's identifier
 * includes the client.
 */
export type LaunchingClients = { record(clients: readonly LaunchingClient[]): Promise<void> };

/**
 * Creates the store of launching clients. There are few clients, so each process caches the clients that it
 * has stored.
 */
export function createLaunchingClients(database: AuditDatabase): LaunchingClients {
  const known = new Set<string>();
  const keyOf = ({ issuer, clientId }: LaunchingClient) => JSON.stringify([issuer, clientId]);
  return {
    async record(clients) {
      const fresh = new Map(clients.filter((one) => !known.has(keyOf(one))).map((one) => [keyOf(one), one]));
      if (fresh.size === 0) return;
      await database
        .insertInto('launching_client')
        .values([...fresh.values()].map(({ issuer, clientId }) => ({ issuer, client_id: clientId })))
        .onConflict((conflict) => conflict.columns(['issuer', 'client_id']).doNothing())
        .execute();
      for (const key of fresh.keys()) known.add(key);
    },
  };
}
