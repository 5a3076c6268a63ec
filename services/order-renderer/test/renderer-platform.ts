import { randomBytes, randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Action, type CloudEvent, createSealer, type LaunchContext } from '@clinical-launch/contracts';
import { openEmbeddedStorage } from '@clinical-launch/storage';
import { createTestBacking, serveForTest, TestClock } from '@clinical-launch/testing';
import { type OrderRendererConfig, orderRenderer } from '../src/index.ts';
import { anOrder, anOrderSubmitted } from './submitted-order.ts';

export type SubmittedEvent = ReturnType<typeof anOrderSubmitted>;
type Submitted = {
  readonly guid: string;
  readonly launchId: string;
  readonly familyName?: string;
  readonly now?: Date;
  readonly sealedValue?: unknown;
};

export type RendererPlatform = Awaited<ReturnType<typeof startRendererPlatform>>;

/** The renderer on embedded parts behind one address, and what an ordering service and a reader do with it. */
export async function startRendererPlatform(config: OrderRendererConfig) {
  const clock = new TestClock();
  const backing = createTestBacking(clock);
  const storage = await openEmbeddedStorage();
  const sealer = createSealer([{ id: 'k', key: randomBytes(32) }]);
  const service = orderRenderer(config, { ...backing, storage, sealer });
  const server = await serveForTest({ mounts: [{ path: '/', service }], backing });
  const { bus, published, lines, deadLetters, tickets } = backing;

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
    { launchId = randomUUID(), action = 'OrderTest' }: { launchId?: string; action?: Action } = {},
  ) => {
    const issue = await tickets.issue(kind, {
      context: aLaunchContext(launchId, action),
      ttlSeconds: 1800,
      correlationId: launchId,
      events: [],
    });
    if (issue.outcome !== 'issued') throw new Error('No ticket was issued');
    return `launch-session=${issue.ticket}`;
  };

  const openSession = async (action?: Action) => {
    const launchId = randomUUID();
    return { launchId, cookie: await issueTicket('launch-session', { launchId, ...(action && { action }) }) };
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
    async read(path: string, cookie?: string, method = 'GET') {
      const headers = cookie === undefined ? {} : { cookie };
      const response = await fetch(`${server.url}${path}`, { method, headers });
      const type = response.headers.get('content-type');
      return { status: response.status, headers: response.headers, type, body: await response.text() };
    },
    /** Resolves when a request of this launch is past the check of its session. */
    isReading: (launchId: string) => untilLogged(launchId, 'belongs to a launch'),
    /** Asks and goes away while the service waits; resolves when the service has seen it. */
    async leaveWhileWaiting(path: string, { launchId, cookie }: { launchId: string; cookie: string }) {
      const request = get(`${server.url}${path}`, { headers: { cookie } }).on('error', () => undefined);
      await untilLogged(launchId, 'belongs to a launch');
      request.destroy();
      await untilLogged(launchId, '"complete":false');
    },
    /** Type and data of the launch's events, once there are so many. */
    async storyOf(launchId: string, length: number) {
      const story = () => published.filter(({ correlationid }) => correlationid === launchId);
      await until(() => story().length >= length);
      return story().map(({ type, data }) => [type, data] as const);
    },
    async stop() {
      await server.stop();
      await storage.close();
    },
  };
}

function aLaunchContext(launchId: string, action: Action): LaunchContext {
  const { patient, requester, practice, performer, authoredOn } = anOrder(randomUUID());
  const client = {
    issuer: 'http://localhost/idp/demo/v2.0',
    clientId: 'pms-demo',
    frameAncestors: ['https://pms.example'],
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
  return { launchId, client, request };
}

async function until(isSo: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(5000);
  while (!isSo()) await delay(5, undefined, { signal });
}
