import type { RecordedRequest } from '../domain/recorded-request.ts';

const maxRequests = 100;

export type RecordedRequests = ReturnType<typeof createRecordedRequests>;

/** Stores the last 100 requests of each client, in memory. */
export function createRecordedRequests() {
  const ofClients = new Map<string, readonly RecordedRequest[]>();
  return {
    /** Returns the requests of a client, newest first. */
    of: (clientId: string): readonly RecordedRequest[] => ofClients.get(clientId) ?? [],
    /** Adds a request of a registered client. */
    add(clientId: string, request: RecordedRequest): void {
      ofClients.set(clientId, [request, ...(ofClients.get(clientId) ?? [])].slice(0, maxRequests));
    },
  };
}
