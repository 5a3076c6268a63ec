import { endpointOf, isFaultName, type Exchange as Recorded } from '@clinical-launch/conformance/exchange';
import { createFaults, type Faults } from '@clinical-launch/conformance/faults';
import { createKeySubstitutes, type KeySubstitutes } from '@clinical-launch/conformance/id-tokens';
import { partnerProtocol } from '@clinical-launch/conformance/partner';
import { pmsProtocol } from '@clinical-launch/conformance/pms';
import type { Watch } from '@clinical-launch/conformance/recording-proxy';
import type { Outgoing, StepTools } from '@clinical-launch/conformance/requirement';
import { type Attestations, createRun, type Run } from '@clinical-launch/conformance/run';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { HostClient } from '@clinical-launch/simulators/host/desktop-launch';
import { getPatient, records } from '@clinical-launch/simulators/records';
import { callbackSecretOf, type VendorClient } from './vendor-client.ts';

/** The header with which a client requests a fault for the request that contains it. */
const faultHeader = 'clinical-launch-fault';
/**
 * The time in which a vendor may answer a message. It is long, so that a run records how late an answer is.
 */
const messageTimeoutMs = 15_000;
/** The oldest run is dropped if there are more. */
const maxRuns = 100;

type Message = Pick<Outgoing, 'headers' | 'body'> & Partial<Pick<Outgoing, 'probe'>>;

type Dependencies = {
  /** The client of the vendor, if the twin was started with one. */
  readonly client?: VendorClient | undefined;
  readonly host: HostClient;
  readonly clock: Clock;
};

/** The client of a run, and the names of the people who attest its requirements. */
type WantedRun = {
  readonly clientId: string;
  readonly protocol: Run['protocol'];
  readonly attestations: Attestations;
};

export type ConformanceRuns = ReturnType<typeof createConformanceRuns>;

/** Creates the conformance runs and the faults on demand of a twin. */
export function createConformanceRuns({ client, host, clock }: Dependencies) {
  const faults = createFaults();
  const keys = createKeySubstitutes();
  const runs = new Map<string, Run>();
  const send = createOutboundFetch({ allowedNetworks: [], timeoutMs: messageTimeoutMs });

  /** Posts a message to the vendor's client. If the client does not answer, the recorded status is 0. */
  const post = async (
    { clientId, address }: { readonly clientId: string; readonly address: string },
    { headers, body, probe }: Message,
  ): Promise<Recorded> => {
    const url = new URL(address);
    const request = { method: 'POST', url, headers, body, at: clock.now() };
    const answer = await send(url, { method: 'POST', headers, body, isOperators: true }).catch(() => silence);
    const recorded = { direction: 'sent', request, answer, answeredAt: clock.now(), clientId } as const;
    return { ...recorded, ...withoutUndefined({ probe }) };
  };

  const addressOf = (clientId: string) => (client?.clientId === clientId ? client.callbackUrl : undefined);

  return {
    faults,
    keys,
    watch: createWatch({ runs, faults, keys }),
    find: (id: string): Run | undefined => runs.get(id),

    /**
     * Forwards a callback or a logout token of the platform to the vendor.
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
        tools: { ...toolsFor(clientId, host), keys },
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

/** Returns the functions of a run's steps that create and end desktop launches of a client. */
function toolsFor(clientId: string, host: HostClient): Omit<StepTools, 'send' | 'now' | 'keys'> {
  let newest: string | undefined;
  return {
    callbackSecret: callbackSecretOf(clientId),
    async createLaunch() {
      const { authorizations } = records.host;
      const { launchUrl, correlationId } = await host.requestLaunch({
        clientId,
        patient: getPatient(null),
        authorizations,
      });
      newest = correlationId;
      return launchUrl;
    },
    async endLaunch() {
      if (newest !== undefined) await host.endLaunch(newest);
    },
  };
}
