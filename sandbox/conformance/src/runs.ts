import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Clock } from '@clinical-launch/runtime/clock';
import type { Attributed } from './attribution.ts';
import {
  claimsOf,
  endpointOf,
  isFaultName,
  isMembers,
  membersOf,
  type ProxiedRequest,
  parametersOf,
  type Exchange as Recorded,
  runHeader,
} from './exchange.ts';
import { createFaults, type Faults } from './faults.ts';
import { createKeySubstitutes, type KeySubstitutes } from './id-tokens.ts';
import { partnerProtocol } from './partner.ts';
import { pmsProtocol } from './pms.ts';
import { BoundedMap } from './recorder.ts';
import type { Watch } from './recording-proxy.ts';
import type { Outgoing } from './requirement.ts';
import { type Attestations, noAnswer, Run } from './run.ts';

/** The header with which a proven client requests a fault for the request that contains it. */
const faultHeader = 'clinical-launch-fault';
/** The maximum number of stored runs. A new run replaces the oldest. */
const maxRuns = 1000;
const maxRunsOfClient = 20;
/** The maximum number of launches whose run is stored. A new launch replaces the oldest. */
const maxLaunches = 10_000;

/** A message to a client. Without `probe`, the platform sent it. */
type Message = Pick<Outgoing, 'headers' | 'body'> & Partial<Pick<Outgoing, 'probe'>>;

/** Creates and ends desktop launches as the host application. */
export type DesktopLaunches = {
  /** Creates a launch for a client. `launchId` is the correlation id of the launch. */
  readonly create: (clientId: string) => Promise<{ readonly launchUrl: string; readonly launchId: string }>;
  readonly end: (launchId: string) => Promise<void>;
};

export type Receiver = {
  readonly address: string;
  /** The secret that signs callbacks, `whsec_…`. */
  readonly secret?: string | undefined;
  /** Sends a message, and returns the status of the answer, or 0 if there is none. */
  readonly post: (message: Message) => Promise<number>;
};

type Dependencies = {
  readonly clock: Clock;
  /** Returns the receiver of a client's callbacks or logout tokens. */
  readonly receiverOf: (clientId: string) => Receiver | undefined;
  /** Without it, the steps of a partner application cannot run. */
  readonly desktop?: DesktopLaunches;
};

export type ConformanceRuns = ReturnType<typeof createConformanceRuns>;

/**
 * Creates the conformance runs and the faults on demand of a recording proxy. A client may have several runs
 * at once. A request belongs to the run that its header `Clinical-Launch-Run` names, and so do the later
 * requests and messages of its launch. Any other request belongs to the newest run of its client that has not
 * finished.
 */
export function createConformanceRuns({ clock, receiverOf, desktop }: Dependencies) {
  const faults = createFaults();
  const keys = createKeySubstitutes();
  const known = createRunsByLaunch();

  /** Sends a message to a client, and returns it as an exchange. */
  const post = async (clientId: string, receiver: Receiver, message: Message): Promise<Recorded> => {
    const { headers, body, probe } = message;
    const request = { method: 'POST', url: new URL(receiver.address), headers, body, at: clock.now() };
    const answer = { ...noAnswer, status: await receiver.post(message) };
    const recorded = { direction: 'sent', request, answer, answeredAt: clock.now(), clientId } as const;
    return { ...recorded, ...withoutUndefined({ probe, launchId: launchOf(request) }) };
  };

  const toolsOf = (clientId: string, { secret, run }: { secret: string | undefined; run: () => Run }) => {
    let newest: string | undefined;
    return {
      async createLaunch() {
        if (desktop === undefined) throw new Error('This process cannot create desktop launches');
        const { launchUrl, launchId } = await desktop.create(clientId);
        newest = launchId;
        known.assign({ clientId, launchId }, run());
        return launchUrl;
      },
      async endLaunch() {
        if (newest !== undefined) await desktop?.end(newest);
      },
      ...withoutUndefined({ callbackSecret: secret }),
      keys,
    };
  };

  return {
    faults,
    keys,
    watch: createWatch(known, faults, keys),
    find: known.find,

    /** Returns the runs of a client, newest first. */
    of: (clientId: string): readonly Run[] => known.ofClient(clientId).toReversed(),

    /**
     * Sends a callback or a logout token of the platform to its client, and records it in the run of its launch.
     * @returns the status of the answer, or 0 if there is none
     */
    async forward(clientId: string, message: Message): Promise<number> {
      const receiver = receiverOf(clientId);
      if (receiver === undefined) return 0;
      const exchange = await post(clientId, receiver, message);
      for (const run of known.of(exchange.request, exchange)) run.record(exchange);
      return exchange.answer.status;
    },

    start({
      clientId,
      protocol,
      attestations,
    }: Pick<Run, 'clientId' | 'protocol'> & { readonly attestations: Attestations }): Run {
      const receiver = receiverOf(clientId);
      const run: Run = new Run({
        clientId,
        protocol: protocols[protocol],
        attestations,
        clock,
        tools: toolsOf(clientId, { secret: receiver?.secret, run: () => run }),
        post: receiver && ((message) => post(clientId, receiver, message)),
      });
      known.add(run);
      return run;
    },
  };
}

