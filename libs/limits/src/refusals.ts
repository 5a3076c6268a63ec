import type { RefusalType } from '@clinical-launch/contracts/events/catalogue';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { networkOf, plainAddress } from '@clinical-launch/http/call';
import type { Refusals, RefusedRequest } from '@clinical-launch/http/refusals';
import type { Clock } from '@clinical-launch/runtime/clock';
import { type Environment, readEnvironment } from '@clinical-launch/runtime/environment';
import type { Logger } from '@clinical-launch/runtime/logger';
import { startLoop } from '@clinical-launch/runtime/loop';
import { createRefusalMeter, type RefusalMeter } from '@clinical-launch/runtime/metrics';
import type { Limits, RefusalLimit } from './limits.ts';
import { type Batches, createBatches } from './refusal-batches.ts';

export type RefusalsOptions = {
  readonly limits: Pick<Limits, 'refuse'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** If absent, refusals are audited but not limited. */
  readonly limit?: RefusalLimit | undefined;
  /**
   * The interval in seconds for which similar anonymous refusals are combined into one event. If it is 0,
   * every refusal has its own event.
   */
  readonly combineSeconds?: number;
};

const sweepEveryMs = 1000;
/**
 * The maximum number of addresses that a process stores. Refusals of other addresses are counted only in
 * Redis, with a round trip for each refusal.
 */
const maxAddresses = 10_000;

type Seen = { count: number; endsAt: number; isOver: boolean };

/**
 * Creates the limits and the audit of refusals. A process stores which addresses exceed their limit until the
 * window ends, so that a flood causes no round trips to Redis. It also counts refusals itself, so that the
 * limit applies while Redis is down.
 */
export function createRefusals({
  limits,
  clock,
  logger,
  limit,
  combineSeconds = 10,
}: RefusalsOptions): Refusals {
  const meter = createRefusalMeter();
  const seen = new Map<string, Seen>();
  const refuse = countingDropped(limits, meter);
  const store = (from: string, event: CloudEvent) => refuse({ from, events: [event] });
  const batches = createBatches({
    clock,
    combineSeconds,
    store: async (address, event) => void (await store(networkOf(address), event)),
    onFailure: (error) => logger.error({ err: error }, 'combined refusals could not be stored'),
    onDropped: (count) => meter.dropped(count),
  });
  const sweeps = startLoop({
    async work() {
      const now = clock.now();
      for (const [network, { endsAt }] of seen) if (endsAt <= now) seen.delete(network);
      await batches.flush();
    },
    everyMs: sweepEveryMs,
    ref: false,
    onFailure: (error) => logger.error({ err: error }, 'combined refusals could not be stored'),
  });

  return {
    async record({ event: sent, address: sentFrom, identity, isAnonymous, isCounted }) {
      const event = sent === undefined ? undefined : bounded(sent);
      if (identity !== undefined) {
        if (event !== undefined) await store(identity, event);
        return within;
      }
      const address = plainAddress(sentFrom);
      const network = networkOf(address);
      const counted = isCounted ? limit : undefined;
      const overForMs =
        counted === undefined ? 0 : countHere(seen, network, { ...counted, now: clock.now() });
      if (overForMs > 0) return over(meter, overForMs);
      const events = eventsOf({ event, address, isAnonymous }, batches);
      if (events.length === 0 && counted === undefined) return within;
      const recorded = await refuse({
        from: network,
        events,
        ...withoutUndefined({ limit: counted }),
      });
      if (recorded.overForMs === 0) return within;
      const known = seen.get(network);
      if (known !== undefined)
        Object.assign(known, { endsAt: clock.now() + recorded.overForMs, isOver: true });
      return over(meter, recorded.overForMs);
    },
    async stop() {
      await sweeps.stop();
      await batches.flush({ isLast: true });
    },
  };
}

function countingDropped(limits: Pick<Limits, 'refuse'>, meter: RefusalMeter) {
  return async (refusal: Parameters<Limits['refuse']>[0]) => {
    try {
      const recorded = await limits.refuse(refusal);
      meter.dropped(recorded.dropped);
      return recorded;
    } catch (error) {
      meter.dropped(refusal.events.length);
      throw error;
    }
  };
}

/**
 * The maximum total length of the paths in an event. Without this limit, the paths of 200 errors could have
 * 40 kB, and limiting the number of waiting events would not limit their size.
 */
const maxPathCharacters = 4000;

function bounded(event: CloudEvent<RefusalType>): CloudEvent<RefusalType> {
  const { data } = event;
  if (!('paths' in data)) return event;
  let characters = 0;
  const paths = data.paths.filter((path) => {
    characters += path.length;
    return characters <= maxPathCharacters;
  });
  return { ...event, data: { ...data, paths } };
}

const within = { overForMs: 0 };

function over(meter: RefusalMeter, overForMs: number) {
  meter.limited();
  return { overForMs };
}

/** Returns the events to store now: the event of a known launch, or the first event of an interval. */
function eventsOf(
  {
    event,
    address,
    isAnonymous,
  }: Pick<RefusedRequest, 'event' | 'isAnonymous'> & { readonly address: string },
  batches: Batches,
): CloudEvent[] {
  if (event === undefined) return [];
  if (!isAnonymous) return [event];
  const first = batches.add(address, event);
  return first === undefined ? [] : [first];
}

/** Counts a refusal in this process. Returns the milliseconds until its address is within the limit again. */
function countHere(
  seen: Map<string, Seen>,
  network: string,
  { refusals, windowSeconds, now }: RefusalLimit & { readonly now: number },
): number {
  const known = seen.get(network);
  if (known === undefined || known.endsAt <= now) {
    if (seen.size < maxAddresses)
      seen.set(network, { count: 1, endsAt: now + windowSeconds * 1000, isOver: false });
    return 0;
  }
  known.count += 1;
  return known.isOver || known.count > refusals ? known.endsAt - now : 0;
}

export const refusalSettings = Type.Object({
  REFUSALS_PER_ADDRESS: Type.Integer({
    minimum: 0,
    default: 100,
    title:
      'The number of refused requests of an address in ten seconds, in all services together, before the answer is 429. 0 means no limit and an audit event for every refusal. Set the same value at the edge.',
  }),
});

/** The window is short, so that a user who repeats a mistake can continue after reading the error. */
const windowSeconds = 10;
/**
 * The interval is as long as the window, so that a flood from one address causes one event in each window.
 */
const combineSeconds = 10;
/** The maximum number of waiting refusal events. At about 0.7 kB each, they use 11 MB of Redis. */
const mostEvents = 16_000;
/**
 * The maximum number of waiting events if addresses have no limit. It is enough for a load test of one hour.
 */
const mostEventsWithoutLimits = 1_000_000;

/**
 * Reads the limits of refusals. If addresses have no limit, every refusal has its own audit event.
 * @throws ConfigurationError that names the invalid variable
 */
export function readRefusalSettings(environment: Environment) {
  const { REFUSALS_PER_ADDRESS: refusals } = readEnvironment(refusalSettings, environment);
  return refusals === 0
    ? { combineSeconds: 0, mostEvents: mostEventsWithoutLimits, limit: undefined }
    : { combineSeconds, mostEvents, limit: { refusals, windowSeconds } };
}
