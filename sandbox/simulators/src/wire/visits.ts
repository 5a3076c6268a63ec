import { randomBytes } from 'node:crypto';
import { BoundedMap, type RecordedExchange } from '@clinical-launch/conformance/recorder';
import type { PersonName } from '@clinical-launch/contracts/launch-context';
import type { Exchange } from '@clinical-launch/http/endpoint';
import { readSentCookies, setCookie } from '@clinical-launch/pages/cookies';
import type { Clock } from '@clinical-launch/runtime/clock';

/** The second request of an attempt, which is sent `afterSeconds` after the first. */
type Later = { readonly afterSeconds: number; readonly send: () => Promise<void> };

/** A request that the visitor can repeat, or send with a mistake. */
export type Attempt = {
  readonly label: string;
  readonly explanation: string;
  /**
   * Sends the request. If the attempt consists of two requests, returns the second request, which is sent
   * later. A refusal is not an error.
   */
  readonly send: () => Promise<Later | undefined>;
};

type Attempted = {
  readonly exchanges: RecordedExchange[];
  pending?: Later & { readonly dueAt: number };
};

/** A launch of a visitor of the demo, with all its recorded exchanges. */
export type VisitedLaunch = {
  readonly id: string;
  readonly kind: 'OLTR launch' | 'Desktop launch';
  readonly patient: PersonName;
  readonly startedAt: number;
  readonly exchanges: RecordedExchange[];
  readonly attempts: Map<string, Attempt>;
  readonly attempted: Map<string, Attempted>;
  /** Returns the order documents of the launch, newest first. */
  readonly documents: () => readonly string[];
};

type StartedLaunch = Pick<VisitedLaunch, 'id' | 'kind' | 'patient' | 'exchanges'> &
  Partial<Pick<VisitedLaunch, 'attempts' | 'documents'>>;

const cookieName = 'demo-visitor';
const maxLaunches = 5;
const retentionMs = 30 * 60_000;

export type Visits = ReturnType<typeof createVisits>;

/**
 * Creates the store of the last few launches of each browser, each for half an hour. Another browser cannot
 * see the launches, because the cookie cannot be guessed.
 */
export function createVisits({ clock, isSecure }: { clock: Clock; isSecure: boolean }) {
  const ofVisitors = new BoundedMap<VisitedLaunch[]>();
  const byKey = new BoundedMap<VisitedLaunch>();
  const isKept = ({ startedAt }: VisitedLaunch) => startedAt + retentionMs > clock.now();

  const visitorOf = ({ request }: Pick<Exchange, 'request'>) =>
    readSentCookies(request, cookieName).find((value) => ofVisitors.has(value));

  const forgetExpired = () => {
    for (const [key, launch] of byKey) if (!isKept(launch)) byKey.delete(key);
    for (const [visitor, launches] of ofVisitors) {
      if (!launches.some(isKept)) ofVisitors.delete(visitor);
    }
  };

  /** Returns the launches of the browser that sent the request, newest first. */
  const launchesOf = (exchange: Pick<Exchange, 'request'>): readonly VisitedLaunch[] =>
    (ofVisitors.get(visitorOf(exchange) ?? '') ?? []).filter(isKept);

  return {
    launchesOf,

    /**
     * Adds a launch to the launches of the browser. Backends find the launch by its id or by one of `keys`.
     */
    store(exchange: Exchange, started: StartedLaunch, keys: readonly string[] = []): void {
      forgetExpired();
      const launch: VisitedLaunch = {
        attempts: new Map(),
        documents: () => [],
        ...started,
        startedAt: clock.now(),
        attempted: new Map(),
      };
      const visitor = visitorOf(exchange) ?? randomBytes(32).toString('base64url');
      ofVisitors.set(visitor, [launch, ...(ofVisitors.get(visitor) ?? [])].slice(0, maxLaunches));
      for (const key of [launch.id, ...keys]) byKey.set(key, launch);
      const options = { path: '/demo', httpOnly: true, sameSite: 'lax', secure: isSecure } as const;
      setCookie(exchange.response, { name: cookieName, value: visitor, ...options });
    },

    /**
     * Returns the launch with a key, from any browser. Returns undefined if the key is unknown or the launch
     * has expired.
     */
    find(key: string): VisitedLaunch | undefined {
      const launch = byKey.get(key);
      return launch !== undefined && isKept(launch) ? launch : undefined;
    },
  };
}
