import { endpointOf, type Exchange as Recorded } from '@clinical-launch/conformance/exchange';
import { createFaults, isFaultName } from '@clinical-launch/conformance/faults';
import { createKeySubstitutes } from '@clinical-launch/conformance/id-tokens';
import { partnerProtocol } from '@clinical-launch/conformance/partner';
import { pmsProtocol } from '@clinical-launch/conformance/pms';
import type { Watch } from '@clinical-launch/conformance/recording-proxy';
import type { Outgoing, StepTools } from '@clinical-launch/conformance/requirement';
import { type Attestations, createRun, type Run } from '@clinical-launch/conformance/run';
import { createOutboundFetch } from '@clinical-launch/http/outbound-fetch';
import { systemClock } from '@clinical-launch/runtime/clock';
import type { HostClient } from '@clinical-launch/simulators/host/desktop-launch';
import { getPatient, records } from '@clinical-launch/simulators/records';
import { callbackSecretOf, type VendorClient } from './vendor-client.ts';

/** The header with which a client requests a fault for the request that contains it. */
const faultHeader = 'clinical-launch-fault';
/** The time in which a vendor may answer a message. It is long, so that a run records how late an answer is. */
const messageTimeoutMs = 15_000;
/** The oldest run is dropped if there are more. */
const maxRuns = 100;

type Message = Pick<Outgoing, 'headers' | 'body'> & Partial<Pick<Outgoing, 'probe'>>;

export type ConformanceRuns = ReturnType<typeof createConformanceRuns>;

/**
 * Creates the conformance runs and the faults on demand of a twin. The machine's clock measures their times,
 * because the clock of the twin can move while a client waits.
 */
export function createConformanceRuns({
  client,
  host,
}: {
  /** The client of the vendor, if the twin was started with one. */
  readonly client?: VendorClient | undefined;
  readonly host: HostClient;
}) {
  const faults = createFaults();
  const keys = createKeySubstitutes();
  const runs = new Map<string, Run>();
  const send = createOutboundFetch({ allowedNetworks: [], timeoutMs: messageTimeoutMs });

  /** Posts a message to the vendor. If the vendor does not answer, the recorded status is 0. */
  const post = async (to: string, { headers, body, probe }: Message): Promise<Recorded> => {
    const url = new URL(to);
    const request = { method: 'POST', url, headers, body, at: systemClock.now() };
    const answer = await send(url, { method: 'POST', headers, body, isOperators: true }).catch(() => ({
      status: 0,
      headers: {},
      body: Buffer.alloc(0),
    }));
    const recorded = { direction: 'sent', request, answer, answeredAt: systemClock.now() } as const;
    return { ...recorded, ...(probe === undefined ? {} : { probe }) };
  };

  const watch: Watch = {
    faultFor(request, attributed) {
      const wanted = String(request.headers[faultHeader] ?? '');
      if (isFaultName(wanted)) return wanted;
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

  return {
    faults,
    keys,
    watch,
    find: (id: string): Run | undefined => runs.get(id),

    /** Forwards a callback or a logout token of the platform to the vendor. Returns the answer's status. */
    async forward(message: Message): Promise<number> {
      if (client?.callbackUrl === undefined) return 404;
      const exchange = { ...(await post(client.callbackUrl, message)), clientId: client.clientId };
      for (const run of runs.values()) run.record(exchange);
      return exchange.answer.status === 0 ? 502 : exchange.answer.status;
    },

    /** Starts a run for a client. The newest run of a client replaces its older runs in progress. */
    start({
      clientId,
      protocol,
      attestations,
    }: {
      readonly clientId: string;
      readonly protocol: Run['protocol'];
      readonly attestations: Attestations;
    }): Run {
      for (const run of runs.values()) if (run.clientId === clientId) run.finish();
      const address = client?.clientId === clientId ? client.callbackUrl : undefined;
      const run = createRun({
        clientId,
        protocol: protocols[protocol],
        attestations,
        clock: systemClock,
        tools: { ...toolsFor(clientId, host), keys },
        ...(address === undefined
          ? {}
          : { post: async (message: Outgoing) => ({ ...(await post(address, message)), clientId }) }),
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

const protocols = { pms: pmsProtocol, partner: partnerProtocol };

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
