import type { FaultName } from '@clinical-launch/conformance/exchange';

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

/** A header as the page shows it. Its value is masked if it may contain a secret or patient data. */
type ShownHeader = { readonly name: string; readonly value: string };

/**
 * A request of a sandbox client and its answer, without their bodies. Contains the names of all headers but
 * the values of only a few, so that the portal stores no secrets and no patient data.
 */
export type RecordedRequest = {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly durationMs: number;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
  readonly status: number;
  readonly fault?: FaultName;
  readonly sent: readonly ShownHeader[];
  readonly received: readonly ShownHeader[];
  readonly code?: string;
  readonly findings: readonly string[];
};
