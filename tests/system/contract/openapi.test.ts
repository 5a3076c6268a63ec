import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { pagesFolder } from '../../../tools/docs/developer-pages.ts';
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

/** Parameters that a request must contain to be valid. */
const needed = ['grant_type', 'token', 'state'];
const without = (names: readonly string[], values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
/** An assertion of an unknown type, which every client authentication refuses. */
const strange = { client_assertion: 'x', client_assertion_type: 'y' };

/**
 * Returns whether a path is the path of a FHIR resource. The realm of such a path must be the realm of the
 * token.
 */
const isFhirRead = (path: string) => /^\/idp\/.*\/v2\.0\/[A-Z]\w+(\/\{id\})?$/.test(path);

/** The requests that cause each refusal of an operation. */
const refusals: Readonly<Record<string, (operation: Operation) => Promise<Sent>>> = {
  400: async ({ operationId, method }) => {
    const sent = await live(operationId);
    const { 'Code-Challenge': _challenge, ...headers } = sent.headers;
    if (method === 'get') return { ...sent, query: { ...without(needed, sent.query), unknown: 'x' } };
    return sent.form === undefined
      ? { ...sent, headers, json: {} }
      : { ...sent, form: { ...without(needed, sent.form), unknown: 'x' } };
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
    operation.path.startsWith('/resource/') || isFhirRead(operation.path)
      ? reading(exampleOf({ operationId, ...operation }), { authorizations: [] }, { scope: 'launch' })
      : authorized(await live(operationId), 'client-without-rights'),
  404: async ({ operationId, path }) => {
    const sent = await live(operationId);
    if (isFhirRead(path)) return { ...sent, path: { ...sent.path, id: 'unknown' }, query: {} };
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

/** Every described answer, once for each of its media types. */
const answers = [...operations.values()].flatMap((operation) =>
  Object.entries(operation.responses).flatMap(([status, { content = { '*/*': {} } }]) =>
    // `default` describes a failure, which is answered 500.
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

/** Returns the code of a refusal, or undefined if the answer does not contain it. */
async function codeOf(response: Response): Promise<string | undefined> {
  const [, challenged] = /error="(\w+)"/.exec(response.headers.get('www-authenticate') ?? '') ?? [];
  const [, answered] = /^\{"error":"(\w+)"/.exec(await response.clone().text()) ?? [];
  const code = response.headers.get('launch-refusal') ?? answered ?? challenged;
  return code === 'not_valid' ? undefined : code;
}

/** The pages that the developer portal shows of the OpenAPI documents. */
const reference = globSync('*.html', { cwd: new URL('reference/', pagesFolder) })
  .map((name) => readFileSync(new URL(`reference/${name}`, pagesFolder), 'utf8'))
  .join('');
const sectionOf = (operationId: string) =>
  reference.split(`<h2 id="${operationId}"`)[1]?.split('<h2 ')[0] ?? '';

describe('an operation', () => {
  const succeeding = answers.filter(([, status]) => status < '400');
  it.each(succeeding)('%s succeeds as described: %s %s', async (id, status, type, operation) => {
    const response = await send(running.url, operation, accepting(await live(id), type));
    expect(await found(response, operation)).toEqual(described(status, type));
  });

  const refused = answers.filter(([, status]) => status in refusals);
  it.each(refused)('%s refuses as described: %s %s', async (_id, status, type, operation) => {
    const sent = await refusals[status]?.(operation);
    if (sent === undefined) throw new TypeError(`Provoke ${status}`);
    const response = await send(running.url, operation, accepting(sent, type));
    const code = await codeOf(response);
    expect(await found(response, operation)).toEqual(described(status, type));
    expect(sectionOf(operation.operationId)).toMatch(new RegExp(`data-name="status">${status}</td>`));
    expect(sectionOf(operation.operationId)).toContain(code === undefined ? '' : `>${code}</code></a>`);
  });

  it.each(answers.filter(([, status]) => status === '429'))(
    '%s refuses an address beyond its limit as described: %s %s',
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
    '%s fails as described: %s %s',
    async (id, status, type, operation) => {
      const sent = accepting(await live(id), type);
      running.fail(status === '503' ? 'unavailable' : 'defect');
      const response = await send(running.url, operation, sent).finally(running.heal);
      expect(await found(response, operation)).toEqual(described(status, type));
    },
  );

  it('for signing keys answers 503 as described if the keys cannot be read', async () => {
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

  it('describes only error statuses that these tests cause', () => {
    const provoked = ['429', '500', '503', ...Object.keys(refusals)];
    expect(answers.filter(([, status]) => status >= '400' && !provoked.includes(status))).toEqual([]);
    expect(answers.length).toBeGreaterThan(200);
  });
});

describe('an invalid request', () => {
  const attempts = [...operations.values()].flatMap((operation) =>
    Object.keys(refusals).map((status) => [operation.operationId, status, operation] as const),
  );
  // A request without a body cannot have a body that is too large or of a wrong type.
  const sensible = attempts.filter(
    ([, status, { requestBody }]) => requestBody !== undefined || status < '413',
  );
  it.each(sensible)(
    'to %s, with the fault that causes a %s, is answered as described',
    async (_id, status, operation) => {
      const sent = await refusals[status]?.(operation);
      if (sent === undefined) throw new TypeError(`Provoke ${status}`);
      const response = await send(running.url, operation, sent);
      expect(await differencesOf(response, operation)).toEqual([]);
    },
  );
});

describe('the published examples', () => {
  it.each(['requestLaunchUrl', 'validate'])('of %s are accepted with an access token', async (id) => {
    const operation = operations.get(id);
    if (operation === undefined) throw new TypeError(id);
    const response = await send(running.url, operation, await authorized(exampleOf(operation)));
    expect(response.status).toBe(200);
  });

  it('of token requests are accepted for client credentials, a code and a refresh token', async () => {
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

describe('a method that is not described for a path', () => {
  const paths = Map.groupBy(operations.values(), ({ path }) => path);
  it.each([...paths])(
    'is answered 405, with the described methods in Allow: %s',
    async (_path, [operation, ...others]) => {
      if (operation === undefined) throw new TypeError('no operation');
      const sent = exampleOf(operation);
      const response = await fetch(
        running.url + operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name) => String(sent.path[name])),
        { method: 'PUT' },
      );
      const allowed = (response.headers.get('allow') ?? '').split(', ').filter((method) => method !== 'HEAD');
      const describedMethods = [operation, ...others].map(({ method }) => method.toUpperCase());
      expect([response.status, allowed.toSorted()]).toEqual([405, describedMethods.toSorted()]);
    },
  );
});

describe('the routes of the services', () => {
  it('are exactly the described operations and the OpenAPI documents', () => {
    // Each route is written as `GET /idp/*realm/discovery/v2.0/keys`.
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

describe('the reference of the developer portal', () => {
  it('has a section for each operation that the running services describe', () => {
    const missing = [...operations.values()].filter(
      ({ operationId, method, path }) =>
        !sectionOf(operationId).includes(`<code>${method.toUpperCase()} ${path}</code>`),
    );
    expect(missing).toEqual([]);
  });
});

describe('an OpenAPI document', () => {
  const python = process.env['PYTHON_PATH'] || 'python3';
  const compile = 'import json, re, sys; [re.compile(one) for one in json.load(sys.stdin)]';

  it.each([...documentPaths, '/AccessApi/schemas/service-request.json'])(
    '%s has only patterns that Python compiles, and none that depend on the flag u of JavaScript',
    async (path) => {
      const source = await (await fetch(running.url + path)).text();
      const patterns = [...source.matchAll(/"pattern":\s*("(?:[^"\\]|\\.)*")/g)].map(
        ([, pattern = '']) => JSON.parse(pattern) as string,
      );
      expect(patterns.length).toBeGreaterThan(3);
      // Python warns of a class that Java reads as a nested class.
      const run = spawnSync(python, ['-W', 'error', '-c', compile], { input: JSON.stringify(patterns) });
      expect([run.status, run.stderr.toString()]).toEqual([0, '']);
      expect(patterns.filter((one) => /\\[up]\{/.test(one))).toEqual([]);
    },
  );

  it.each(documentPaths)('%s passes the recommended rules of the linter without a warning', async (path) => {
    const source = await (await fetch(running.url + path)).text();
    // This rule requires a 4xx answer, but operations that return public schemas have none.
    const rules = { 'operation-4xx-response': 'off' } as const;
    const config = await createConfig({ extends: ['recommended'], rules });
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });
});
