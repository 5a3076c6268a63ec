import { describe, expect, it } from '@jest/globals';
import { UnsecuredJWT } from 'jose';
import { type Attributed, createAttribution } from '../src/attribution.ts';
import type { ProxiedAnswer, ProxiedRequest } from '../src/exchange.ts';

const base = 'http://localhost:8080';
const idp = `${base}/idp/demo/desktop/oauth2/v2.0`;
const clientId = 'partner';
const launchId = '5f0c7a52-0b61-4c0e-9a57-8d2f6c1e4b70';

const jwt = (claims: Readonly<Record<string, string>>) => new UnsecuredJWT(claims).encode();
const client_assertion = jwt({ sub: clientId });
const accessToken = jwt({ client_id: clientId, sid: launchId });

function aRequest(
  address: string,
  {
    form,
    authorization,
  }: { readonly form?: Readonly<Record<string, string>>; readonly authorization?: string } = {},
): ProxiedRequest {
  return {
    method: form ? 'POST' : 'GET',
    url: new URL(address),
    headers: {
      ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(authorization !== undefined && { authorization }),
    },
    body: new URLSearchParams(form).toString(),
    at: 0,
  };
}

const anAnswer = (members: object, headers: Readonly<Record<string, string>> = {}): ProxiedAnswer => ({
  status: 200,
  headers: { 'x-correlation-id': launchId, ...headers },
  body: Buffer.from(JSON.stringify(members)),
});

type Exchanged = readonly [ProxiedRequest, ProxiedAnswer?];

/** Returns the client and the launch of the last exchange, after attributing the exchanges before it. */
async function attributedTo(...exchanges: readonly Exchanged[]): Promise<Attributed> {
  const attribution = createAttribution();
  let attributed: Attributed = {};
  for (const [request, answer = anAnswer({})] of exchanges)
    attributed = attribution.learn({ request, answer, ...(await attribution.of(request)) });
  return attributed;
}

const issued = [
  {
    ...aRequest(`${base}/idp/demo/desktop/launches`, {
      authorization: `Bearer ${jwt({ client_id: 'host' })}`,
    }),
    body: JSON.stringify({ client_id: clientId }),
  },
  anAnswer({ launch: 'L' }),
] as const;
const pushed = [
  aRequest(`${idp}/par`, { form: { client_assertion, launch: 'L' } }),
  anAnswer({ request_uri: 'R' }),
] as const;
const authorized = [
  aRequest(`${idp}/authorize?request_uri=R`),
  anAnswer({}, { location: 'partnerapp://auth?code=C&state=s' }),
] as const;
const exchanged = [
  aRequest(`${idp}/token`, { form: { code: 'C', client_assertion } }),
  anAnswer({ access_token: accessToken, refresh_token: 'T' }, { 'x-correlation-id': 'of the request' }),
] as const;
const flow = [issued, pushed, authorized, exchanged];

describe('the client and the launch of a partner’s request', () => {
  it.each<[request: string, exchanges: readonly Exchanged[]]>([
    ['a pushed request with its launch identifier', [issued, pushed]],
    ['an authorization request with a request_uri', [issued, pushed, authorized]],
    [
      'an authorization request with its launch identifier in an address',
      [issued, [aRequest(`${idp}/authorize?launch=L`), authorized[1]]],
    ],
    ['a token request with an assertion', flow],
    [
      'a refresh without a client_id',
      [...flow, [aRequest(`${idp}/token`, { form: { refresh_token: 'T' } })]],
    ],
    ['a revocation without a client_id', [...flow, [aRequest(`${idp}/revoke`, { form: { token: 'T' } })]]],
    [
      'a read with a bearer token',
      [...flow, [aRequest(`${base}/resource/me`, { authorization: `Bearer ${accessToken}` })]],
    ],
    [
      'a read with a DPoP token',
      [...flow, [aRequest(`${base}/resource/me`, { authorization: `DPoP ${accessToken}` })]],
    ],
  ])('are known for %s', async (_request, exchanges) => {
    expect(await attributedTo(...exchanges)).toEqual({ clientId, launchId });
  });

  it.each<[request: string, exchanges: readonly Exchanged[]]>([
    ['an authorization request', [[aRequest(`${idp}/authorize?client_id=${clientId}`)]]],
    ['a pushed request', [[aRequest(`${idp}/par`, { form: { client_assertion, launch: 'another' } })]]],
    ['a refused token request', [[aRequest(`${idp}/token`, { form: { client_assertion } })]]],
    ['a revocation', [[aRequest(`${idp}/revoke`, { form: { client_assertion, token: 'another' } })]]],
    [
      'a read with a forged token',
      [[aRequest(`${base}/resource/me`, { authorization: `Bearer ${accessToken}` })]],
    ],
  ])('are unknown for %s that only states the client', async (_request, exchanges) => {
    expect(await attributedTo(issued, ...exchanges)).toEqual({});
  });

  it('are unknown for the request of a resource server that introspects a token of the partner', async () => {
    const authorization = `Bearer ${jwt({ client_id: 'resource-server' })}`;
    const introspected = aRequest(`${idp}/introspect`, { form: { token: 'T' }, authorization });
    expect(await attributedTo(...flow, [introspected])).toEqual({});
  });

  it('are unknown for a request that names no client, and only the client is known for a token without a launch', async () => {
    expect(await attributedTo([aRequest(`${base}/idp/demo/desktop/discovery/v2.0/keys`)])).toEqual({});
    const form = { client_id: 'pms', grant_type: 'client_credentials' };
    const granted = anAnswer({ access_token: jwt({ client_id: 'pms' }) });
    expect(await attributedTo([aRequest(`${base}/idp/demo/oauth2/v2.0/token`, { form }), granted])).toEqual({
      clientId: 'pms',
    });
  });
});
