import { fileURLToPath } from 'node:url';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { OutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import { endpointOf, isFaultName, type Exchange as Recorded } from './exchange.ts';
import { createFaults, type Faults } from './faults.ts';
import { createKeySubstitutes, type KeySubstitutes } from './id-tokens.ts';
import { partnerProtocol } from './partner.ts';
import { pmsProtocol } from './pms.ts';
import type { Watch } from './recording-proxy.ts';
import type { Outgoing, StepTools } from './requirement.ts';
import { type Attestations, createRun, type Run } from './run.ts';

/** The directory of the page of a run. `run-body.njk` is its part for the page of another service. */
export const runViews = fileURLToPath(new URL('./views', import.meta.url));

/** The header with which a client requests a fault for the request that contains it. */
const faultHeader = 'clinical-launch-fault';
/** The oldest run is dropped if there are more. */
const maxRuns = 100;

/**
 * The milliseconds in which a client may answer a message. They are many, so that a run records how late an
 * answer is.
 */
export const messageTimeoutMs = 15_000;

type Message = Pick<Outgoing, 'headers' | 'body'> & Partial<Pick<Outgoing, 'probe'>>;

/** The functions of a run's steps that create and end desktop launches of a client. */
export type DesktopTools = Pick<StepTools, 'createLaunch' | 'endLaunch'>;

type Dependencies = {
  readonly clock: Clock;
  /** Sends a message to the address of a client, within `messageTimeoutMs`. */
  readonly send: OutboundFetch;
  /** Returns the address of a client for callbacks or logout tokens. */
  readonly addressOf: (clientId: string) => string | undefined;
  /** Returns the secret of a client's callbacks, `whsec_…`. */
  readonly callbackSecretOf: (clientId: string) => string | undefined;
  /** Absent if there are no desktop launches, and therefore no runs of partners. */
  readonly desktopOf?: (clientId: string) => DesktopTools;
};

/** The client of a run, and the names of the people who attest its requirements. */
type WantedRun = {
  readonly clientId: string;
  readonly protocol: Run['protocol'];
  readonly attestations: Attestations;
};

export type ConformanceRuns = ReturnType<typeof createConformanceRuns>;

/** Creates the conformance runs and the faults on demand of a recording proxy. */
export function createConformanceRuns({
  clock,
  send,
  addressOf,
  callbackSecretOf,
  desktopOf = () => noDesktop,
}: Dependencies) {
  const faults = createFaults();
  const keys = createKeySubstitutes();
  const runs = new Map<string, Run>();

  /** Posts a message to a client. If the client does not answer, the recorded status is 0. */
  const post = async (
    { clientId, address }: { readonly clientId: string; readonly address: string },
    { headers, body, probe }: Message,
  ): Promise<Recorded> => {
    const url = new URL(address);
    const request = { method: 'POST', url, headers, body, at: clock.now() };
    const answer = await send(url, { method: 'POST', headers, body }).catch(() => silence);
    const recorded = { direction: 'sent', request, answer, answeredAt: clock.now(), clientId } as const;
    return { ...recorded, ...withoutUndefined({ probe }) };
  };

  return {
    faults,
    keys,
    watch: createWatch({ runs, faults, keys }),
    find: (id: string): Run | undefined => runs.get(id),

    /**
     * Forwards a callback or a logout token of the platform to its client.
     * @returns the status of the answer, 404 for a client without an address, or 502 without an answer
     */
    async forward(clientId: string, message: Message): Promise<number> {
      const address = addressOf(clientId);
      if (address === undefined) return 404;
      const exchange = await post({ clientId, address }, message);
      for (const run of runs.values()) run.record(exchange);
      return exchange.answer.status || 502;
    },

    /** Starts a run for a client. The newest run of a client replaces its older runs in progress. */
    start({ clientId, protocol, attestations }: WantedRun): Run {
      for (const run of runs.values()) if (run.clientId === clientId) run.finish();
      const address = addressOf(clientId);
      const run = createRun({
        clientId,
        protocol: protocols[protocol],
        attestations,
        clock,
        tools: {
          ...desktopOf(clientId),
          ...withoutUndefined({ callbackSecret: callbackSecretOf(clientId) }),
          keys,
        },
        post: address === undefined ? undefined : (message) => post({ clientId, address }, message),
      });
      runs.set(run.id, run);
      for (const oldest of runs.keys()) {
        if (runs.size <= maxRuns) break;
        runs.delete(oldest);
      }
      return run;
    },
  };
}

/** The recorded answer of a client that does not answer. */
const silence = { status: 0, headers: {}, body: Buffer.alloc(0) };

const noDesktop: DesktopTools = {
  createLaunch: () => Promise.reject(new Error('There are no desktop launches here')),
  endLaunch: () => Promise.resolve(),
};

/**
 * Passes each exchange to the runs. The first fault applies: the fault in a header, the fault of a run, or a
 * fault on demand.
 */
function createWatch({
  runs,
  faults,
  keys,
}: {
  readonly runs: ReadonlyMap<string, Run>;
  readonly faults: Faults;
  readonly keys: KeySubstitutes;
}): Watch {
  return {
    faultFor(request, attributed) {
      const wanted = request.headers[faultHeader];
      if (typeof wanted === 'string' && isFaultName(wanted)) return wanted;
      const found = [...runs.values()].map((run) => run.faultFor(request, attributed));
      const { clientId = '' } = attributed;
      return found.find((fault) => fault !== undefined) ?? faults.take(clientId, endpointOf(request));
    },
    async alter(exchange) {
      for (const run of runs.values()) {
        const altered = await run.alter(exchange);
        if (altered !== undefined) return altered;
      }
      return keys.alter(exchange);
    },
    record(exchange) {
      for (const run of runs.values()) run.record(exchange);
    },
  };
}

const protocols = { pms: pmsProtocol, partner: partnerProtocol };
