import { randomBytes, randomUUID } from 'node:crypto';
import type { Action, LaunchContext, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { createSealer } from '@clinical-launch/crypto/sealing';
import { launchSessionIdleSeconds } from '@clinical-launch/pages/launch-session';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import type { Storage } from '@clinical-launch/storage/storage';
import { aNhsNumber } from '@clinical-launch/testing/nhs-number';
import { createTestDependencies, serveForTest } from '@clinical-launch/testing/serve';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { createTestDatabase, openTestStorage } from '@clinical-launch/testing/test-storage';
import { fixedRegistry, type RegistrySource } from '@clinical-launch/trust/registry-file';
import { readCatalogue } from '../src/catalogue-file.ts';
import type { OrderingConfig } from '../src/config.ts';
import { isFor } from '../src/domain/applies-to.ts';
import type { Catalogue } from '../src/domain/catalogue.ts';
import { createCatalogues } from '../src/domain/catalogues.ts';
import { ordering } from '../src/service.ts';
import { openOrderingDatabase } from '../src/store/database.ts';

/** The public origin of the application, which browsers send as `Origin`. */
export const publicUrl = 'https://launch.example.org';

/**
 * Starts the ordering service with in-process dependencies, or with another database. Returns the parts that
 * tests inspect.
 */
export async function startOrdering(
  openStorage: () => Promise<Storage> = openTestStorage,
  catalogues = createCatalogues([readCatalogue()]),
  limits: Pick<OrderingConfig, 'requestsPerSecondPerSession'> = {},
  registry: RegistrySource = fixedRegistry({ realms: [] }),
) {
  const clock = new TestClock();
  const dependencies = createTestDependencies(clock);
  const storage = await openStorage();
  const sealer = createSealer([{ id: 'test', key: randomBytes(32) }]);
  const pseudonyms = readPatientPseudonyms({});
  const service = await ordering(
    { publicUrl, catalogues, timeZone: 'Europe/London', pseudonyms, ...limits },
    { ...dependencies, registry, storage, sealers: { order: sealer } },
  );
  const server = await serveForTest({ mounts: [{ path: '/', service }], dependencies });
  return {
    ...dependencies,
    clock,
    url: server.url,
    storage,
    sealer,
    pseudonyms,
    /** The default catalogue. */
    catalogue: readCatalogue(),
    openLaunch: (
      context: LaunchContext = aLaunchContext(),
      { chainSeconds, browser = new TestBrowser() }: { chainSeconds?: number; browser?: TestBrowser } = {},
    ) =>
      openLaunch({
        browser,
        url: server.url,
        tickets: dependencies.tickets,
        context,
        ...withoutUndefined({ chainSeconds }),
      }),
    async stop() {
      await server.stop();
      await storage.close();
    },
  };
}

/** Starts the ordering service on a PostgreSQL database of its own, with several connections. */
export async function startOrderingOnPostgres(): Promise<Application> {
  const database = await createTestDatabase();
  const application = await startOrdering(() =>
    openPostgresStorage({ url: database.url, applicationName: 'test', poolSize: 6 }),
  );
  return {
    ...application,
    async stop() {
      await application.stop();
      await database.drop();
    },
  };
}

export type Application = Awaited<ReturnType<typeof startOrdering>>;
export type OpenLaunch = Awaited<ReturnType<typeof openLaunch>>;

type Fields = readonly (readonly [name: string, value: string])[];

const browserCookie = /^(__Secure-browser=[^;]*)/;

/** A browser, with the cookie that all its windows share. */
export class TestBrowser {
  cookie: string | undefined;

  /** Stores the cookie of a response, as a browser does. */
  receive(response: Response): void {
    for (const sent of response.headers.getSetCookie()) {
      this.cookie = browserCookie.exec(sent)?.[1] ?? this.cookie;
    }
  }
}

/**
 * Issues the session of a launch. Returns functions that send requests with the cookies of a browser, and do
 * not follow redirects. Each launch has its own browser by default. Submissions without a field `window` get
 * the token of the page that was read last.
 */
async function openLaunch({
  browser,
  url,
  tickets,
  context,
  ...ends
}: Pick<ReturnType<typeof createTestDependencies>, 'tickets'> & {
  url: string;
  context: LaunchContext;
  chainSeconds?: number;
  browser: TestBrowser;
}) {
  const issue = await tickets.issue('launch-session', {
    context,
    ttlSeconds: launchSessionIdleSeconds,
    ...ends,
    correlationId: context.launchId,
    events: [],
  });
  if (issue.outcome !== 'issued') throw new Error('No session was issued');
  const cookie = `__Secure-launch-session=${issue.ticket}`;
  const home = `/oltr/${context.launchId}/`;
  let token: string | undefined;
  const send = async (
    path: string,
    { headers, ...init }: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ) => {
    const cookies = browser.cookie === undefined ? cookie : `${cookie}; ${browser.cookie}`;
    const response = await fetchWhole(new URL(path, `${url}${home}`), {
      ...init,
      headers: { cookie: cookies, ...headers },
    });
    browser.receive(response);
    if (response.ok) token = tokenIn(await response.clone().text()) ?? token;
    return response;
  };
  const post = async (path: string, fields: Fields, headers: Record<string, string> = {}) => {
    const form = toForm(fields);
    if (/(review|samples)(\?print)?$/.test(path) && !form.has('window')) {
      if (token === undefined) await send('window');
      form.set('window', token ?? '');
    }
    return send(path, { method: 'POST', body: form, headers });
  };
  const page = async (path = '') => (await send(path)).text();
  const { hostname: domain } = new URL(url);
  // A browser accepts a cookie with the prefix `__Secure-` only if it is Secure. Browsers also send Secure
  // cookies to a loopback address over http.
  const browserCookie = {
    name: '__Secure-launch-session',
    value: issue.ticket,
    domain,
    path: '/',
    secure: true,
  };
  return {
    launchId: context.launchId,
    context,
    cookie,
    browserCookie,
    ticket: issue.ticket,
    home,
    send,
    post,
    page,
    browser,
  };
}

/** Returns the token of the chosen window in a page or in the answer to a script. */
export const tokenIn = (text: string): string | undefined =>
  /(?:name="window" value=|data-token=|"token":)"([0-9a-f-]{36})"/.exec(text)?.[1];

/** Reads the whole response to free its connection. Returns a copy whose body can still be read. */
export async function fetchWhole(address: URL | string, init?: RequestInit): Promise<Response> {
  const response = await fetch(address, { redirect: 'manual', ...init });
  const kept = response.clone();
  await response.arrayBuffer();
  return kept;
}

/**
 * Posts the form of the page for choosing tests as a browser does: reads the page, then sends its fields.
 * `at` is the path of the page: the home of the launch, or the page on which a request is changed.
 */
export async function press(
  launch: OpenLaunch,
  action: string,
  {
    tick = [],
    untick = [],
    q,
    at = '',
  }: { tick?: string[]; untick?: string[]; q?: string; at?: string } = {},
): Promise<Response> {
  const html = await launch.page(at);
  const ticked = tickedIn(html).filter((code) => !untick.includes(code));
  return launch.post(at, [
    ['q', q ?? /name="q"[^>]* value="([^"]*)"/.exec(html)?.[1] ?? ''],
    ...[...new Set([...ticked, ...tick])].map((code) => ['test', code] as const),
    ...fieldValues(html, 'was').map((code) => ['was', code] as const),
    ['action', action],
  ]);
}

