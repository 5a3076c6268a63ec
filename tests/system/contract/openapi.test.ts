import { afterAll, describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { differencesOf, exampleOf, type Operation, type Sent, send } from './described.ts';
import { documentPaths, liveRequests, readOperations } from './live-requests.ts';
import { startServices } from './running-services.ts';

const running = await startServices();
const limited = await startServices({ isLimited: true });
const operations = await readOperations(running.url);
const { live, authorized, reading } = liveRequests(running.url, operations);
afterAll(async () => {
  await running.stop();
  await limited.stop();
});

/** Parameters without which no request is in order. */
const needed = ['grant_type', 'token', 'state'];
const without = (names: readonly string[], values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
/** An assertion of no known type: refused wherever clients authenticate. */
const strange = { client_assertion: 'x', client_assertion_type: 'y' };

/** How each refusal is provoked; the same for every operation but for the forms of its request. */
const refusals: Readonly<Record<string, (operation: Operation) => Promise<Sent>>> = {
  400: async ({ operationId, method }) => {
    const sent = await live(operationId);
    const { 'Code-Challenge': _challenge, ...headers } = sent.headers;
    if (method === 'get') return { ...sent, query: without(needed, sent.query) };
    return sent.form === undefined
      ? { ...sent, headers, json: {} }
      : { ...sent, form: without(needed, sent.form) };
  },
  401: async (operation) => {
    const { form, ...sent } = exampleOf(operation);
    if (form === undefined || 'launchToken' in form) return { ...sent, form };
    return {
      ...sent,
      form: 'client_secret' in form ? { ...form, client_secret: 'wrong' } : { ...form, ...strange },
    };
  },
  403: async ({ operationId, ...operation }) =>
    operation.path.startsWith('/resource/')
      ? reading(exampleOf({ operationId, ...operation }), { authorizations: [] })
      : authorized(await live(operationId), 'client-without-rights'),
  404: async ({ operationId }) => {
    const sent = await live(operationId);
    return { ...sent, path: { ...sent.path, realm: 'nowhere', segment1: 'nowhere' } };
  },
  409: async ({ operationId, ...operation }) => {
    const sent = await live(operationId);
    await send(running.url, { operationId, ...operation }, sent);
    return sent;
  },
  410: (operation) => refusals['409']?.(operation) ?? live(operation.operationId),
  413: async ({ operationId }) => {
    const { form, ...sent } = await live(operationId);
    const large = 'x'.repeat(300_000);
    return form === undefined ? { ...sent, json: { large } } : { ...sent, form: { ...form, large } };
  },
  415: async ({ operationId }) => {
    const sent = await live(operationId);
    return { ...sent, headers: { ...sent.headers, 'Content-Type': 'text/plain' } };
  },
};

/** Every answer that is described, once for each media type that it may have. */
const answers = [...operations.values()].flatMap((operation) =>
  Object.entries(operation.responses).flatMap(([status, { content = { '*/*': {} } }]) =>
    // A failure, where it is described as `default`, is a 500.
    Object.keys(content).map(
      (type) => [operation.operationId, status === 'default' ? '500' : status, type, operation] as const,
    ),
  ),
);

const accepting = (sent: Sent, type: string): Sent => ({
  ...sent,
  headers: { ...sent.headers, Accept: type },
});
const found = async (response: Response, operation: Operation) => ({
  status: String(response.status),
  type: response.headers.get('content-type')?.split(';')[0] ?? '*/*',
  differences: await differencesOf(response, operation),
});
const described = (status: string, type: string) => ({ status, type, differences: [] });

describe('an answer that is described', () => {
  const succeeding = answers.filter(([, status]) => status < '400');
  it.each(succeeding)('%s: %s %s', async (id, status, type, operation) => {
    const response = await send(running.url, operation, accepting(await live(id), type));
    expect(await found(response, operation)).toEqual(described(status, type));
  });

  const refused = answers.filter(([, status]) => status in refusals);
  it.each(refused)('%s: %s %s', async (_id, status, type, operation) => {
    const sent = await refusals[status]?.(operation);
    if (sent === undefined) throw new TypeError(`Provoke ${status}`);
    const response = await send(running.url, operation, accepting(sent, type));
    expect(await found(response, operation)).toEqual(described(status, type));
  });

  it.each(answers.filter(([, status]) => status === '429'))(
    '%s: %s %s',
    async (_id, status, type, operation) => {
      const { path, ...example } = exampleOf(operation);
      const sent = accepting({ ...example, path: { ...path, realm: 'nowhere', segment1: 'nowhere' } }, type);
      await (await send(limited.url, operation, sent)).text();
      const response = await send(limited.url, operation, sent);
      expect(await found(response, operation)).toEqual(described(status, type));
    },
  );

  const failing = answers.filter(([, status]) => status === '500' || status === '503');
  it.each(failing.filter(([id, status]) => !(status === '503' && /^get(Conf|Keys)/.test(id))))(
    '%s: %s %s',
    async (id, status, type, operation) => {
      const sent = accepting(await live(id), type);
      running.fail(status === '503' ? 'unavailable' : 'defect');
      const response = await send(running.url, operation, sent).finally(running.heal);
      expect(await found(response, operation)).toEqual(described(status, type));
    },
  );

  it('503 of what needs the signing keys, once they cannot be read', async () => {
    const cut = await startServices({ connectTimeoutMs: 500 });
    await cut.storage.close();
    cut.clock.advance({ seconds: 3600 });
    for (const [id, status, type, operation] of failing) {
      if (status !== '503' || !/^get(Conf|Keys)/.test(id)) continue;
      const response = await send(cut.url, operation, accepting(exampleOf(operation), type));
      expect(await found(response, operation)).toEqual(described(status, type));
    }
    await cut.stop();
  });

  it('has a request here that provokes it', () => {
    const provoked = ['429', '500', '503', ...Object.keys(refusals)];
    expect(answers.filter(([, status]) => status >= '400' && !provoked.includes(status))).toEqual([]);
    expect(answers.length).toBeGreaterThan(150);
  });
});

describe('whatever is wrong with a request', () => {
  const attempts = [...operations.values()].flatMap((operation) =>
    Object.keys(refusals).map((status) => [operation.operationId, status, operation] as const),
  );
  // Where nothing is sent, there is no body of a wrong kind.
  const sensible = attempts.filter(
    ([, status, { requestBody }]) => requestBody !== undefined || status < '413',
  );
  it.each(sensible)(
    '%s answers as it is described, to what others refuse with %s',
    async (_id, status, operation) => {
      const sent = await refusals[status]?.(operation);
      if (sent === undefined) throw new TypeError(`Provoke ${status}`);
      const response = await send(running.url, operation, sent);
      expect(await differencesOf(response, operation)).toEqual([]);
    },
  );
});

describe('the examples', () => {
  it.each(['requestLaunchUrl', 'validate'])('of %s are accepted as they are, with a token', async (id) => {
    const operation = operations.get(id);
    if (operation === undefined) throw new TypeError(id);
    const response = await send(running.url, operation, await authorized(exampleOf(operation)));
    expect(response.status).toBe(200);
  });

  it('of a token request are accepted: a client, a code, a refresh token', async () => {
    const { desktopTokens, withForm, token } = liveRequests(running.url, operations);
    expect(await token()).toMatch(/^eyJ/);
    const { refresh_token: refreshToken } = await desktopTokens();
    const id = 'requestTokenInDesktopRealm';
    const operation = operations.get(id);
    if (operation === undefined) throw new TypeError(id);
    const sent = withForm(id, { refresh_token: String(refreshToken) }, 'refresh');
    const response = await send(running.url, operation, sent);
    expect(await found(response, operation)).toEqual(described('200', 'application/json'));
  });
});

describe('a method that is not described', () => {
  const paths = Map.groupBy(operations.values(), ({ path }) => path);
  it.each([...paths])('of %s is 405, and Allow has those that are', async (_path, [operation, ...others]) => {
    if (operation === undefined) throw new TypeError('no operation');
    const sent = exampleOf(operation);
    const response = await fetch(
      running.url + operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name) => String(sent.path[name])),
      { method: 'PUT' },
    );
    const allowed = (response.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD');
    const describedMethods = [operation, ...others].map(({ method }) => method.toUpperCase());
    expect([response.status, allowed.toSorted()]).toEqual([405, describedMethods.toSorted()]);
  });
});

describe('the routes of the services', () => {
  it('are those that are described, and the documents themselves', () => {
    // `GET /idp/*realm/discovery/v2.0/keys`
    const routes = running.mounts.flatMap(({ path: mounted, service }) =>
      service.endpoints.flatMap(({ path, methods }) =>
        methods
          .filter((method) => method !== 'HEAD')
          .map((method) => `${method} ${mounted === '/' ? '' : mounted}${path}`),
      ),
    );
    const routeOf = ({ method, path }: Operation) =>
      `${method.toUpperCase()} ${path.replace(/\{realm\}|\{segment1\}\/\{segment2\}/, '*realm').replace('{id}', ':id')}`;
    const describedRoutes = new Set([...operations.values()].map(routeOf));
    const served = [...describedRoutes, ...documentPaths.map((path) => `GET ${path}`)];
    expect(routes.toSorted()).toEqual(served.toSorted());
  });
});

describe('an OpenAPI document', () => {
  it.each(documentPaths)(
    '%s passes the linter with its recommended rules, without a warning',
    async (path) => {
      const source = await (await fetch(running.url + path)).text();
      // Public schemas have no answer 4xx.
      const rules = { 'operation-4xx-response': 'off' } as const;
      const config = await createConfig({ extends: ['recommended'], rules });
      const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
      expect(
        problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      ).toEqual([]);
    },
  );
});
