import { randomBytes, randomUUID } from 'node:crypto';
import { get } from 'node:http';
import type { PracticeBinding } from '@clinical-launch/contracts/coded-identifiers';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { Action, LaunchContext } from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { createSealer, type Sealer } from '@clinical-launch/crypto/sealing';
import type { ResolveName } from '@clinical-launch/http/outbound-fetch';
import type { Storage } from '@clinical-launch/storage/storage';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { until } from '@clinical-launch/testing/until';
import { fixedRegistry, type RegistrySource } from '@clinical-launch/trust/registry-file';
import { type CallbackConfig, type OrderRendererConfig, readOrderRendererConfig } from '../src/config.ts';
import { orderRenderer } from '../src/service.ts';
import { anOrder, anOrderSubmitted } from './submitted-order.ts';

export type SubmittedEvent = ReturnType<typeof anOrderSubmitted>;
type Submitted = {
  readonly guid: string;
  readonly launchId: string;
  readonly familyName?: string;
  readonly now?: Date;
  readonly sealedValue?: unknown;
  readonly orderVersion?: number;
  readonly clientId?: string;
};

type SessionOptions = { readonly action?: Action; readonly practices?: PracticeBinding };

export type RendererPlatform = Awaited<ReturnType<typeof startRendererPlatform>>;

/**
 * Returns the configuration of a renderer under test. It has the platform's intervals, except the intervals
 * that would delay a test.
 */
export function aConfig({
  callbacks,
  ...changes
}: Partial<Omit<OrderRendererConfig, 'callbacks'>> & { callbacks?: Partial<CallbackConfig> } = {}) {
  const config = readOrderRendererConfig({ PUBLIC_URL: 'http://localhost' });
  return { ...config, ...changes, callbacks: { ...config.callbacks, pollMs: 10, ...callbacks } };
}

type PlatformOptions = {
  readonly clock?: TestClock;
  readonly registry?: RegistrySource;
  readonly sealer?: Sealer;
  readonly resolveName?: ResolveName;
  /** A storage that this platform does not close when it stops. */
  readonly storage?: Storage;
};

/**
 * Starts the renderer with test dependencies. Returns methods that act as the ordering service and as a
 * reader of documents.
 */
export async function startRendererPlatform(config = aConfig(), options: PlatformOptions = {}) {
  const {
    clock = new TestClock(),
    registry = fixedRegistry({ realms: [] }),
    sealer = createSealer([{ id: 'k', key: randomBytes(32) }]),
    resolveName,
  } = options;
  const dependencies = createTestDependencies(clock);
  const storage = options.storage ?? (await openTestStorage());
  const service = await orderRenderer(config, {
    ...dependencies,
    storage,
    registry,
    sealers: { order: sealer, callback: sealer },
    ...(resolveName && { resolveName }),
  });
  const server = await serveForTest({ mounts: [{ path: '/', service }], dependencies });
  const { bus, published, lines, deadLetters, tickets } = dependencies;

  const orderSubmitted = ({ guid, launchId, familyName, ...rest }: Submitted) =>
    anOrderSubmitted({
      sealer,
      order: anOrder(guid, familyName),
      launchId,
      now: new Date(clock.now()),
      ...rest,
    });

  const untilLogged = (launchId: string, words: string) =>
    until(() => lines.some((line) => line.includes(launchId) && line.includes(words)));

  const publish = async (event: CloudEvent) => {
    await bus.publish([event]);
    await bus.idle();
  };

  const issueTicket = async (
    kind: 'launch-session' | 'launch-token',
    { launchId = randomUUID(), action = 'OrderTest', practices }: SessionOptions & { launchId?: string } = {},
  ) => {
    const issue = await tickets.issue(kind, {
      context: aLaunchContext(launchId, action, practices),
      ttlSeconds: 1800,
      correlationId: launchId,
      events: [],
    });
    if (issue.outcome !== 'issued') throw new Error('No ticket was issued');
    return `launch-session=${issue.ticket}`;
  };

  const openSession = async (action: Action = 'OrderTest', options: SessionOptions = {}) => {
    const launchId = randomUUID();
    return { launchId, cookie: await issueTicket('launch-session', { launchId, action, ...options }) };
  };

  const submit = async (submitted: Submitted) => {
    const event = orderSubmitted(submitted);
    await publish(event);
    return event;
  };

  return {
    url: server.url,
    clock,
    published,
    lines,
    deadLetters,
    issueTicket,
    openSession,
    orderSubmitted,
    publish,
    submit,
    async submitOrder() {
      const session = await openSession();
      const guid = randomUUID();
      await submit({ guid, launchId: session.launchId });
      return { guid, ...session };
    },
    /** Requests a path, and accepts HTML as a browser does. */
    async read(path: string, cookie?: string, method = 'GET') {
      const headers = { accept: 'text/html', ...(cookie === undefined ? {} : { cookie }) };
      const response = await fetch(`${server.url}${path}`, { method, headers });
      const type = response.headers.get('content-type');
      return { status: response.status, headers: response.headers, type, body: await response.text() };
    },
    /** Waits until a request of this launch has passed the check of its session. */
    isReading: (launchId: string) => untilLogged(launchId, 'the request belongs to a launch'),
    /**
     * Sends a request, disconnects while the service waits, and resolves when the service has noticed the
     * disconnection.
     */
    async leaveWhileWaiting(path: string, { launchId, cookie }: { launchId: string; cookie: string }) {
      const request = get(`${server.url}${path}`, { headers: { cookie } }).on('error', () => undefined);
      await untilLogged(launchId, 'the request belongs to a launch');
      request.destroy();
      await untilLogged(launchId, '"complete":false');
    },
    /** Waits for `length` events of the launch and returns their types and data. */
    async storyOf(launchId: string, length: number) {
      const story = () => published.filter(({ correlationid }) => correlationid === launchId);
      await until(() => story().length >= length);
      return story().map(({ type, data }) => [type, data] as const);
    },
    async stop() {
      await server.stop();
      if (options.storage === undefined) await storage.close();
    },
  };
}

function aLaunchContext(
  launchId: string,
  action: Action,
  practices: PracticeBinding | undefined,
): LaunchContext {
  const { patient, requester, practice, performer, authoredOn } = anOrder(randomUUID());
  const client = {
    issuer: 'http://localhost/idp/demo/v2.0',
    clientId: 'pms-demo',
    frameAncestors: ['https://pms.example'],
    ...withoutUndefined({ practices }),
  };
  const author = { username: 'a.okonkwo', name: { family: 'Okonkwo', given: ['Adaeze'] } };
  const request = {
    action,
    originatingId: 'HS-1',
    authoredOn,
    author,
    patient,
    requester,
    practice,
    performer,
  };
  return { launchId, issuedAt: Date.now(), client, request };
}