/** Opens a launch, chooses tests and opens the review. */
export async function chooseAndReview(
  application: Application,
  tick: string[],
  context = aLaunchContext(),
): Promise<OpenLaunch> {
  const launch = await application.openLaunch(context);
  await press(launch, 'review', { tick });
  return launch;
}

/** Returns the stored requests of a launch. */
export async function rowsOf({ storage }: Application, { launchId }: OpenLaunch) {
  const database = await openOrderingDatabase(storage);
  return database.selectFrom('test_requests').selectAll().where('launch_id', '=', launchId).execute();
}

/** Submits the order from the review page. */
export async function submit(launch: OpenLaunch, details = ''): Promise<Response> {
  const html = await launch.page('review');
  const [version = ''] = fieldValues(html, 'version');
  return launch.post('review', [
    ['version', version],
    ...neededFor(html).filter(([name]) => name !== 'details' || details === ''),
    ...(details === '' ? [] : [['details', details] as const]),
    ['action', 'submit'],
  ]);
}

/** Returns the fields that a review requires for imaging examinations. */
export function neededFor(html: string): [string, string][] {
  const answers = Object.entries({ side: 'Left', pregnancy: 'No', 'mri-safety': 'None of these' });
  const names = new Set(
    [...html.matchAll(/name="answer:([^":]*)((?::[A-Z0-9]+)?)"/g)].map(
      ([, id = '', code = '']) => `${id}${code}`,
    ),
  );
  return [
    ...(html.includes('Needed for:') && !/id="details"[^>]*>[^<]/.test(html)
      ? [['details', 'Cough for three weeks'] as [string, string]]
      : []),
    ...[...names].flatMap((name): [string, string][] =>
      answers.flatMap(([id, answer]) => (name.split(':')[0] === id ? [[`answer:${name}`, answer]] : [])),
    ),
  ];
}

/**
 * Orders tests and opens a launch of another action for the same patient with the originating id of the
 * order.
 */
export async function openForOrder(
  application: Application,
  action: Action,
  tick: string[],
): Promise<OpenLaunch & { guid: string }> {
  const order = await anOrder(application, tick);
  return openAction(application, action, order);
}

