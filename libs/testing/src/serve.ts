import type { RequestListener } from 'node:http';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { type DeadLetter, InProcessBus } from '@clinical-launch/events/in-process-bus';
import { listen } from '@clinical-launch/http/server';
import { createAttempts } from '@clinical-launch/limits/attempts';
import { InMemoryLimits } from '@clinical-launch/limits/in-memory-limits';
import type { RefusalLimit } from '@clinical-launch/limits/limits';
import { createRateLimiter } from '@clinical-launch/limits/rate-limit';
import { createRefusals } from '@clinical-launch/limits/refusals';
import { type Mount, startServices } from '@clinical-launch/process/service';
import type { Clock } from '@clinical-launch/runtime/clock';
import { createLogger, type Logger } from '@clinical-launch/runtime/logger';
import { createInMemoryTickets } from '@clinical-launch/tickets/in-memory-tickets';
import { InMemoryRevokedTokens } from '@clinical-launch/trust/in-memory-revoked-tokens';

/** Creates a logger that records its lines, so that a test can check them. */
export function createRecordedLogger(level = 'debug'): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  return { lines, logger: createLogger({ level, destination: { write: (line) => void lines.push(line) } }) };
}

/** Creates the embedded parts of a service for a test, and records all events published on the bus. */
export function createTestDependencies(
  clock: Clock,
  { refusalLimit = suiteRefusalLimit }: { readonly refusalLimit?: RefusalLimit } = {},
) {
  const { logger, lines } = createRecordedLogger();
  const deadLetters: DeadLetter[] = [];
  const bus = new InProcessBus({
    onDeadLetter: (letter) => void deadLetters.push(letter),
    retryAfterMs: [1, 1],
  });
  const published: CloudEvent[] = [];
  const publish = bus.publish.bind(bus);
  bus.publish = async (events) => {
    published.push(...events);
    await publish(events);
  };
  const limits = new InMemoryLimits({ clock, outbox: bus });
  const revokedTokens = new InMemoryRevokedTokens({ clock, outbox: bus });
  const endedSessions = new InMemoryRevokedTokens({ clock, outbox: bus });
  const attempts = createAttempts({ limits, clock, logger });
  const limiter = createRateLimiter(clock);
  const refusals = createRefusals({ limits, clock, logger, limit: refusalLimit, combineSeconds: 0 });
  return {
    clock,
    logger,
    lines,
    bus,
    published,
    deadLetters,
    ...createInMemoryTickets({ clock, outbox: bus }),
    revokedTokens,
    endedSessions,
    limits,
    limiter,
    attempts,
    refusals,
  };
}

/**
 * A limit that no suite exceeds, so that each refusal is answered with its own error. Some suites cause
 * thousands of refusals from one address while their clock does not advance.
 */
const suiteRefusalLimit = { refusals: 100_000, windowSeconds: 10 };

type ServeOptions = {
  /** The services, or a function that creates them with the address of the server. */
  readonly mounts: readonly Mount[] | ((url: string) => Promise<readonly Mount[]>);
  readonly dependencies: ReturnType<typeof createTestDependencies>;
  readonly isProduction?: boolean;
  /** The number of reverse proxies in front of the services, whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: number;
};

/** Starts services on a free port behind one address. `stop` stops everything in reverse order. */
export async function serveForTest({
  mounts,
  dependencies,
  isProduction = false,
  trustedProxies = 0,
}: ServeOptions) {
  const { clock, logger, bus, refusals } = dependencies;
  let answer: RequestListener = (_request, response) => void response.writeHead(503).end();
  const server = await listen((request, response) => answer(request, response), {
    port: 0,
    host: '127.0.0.1',
    logger,
  });
  const url = `http://127.0.0.1:${server.port}`;
  try {
    const options = { logger, clock, isProduction, trustedProxies, refusals, bus };
    const mounted = typeof mounts === 'function' ? await mounts(url) : mounts;
    const services = await startServices({ mounts: mounted, ...options });
    answer = services.listener;
    return {
      url,
      mounts: mounted,
      async stop() {
        await server.stop();
        await services.stop();
        await refusals.stop();
        await bus.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
