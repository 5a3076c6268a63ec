// Generates the load in a separate process, so that only the faults disturb it. Starts launches at a fixed
// rate, even if earlier launches fail. Receives its plan once, reports the number of opened launches, and on
// `stop` finishes the launches that it has started.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createCaller } from './caller.ts';
import { openAddress, openEdge, type Replica } from './edge.ts';
import { openJournal } from './journal.ts';
import { fetchAccessToken, playLaunch } from './open-launch.ts';

export type LoadPlan = {
  /** Every replica, or the address of the platform. */
  readonly platform: readonly Replica[] | string;
  readonly journalPath: string;
  /** The prefix of the callers' identifiers, unique to this load. */
  readonly name: string;
  readonly launchesPerSecond: number;
  /**
   * Each number n applies to every n-th launch: to order a test, to amend the order, to use the identifier
   * and the launch URL twice, and to wait before the launch URL is opened.
   */
  readonly orderEvery: number;
  readonly amendEvery: number;
  readonly repeatEvery: number;
  readonly hesitateEvery: number;
};

/** The longest wait before the launch URL is opened: half of the lifetime of a launch token. */
const longestHesitationMs = 5000;

export type LoadSays = { readonly opened: number } | { readonly failed: string };

process.once('disconnect', () => process.exit(1));
const stopping = new AbortController();
const [plan]: LoadPlan[] = await once(process, 'message');
process.once('message', () => stopping.abort());
try {
  if (plan !== undefined) await run(plan);
} catch (error) {
  say({ failed: String(error) });
} finally {
  process.disconnect();
}

async function run({ platform, journalPath, name, ...pace }: LoadPlan): Promise<void> {
  const edge = typeof platform === 'string' ? openAddress(platform) : openEdge(platform);
  const journal = await openJournal(journalPath);
  const caller = createCaller({ edge, journal });
  const token = await fetchAccessToken(caller);
  const launches: Promise<void>[] = [];
  let opened = 0;
  const play = async (number: number) => {
    const wasOpened = await playLaunch(caller, token, {
      launch: `${name}-${number}`,
      hasOrder: number % pace.orderEvery === 0,
      isAmended: number % pace.amendEvery === 0,
      isRepeated: number % pace.repeatEvery === 0,
      hesitate: () => wait(number % pace.hesitateEvery === 0 ? Math.random() * longestHesitationMs : 0),
    });
    if (wasOpened) opened += 1;
  };
  const progress = setInterval(() => say({ opened }), 50);
  const startedAt = performance.now();
  for (let number = 1; !stopping.signal.aborted; number += 1) {
    launches.push(play(number));
    const dueAt = startedAt + (number * 1000) / pace.launchesPerSecond;
    await wait(Math.max(0, dueAt - performance.now()));
  }
  await Promise.all(launches);
  clearInterval(progress);
  edge.close();
  await journal.close();
}

/** Waits, but returns immediately once the load is stopping. */
async function wait(ms: number): Promise<void> {
  await delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
}

function say(said: LoadSays): void {
  process.send?.(said);
}