/** Submits an order. Returns the GUID of its request and the context of the launch that submitted it. */
export async function anOrder(
  application: Application,
  tick: string[],
  context = aLaunchContext(),
): Promise<{ guid: string; context: LaunchContext }> {
  const launch = await chooseAndReview(application, tick, context);
  const [, guid = ''] = /orders\/(.*)$/.exec((await submit(launch)).headers.get('location') ?? '') ?? [];
  return { guid, context };
}

/** Opens a launch of another action for the patient, the practice and the identifier of an order. */
export async function openAction(
  application: Application,
  action: Action,
  { guid, context }: { guid: string; context: LaunchContext },
): Promise<OpenLaunch & { guid: string }> {
  const { client, request } = context;
  const launch = await application.openLaunch(aLaunchContext({ client, request: { ...request, action } }));
  return { ...launch, guid };
}

/** Returns the values of the hidden fields of one name. */
export const fieldValues = (html: string, name: string) =>
  [...html.matchAll(new RegExp(`type="hidden" name="${name}" value="([^"]*)"`, 'g'))].map(
    ([, value = '']) => value,
  );

/** Returns the codes of the ticked boxes on a page. */
export const tickedIn = (html: string) =>
  [...html.matchAll(/name="test" type="checkbox" value="([^"]*)" checked/g)].map(([, code = '']) => code);

/** Returns the codes of the chips of a kind above the catalogue, in order. */
export const chipsIn = (html: string, kind: 'yours' | 'practice' | 'most-requested') =>
  html
    .split(`data-chips="${kind}"`)
    .slice(1)
    .flatMap((part) => [...(part.split('</ul>')[0] ?? '').matchAll(/data-chip="([^"]*)"/g)])
    .map(([, code = '']) => code);

/** Returns the codes of the visible tests on a page. */
export const shownIn = (html: string) =>
  [...html.matchAll(/<li(?![^>]* hidden)[^>]*><label><input id=test-(\w+)/g)].map(([, code = '']) => code);

/**
 * Returns the invented patient, a woman of 68. Her NHS number is new, so that a request in one Jest test is
 * not a repeat in another.
 */
export function aPatient(changes: Partial<LaunchRequest['patient']> = {}): LaunchRequest['patient'] {
  const identifiers = [{ system: 'nhs-number', value: aNhsNumber() }] as const;
  return { ...aLaunchContext().request.patient, identifiers, ...changes };
}

/** Returns a patient of 30 years. */
export const aYoungPatient = (gender: LaunchRequest['patient']['gender'] = 'female') =>
  aPatient({ gender, birthDate: '1996-01-15' });

/** Returns the codes that a page offers for the invented patient. */
export const offeredCodes = ({ orderables }: Catalogue) =>
  [...orderables.values()]
    .filter((test) => isFor(test, { gender: 'female', age: 68 }))
    .map(({ code }) => code);

/** Returns the launch context of an OrderTest for an invented patient. */
export function aLaunchContext({
  request = {},
  client = {},
  ...rest
}: {
  request?: Partial<LaunchRequest>;
  client?: Partial<LaunchContext['client']>;
  isPracticeEditor?: boolean;
} = {}): LaunchContext {
  return {
    ...rest,
    launchId: randomUUID(),
    issuedAt: Date.now(),
    client: {
      issuer: 'https://launch.example.org/idp/demo/v2.0',
      clientId: 'pms-demo',
      frameAncestors: [],
      ...client,
    },
    request: {
      action: 'OrderTest',
      originatingId: `HS-${randomUUID()}`,
      authoredOn: '2026-03-02T09:29:30Z',
      // A separate user for each launch, so that no test continues another test's draft.
      author: {
        username: `a.okonkwo.${randomUUID()}`,
        name: { title: 'Dr', family: 'Okonkwo', given: ['Adaeze'] },
      },
      patient: {
        name: { title: 'Mrs', family: 'Whitfield', given: ['Margaret', 'Anne'] },
        birthDate: '1958-02-28',
        gender: 'female',
        address: { lines: ['14 Quayside', 'Whitby'], postalCode: 'YO22 4EB' },
        identifiers: [{ system: 'nhs-number', value: '9434765919' }],
        telecom: [{ system: 'phone', value: '01947 555 0142', use: 'home' }],
      },
      requester: {
        identifier: { system: 'professional-code', value: 'G8134567' },
        name: { title: 'Dr', family: 'Bairstow', given: ['Thomas'] },
      },
      practice: {
        identifier: { system: 'ods-organization-code', value: 'B82017' },
        name: 'Harbour Surgery',
      },
      performer: {
        identifier: { system: 'performing-org', value: 'RCB00' },
        name: 'North Coast Pathology',
      },
      ...request,
    },
  };
}

/** Returns the fields encoded as a browser encodes a form. */
export function toForm(fields: Fields): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}
