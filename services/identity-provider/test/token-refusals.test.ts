import type { Storage } from '@clinical-launch/storage/storage';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { postWithTwoAuthorizations } from '@clinical-launch/testing/two-authorizations';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashClientSecret } from '../src/domain/client-secrets.ts';
import {
  aClient,
  basic,
  record,
  runIdentityProvider,
  scope,
  tokenForm,
} from './running-identity-provider.ts';

const clock = new TestClock();
const realms = [{ realm: 'north', clients: [aClient(), aClient({ clientId: 'public', secrets: [] })] }];
const path = '/north/oauth2/v2.0/token';

let storage: Storage;
let running: Awaited<ReturnType<typeof runIdentityProvider>>;
beforeAll(async () => {
  storage = await openTestStorage();
  running = await runIdentityProvider({ clock, storage, realms });
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

type Sent = {
  readonly form?: Record<string, string> | [string, string][];
  readonly body?: string;
  readonly headers?: Record<string, string>;
};
type Answer = { readonly status: number; readonly error: string; readonly reason: string };

const changed = (change: Record<string, string>): Sent => ({ form: { ...tokenForm(), ...change } });
const without = (name: string): Sent => ({
  form: Object.entries(tokenForm()).filter(([key]) => key !== name),
});
const twice = (name: string, value: string): Sent => ({
  form: [...Object.entries(tokenForm()), [name, value]],
});
const typed = (type: string, body = 'a=b'): Sent => ({ body, headers: { 'content-type': type } });

const byHeader = { grant_type: 'client_credentials', scope };
const ours = { authorization: basic('pms-north', 'a secret of this client') };
const formType = 'application/x-www-form-urlencoded';
const secretHash = hashClientSecret('a secret of this client');

/** The status, `error` and audited reason of each refusal, with the requests that cause the refusal. */
const refusals: [number, string, string, Record<string, Sent>][] = [
  [
    400,
    'invalid_request',
    'missing_parameter',
    { 'grant_type is missing': without('grant_type'), 'grant_type is empty': changed({ grant_type: '' }) },
  ],
  [
    400,
    'unsupported_grant_type',
    'unsupported_grant_type',
    {
      'the grant is not offered': changed({ grant_type: 'password' }),
      'the grant is the name of an inherited property': changed({ grant_type: 'constructor' }),
    },
  ],
  [
    400,
    'invalid_request',
    'repeated_parameter',
    {
      'grant_type is repeated': twice('grant_type', 'client_credentials'),
      'client_id is repeated': twice('client_id', 'pms-north'),
      'client_secret is repeated': twice('client_secret', 'a secret of this client'),
      'scope is repeated': twice('scope', scope),
      'scope is repeated without a value': twice('scope', ''),
    },
  ],
  [
    400,
    'invalid_scope',
    'wrong_scope',
    {
      'scope is missing': without('scope'),
      'scope is empty': changed({ scope: '' }),
      'scope is the right itself': changed({ scope: 'ocs-launch.write' }),
      'scope contains another resource': changed({ scope: `${scope} api://other/.default` }),
      'scope contains a right too': changed({ scope: `${scope} ocs-launch.write` }),
      'scope contains only scopes of OpenID Connect': changed({ scope: 'openid profile' }),
      'scope is blank': changed({ scope: ' ' }),
      'scope is separated by a tab': changed({ scope: `openid\t${scope}` }),
      'scope is of another API': changed({ scope: 'api://other/.default' }),
      'scope is in another case': changed({ scope: scope.toUpperCase() }),
    },
  ],
  [
    401,
    'invalid_client',
    'unknown_client',
    {
      'the client is unknown': changed({ client_id: 'nobody' }),
      'the client id is in another case': changed({ client_id: 'PMS-North' }),
    },
  ],
  [
    401,
    'invalid_client',
    'wrong_secret',
    {
      'the secret is wrong': changed({ client_secret: 'guessed' }),
      'the secret is the hash itself': changed({ client_secret: secretHash }),
      'the client has no secret': changed({ client_id: 'public' }),
    },
  ],
  [
    401,
    'invalid_client',
    'no_authentication',
    {
      'client_secret is missing': without('client_secret'),
      'client_secret is empty': changed({ client_secret: '' }),
      'client_id is missing': without('client_id'),
      'there are no credentials': { form: byHeader },
    },
  ],
  [
    400,
    'invalid_request',
    'two_authentications',
    {
      'the credentials are sent in both ways': { form: tokenForm(), headers: ours },
      'header and body contain different clients': {
        form: { ...byHeader, client_id: 'public' },
        headers: ours,
      },
    },
  ],
  [
    400,
    'invalid_request',
    'not_a_form',
    {
      'the body is JSON': typed('application/json', JSON.stringify(tokenForm())),
      'the body has no type': { body: 'a=b' },
      'the form is not UTF-8': typed(formType, '\xff'),
      'the form is compressed': {
        body: 'a=b',
        headers: { 'content-type': formType, 'content-encoding': 'gzip' },
      },
    },
  ],
  [
    413,
    'invalid_request',
    'body_too_large',
    { 'the body has over 16 KiB': typed(formType, 'y'.repeat(16_385)) },
  ],
];

describe('a token request with an empty Authorization header', () => {
  it('is authenticated by the secret in its body', async () => {
    expect((await post({ form: tokenForm(), headers: { authorization: '' } })).status).toBe(200);
  });
});

describe('a token request with credentials of two kinds', () => {
  it('is refused with a sentence that names the Authorization header', async () => {
    const response = await post({ form: tokenForm(), headers: { authorization: 'Bearer abc' } });
    const { error_description: description } = record(await response.json());
    expect(description).toContain('the Authorization header');
  });
});

describe('a token request with two Authorization headers', () => {
  it('is refused, because a proxy may have checked a different header than the service reads', async () => {
    const { status, body } = await postWithTwoAuthorizations(running.idp.base + path, {
      ...ours,
      contentType: formType,
      body: new URLSearchParams(byHeader).toString(),
    });
    expect([status, JSON.parse(body)]).toMatchObject([400, { error: 'invalid_request' }]);
  });
});

const cases = refusals.flatMap(([status, error, reason, requests]) =>
  Object.entries(requests).map(([when, sent]) => ({ when, sent, status, error, reason })),
);

const headers = [
  { when: 'contains an unknown client', authorization: basic('nobody', 'guessed'), reason: 'unknown_client' },
  { when: 'has a wrong secret', authorization: basic('pms-north', 'guessed'), reason: 'wrong_secret' },
  { when: 'has an empty secret', authorization: basic('pms-north', ''), reason: 'wrong_secret' },
  { when: 'uses another scheme', authorization: 'Bearer abc', reason: 'malformed_authorization' },
  { when: 'is not Base64', authorization: 'Basic a-b', reason: 'malformed_authorization' },
  { when: 'has no colon', authorization: `Basic ${btoa('pms-north')}`, reason: 'malformed_authorization' },
  {
    when: 'is not form-urlencoded',
    authorization: `Basic ${btoa('pms-north:50%')}`,
    reason: 'malformed_authorization',
  },
];

const post = ({ form, body = '', headers = {} }: Sent) =>
  form === undefined
    ? fetch(`${running.idp.base}${path}`, { method: 'POST', body: Buffer.from(body, 'latin1'), headers })
    : running.idp.postForm(path, form, headers);

async function expectRefusal(response: Response, { status, error, reason }: Answer): Promise<void> {
  const body = record(await response.json());
  expect({ status: response.status, error: body.error }).toEqual({ status, error });
  expect(Object.keys(body)).toEqual(['error', 'error_description', 'correlation_id']);
  expect(body.correlation_id).toBe(response.headers.get('x-correlation-id'));
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('pragma')).toBe('no-cache');
  const event = running.published.find(({ correlationid }) => correlationid === body.correlation_id);
  expect(event).toMatchObject({ type: 'access.token.refused.v1', data: { realm: 'north', status, reason } });
}

describe('an invalid token request (RFC 6749 section 5.2)', () => {
  it.each(cases)('is answered with $status $error if $when', async ({ sent, ...answer }) => {
    const response = await post(sent);
    await expectRefusal(response, answer);
    expect(response.headers.has('www-authenticate')).toBe(false);
  });

  it.each(headers)(
    'is answered with 401 and a challenge if its Authorization header $when',
    async ({ authorization, reason }) => {
      const response = await post({ form: byHeader, headers: { authorization } });
      await expectRefusal(response, { status: 401, error: 'invalid_client', reason });
      expect(response.headers.get('www-authenticate')).toBe('Basic realm="north", charset="UTF-8"');
    },
  );

  it('is answered without a challenge if its Authorization header is valid', async () => {
    const response = await post({ form: { ...byHeader, scope: 'other' }, headers: ours });
    await expectRefusal(response, { status: 400, error: 'invalid_scope', reason: 'wrong_scope' });
    expect(response.headers.has('www-authenticate')).toBe(false);
  });

  it('is answered with the scope that the client must send', async () => {
    const { error_description } = record(await (await post(without('scope'))).json());
    expect(error_description).toBe('The parameter scope must be api://clinical-launch/.default');
  });

  it('gets the same answer for an unknown client and for a wrong secret', async () => {
    const seen = async (sent: Sent) => {
      const response = await post(sent);
      const body = { ...record(await response.json()), correlation_id: '' };
      const { 'x-correlation-id': _id, date: _date, ...rest } = Object.fromEntries(response.headers);
      return { status: response.status, headers: rest, body };
    };
    expect(await seen(changed({ client_id: 'nobody' }))).toEqual(
      await seen(changed({ client_secret: 'no' })),
    );
  });

  it.each(['GET', 'PUT', 'DELETE', 'HEAD'])(
    'is answered with 405 and Allow if its method is %s',
    async (method) => {
      const response = await running.idp.get(path, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
      expect(response.headers.get('cache-control')).toBe('no-store');
    },
  );

  it.each(['/nowhere', '/north/elsewhere', '/tfp', '/tfp/tfp/north', '/%00', '/north%20'])(
    'is answered with 404 and without an event if the realm is %s',
    async (realm) => {
      const before = running.published.length;
      const response = await running.idp.postForm(`${realm}/oauth2/v2.0/token`, tokenForm());
      expect(response.status).toBe(404);
      expect(record(await response.json()).error).toBe('not_found');
      expect(running.published).toHaveLength(before);
    },
  );

  it('is answered with 400 if the path cannot be decoded', async () => {
    const response = await running.idp.postForm('/%ff/oauth2/v2.0/token', tokenForm());
    expect(response.status).toBe(400);
  });
});
