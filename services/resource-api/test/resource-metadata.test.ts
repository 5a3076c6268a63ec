import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import { fhirIds, startResourceApi } from './running-resource-api.ts';

let api: Awaited<ReturnType<typeof startResourceApi>>;
beforeAll(async () => {
  api = await startResourceApi();
});
afterAll(() => api.stop());

const wellKnown = '/.well-known/oauth-protected-resource';

/** Returns the address in each challenge of a refused request. */
async function metadataOf(path: string, authorization: Record<string, string> = {}): Promise<string[]> {
  const { status, headers } = await fetch(`${api.url}${path}`, { headers: authorization });
  expect(status).toBe(401);
  const challenges = headers.get('www-authenticate') ?? '';
  return [...challenges.matchAll(/resource_metadata="([^"]*)"/g)].map(([, address = '']) => address);
}

describe('the metadata of a protected resource (RFC 9728)', () => {
  it.each([
    ['/resource/me', ['demo/desktop', 'south/desktop']],
    ['/resource/patient', ['demo/desktop', 'south/desktop']],
    ['/resource/userinfo', ['demo/desktop', 'south/desktop']],
    [`/idp/demo/desktop/v2.0/Patient/${fhirIds.Patient}`, ['demo/desktop']],
    ['/idp/demo/desktop/v2.0/Patient', ['demo/desktop']],
    ['/idp/south/desktop/v2.0/Organization/unknown', ['south/desktop']],
  ])(
    'is named by both challenges (Bearer, DPoP) at %s, and contains the address of that resource',
    async (path, realms) => {
      const [address = '', ...others] = await metadataOf(path);
      expect(others).toEqual([address]);
      const response = await fetch(address);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(await response.json()).toEqual({
        resource: `${api.url}${path}`,
        authorization_servers: realms.map((realm) => `${api.url}/idp/${realm}/v2.0`),
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
        dpop_bound_access_tokens_required: false,
        tls_client_certificate_bound_access_tokens: false,
      });
    },
  );

  it('is named once by the challenge for an invalid token, without the query of the request', async () => {
    const [address, ...others] = await metadataOf('/resource/me?access_token=secret', {
      Authorization: 'Bearer a.b.c',
    });
    expect([address, others]).toEqual([`${api.url}${wellKnown}/resource/me`, []]);
  });

  it('is accepted by a third-party client (oauth4webapi)', async () => {
    const resource = new URL(`${api.url}/resource/me`);
    const response = await oauth.resourceDiscoveryRequest(resource, { [oauth.allowInsecureRequests]: true });
    const { authorization_servers } = await oauth.processResourceDiscoveryResponse(resource, response);
    expect(authorization_servers).toContain(api.issuer);
  });

  it('exists for the FHIR base of a desktop realm, but not for other realms or paths without a resource', async () => {
    const paths = ['/idp/demo/desktop/v2.0', '/idp/demo/v2.0', '/idp/no/where/v2.0', '/resource', ''];
    const statuses = paths.map(async (path) => (await fetch(api.url + wellKnown + path)).status);
    expect(await Promise.all(statuses)).toEqual([200, 404, 404, 404, 404]);
  });
});
