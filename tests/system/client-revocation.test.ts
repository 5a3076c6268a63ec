import { aServiceRequest } from '@clinical-launch/testing/service-request';
import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import * as openid from 'openid-client';
import { startPlatformForTest } from './running-platform.ts';

let platform: Awaited<ReturnType<typeof startPlatformForTest>>;
beforeAll(async () => {
  platform = await startPlatformForTest();
});
afterAll(() => platform.stop());

async function launch(token: string): Promise<Response> {
  return fetch(`${platform.url}/AccessApi/RequestLaunchUrl`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Code-Challenge': 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    },
    body: JSON.stringify(aServiceRequest()),
  });
}

it('the platform in one process without Redis refuses a token that a practice system revoked with openid-client', async () => {
  const client = await openid.discovery(
    new URL(`${platform.url}/idp/demo/v2.0`),
    'pms-demo',
    undefined,
    openid.ClientSecretPost('pms-demo-secret'),
    { execute: [openid.allowInsecureRequests] },
  );
  const grant = () => openid.clientCredentialsGrant(client, { scope: 'api://clinical-launch/.default' });
  const [{ access_token: token }, { access_token: other }] = [await grant(), await grant()];
  expect((await launch(token)).status).toBe(200);
  await openid.tokenRevocation(client, token);
  await until(async () => (await launch(token)).status === 401);
  expect((await launch(other)).status).toBe(200);
});
