import type { RecordedRequest } from '../domain/recorded-request.ts';

const maxRequests = 100;
const maxOthers = 20;

export type RecordedRequests = ReturnType<typeof createRecordedRequests>;

/**
 * Stores the last 100 requests of each client, in memory, and the last 20 requests at its address that it is
 * not proven to have sent.
 */
export function createRecordedRequests() {
  const own = createLists(maxRequests);
  const others = createLists(maxOthers);
  return {
    /** Returns the requests of a client, newest first. */
    of: own.of,
    /** Returns the requests at the address of a client that it is not proven to have sent, newest first. */
    othersAt: others.of,
    add: (clientId: string, request: RecordedRequest, isProven: boolean): void =>
      (isProven ? own : others).add(clientId, request),
  };
}

function createLists(max: number) {
  const ofClients = new Map<string, readonly RecordedRequest[]>();
  const of = (clientId: string) => ofClients.get(clientId) ?? [];
  return {
    of,
    add: (clientId: string, request: RecordedRequest) =>
      void ofClients.set(clientId, [request, ...of(clientId)].slice(0, max)),
  };
}