/** Returns the launch of a callback or a logout token, or undefined if it names none. */
function launchOf(request: ProxiedRequest): string | undefined {
  const { data } = membersOf(request.body);
  const launchId = isMembers(data)
    ? data['launchId']
    : claimsOf(parametersOf(request).get('logout_token'))['sid'];
  return typeof launchId === 'string' ? launchId : undefined;
}

function createRunsByLaunch() {
  const runs = new BoundedMap<Run>(maxRuns);
  const ofLaunch = new BoundedMap<Run>(maxLaunches);
  /** Contains the client id, so that another client cannot assign the launch to its own run. */
  const keyOf = ({ clientId, launchId }: Attributed) => JSON.stringify([clientId, launchId]);
  const ofClient = (clientId: string) => [...runs.values()].filter((run) => run.clientId === clientId);
  const newestOf = (clientId: string) => ofClient(clientId).findLast((run) => run.step() !== undefined);

  return {
    find: (id: string): Run | undefined => runs.get(id),
    ofClient,

    /** Adds a run. Drops the oldest runs above the maximum of all clients, or of this client. */
    add(run: Run): void {
      runs.set(run.id, run);
      for (const { id } of ofClient(run.clientId).slice(0, -maxRunsOfClient)) runs.delete(id);
      for (const [key, one] of ofLaunch) if (!runs.has(one.id)) ofLaunch.delete(key);
    },

    /** Stores the run of a launch, unless the launch already belongs to a run. */
    assign(attributed: Attributed, run: Run): void {
      const isOwn = attributed.launchId !== undefined && attributed.clientId === run.clientId;
      const key = keyOf(attributed);
      if (isOwn && !ofLaunch.has(key)) ofLaunch.set(key, run);
    },

    /** Returns the runs of an exchange: several only if its client is unknown and no header names a run. */
    of({ headers }: Pick<ProxiedRequest, 'headers'>, attributed: Attributed): readonly Run[] {
      const named = headers[runHeader];
      if (named !== undefined) return [runs.get(String(named)) ?? []].flat();
      if (attributed.clientId === undefined) return [...runs.values()];
      return [ofLaunch.get(keyOf(attributed)) ?? newestOf(attributed.clientId) ?? []].flat();
    },
  };
}

/**
 * Passes each exchange to its runs. If several faults are set for a request, the fault of a run applies before
 * the fault in a header, and the fault in a header before a fault on demand.
 */
function createWatch(
  known: ReturnType<typeof createRunsByLaunch>,
  faults: Faults,
  keys: KeySubstitutes,
): Watch {
  return {
    faultFor(request, attributed) {
      const found = known.of(request, attributed).map((run) => run.faultFor(request, attributed));
      const ofRun = found.find((fault) => fault !== undefined);
      if (ofRun !== undefined) return ofRun;
      if (attributed.clientId === undefined) return undefined;
      const wanted = request.headers[faultHeader];
      if (typeof wanted === 'string' && isFaultName(wanted)) return wanted;
      return faults.take(attributed.clientId, endpointOf(request));
    },
    async alter(exchange) {
      for (const run of known.of(exchange.request, exchange)) {
        const altered = await run.alter(exchange);
        if (altered !== undefined) return altered;
      }
      return keys.alter(exchange);
    },
    record(exchange) {
      for (const run of known.of(exchange.request, exchange)) {
        known.assign(exchange, run);
        run.record(exchange);
      }
    },
  };
}

/** The steps and requirements of each kind of client. */
export const protocols = { pms: pmsProtocol, partner: partnerProtocol };
