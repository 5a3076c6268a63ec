import { randomBytes } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { createPatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { createSealer } from '@clinical-launch/crypto/sealing';
import { sendStatus } from '@clinical-launch/http/answer';
import { endpoint } from '@clinical-launch/http/endpoint';
import { oauthDialect } from '@clinical-launch/http/errors';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { readAuditTrailConfig, sealKeyFrom } from '../src/config.ts';
import { onEvent } from '../src/consumers/on-event.ts';
import { auditPages } from '../src/http/pages/endpoints.ts';
import { createSessions } from '../src/http/pages/session.ts';
import { createActivity } from '../src/store/activity.ts';
import { createAuditSearch, createLaunchReader } from '../src/store/audit-search.ts';
import { createAuditStore } from '../src/store/audit-store.ts';
import { createKnownParties } from '../src/store/known-parties.ts';
import { openSchema } from '../src/store/tables.ts';

const origin = 'https://audit.example';
const staff = { subject: 's1', username: 'ruth', name: 'Ruth', mayRead: true };

/** Starts the pages on a new database, with a session of a user who may read the log. */
export async function startPages() {
  const clock = new TestClock();
  const dependencies = createTestDependencies(clock);
  const storage = await openTestStorage();
  const database = await openSchema(storage);
  const { keys } = readAuditTrailConfig({});
  const sealer = createSealer([{ id: 'audit', key: randomBytes(32) }]);
  const pseudonyms = createPatientPseudonyms(randomBytes(32));
  const parties = createKnownParties(database);
  const { bus: events, endedSessions } = dependencies;
  const pages = auditPages({
    clock,
    events,
    endedSessions,
    parties,
    pseudonyms,
    search: createAuditSearch(database),
    readLaunches: createLaunchReader(database),
    readActivity: createActivity(database),
    config: {
      publicUrl: origin,
      platformUrl: origin,
      issuer: `${origin}/issuer`,
      clientId: 'pages',
      rightClaim: 'roles',
      timeZone: 'Europe/London',
      allowedNetworks: [],
      sealer,
    },
  });
  const sessions = createSessions({ sealer, clock, endedSessions, isSecure: true });
  const signsIn = endpoint({
    source: '/test',
    dialect: oauthDialect,
    path: '/signs-in',
    methods: {
      GET({ response }) {
        sessions.open(response, staff);
        sendStatus(response, 200);
      },
    },
  });
  const service = { name: 'pages', ...pages, endpoints: [...pages.endpoints, signsIn] };
  const server = await serveForTest({ mounts: [{ path: '/', service }], dependencies });
  const signedIn = await fetch(`${server.url}/signs-in`);
  const [Cookie = ''] = signedIn.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '');
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { Cookie, Origin: origin };
    const response = await fetch(server.url + path, { ...init, headers, redirect: 'manual' });
    const address = response.headers.get('location') ?? '';
    return { status: response.status, address, html: await response.text() };
  };
  /** Opens a page a second later, so that no test exceeds the limit of a second. */
  const open = (path: string, init?: RequestInit) => {
    clock.advance({ seconds: 1 });
    return send(path, init);
  };
  const store = createAuditStore({ database, sealKey: sealKeyFrom(keys) });
  const consumer = onEvent({ store, parties, clock });

  return {
    ...dependencies,
    pseudonyms,
    send,
    open,
    search: (form: Readonly<Record<string, string>>) =>
      open('/audit/', { method: 'POST', body: new URLSearchParams(form) }),
    store: (...stored: CloudEvent[]) => consumer.handleAll(stored),
    async stop() {
      await server.stop();
      await storage.close();
    },
  };
}

/** Returns the text of a page's main element, without tags. */
export const textOf = (html: string): string =>
  html
    .slice(html.indexOf('<main'), html.indexOf('</main>'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
