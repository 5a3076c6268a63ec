import type { Storage } from '@clinical-launch/storage/storage';
import type { Json } from '@clinical-launch/testing/json-edit';
import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { worstForms, worstJsonBodies } from '@clinical-launch/testing/worst-bodies';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aLaunch, type RunningDesktop, realm, runDesktop } from './running-desktop.ts';

let storage: Storage;
let running: RunningDesktop;
let token: string;
beforeAll(async () => {
  storage = await openTestStorage();
  running = await runDesktop({ clock: new TestClock(), storage });
  token = await running.hostToken();
});
afterAll(async () => {
  await running.stop();
  await storage.close();
});

const fields = [
  'grant_type',
  'client_id',
  'client_secret',
  'scope',
  'token',
  'code',
  'code_challenge',
  'launch',
];

describe('a body within the size limit', () => {
  it('sent to launches never causes a server error', async () => {
    const valid: Json = JSON.parse(JSON.stringify(aLaunch()));
    const send = async (body: string) => {
      const response = await running.postLaunch(body, { token });
      await response.text();
      expect([201, 400]).toContain(response.status);
    };
    await send('{}');
    await fc.assert(fc.asyncProperty(worstJsonBodies(valid, 32 * 1024), send), {
      numRuns: 200,
      endOnFailure: true,
    });
  });

  it.each(['token', 'authorize', 'revoke', 'introspect'])(
    'sent to %s never causes a server error',
    async (endpoint) => {
      const bearer = (await running.idp.token('north', { client_id: 'resource-server' })).access_token;
      const send = async (body: string) => {
        const response = await fetch(`${running.idp.base}/${realm}/oauth2/v2.0/${endpoint}`, {
          method: 'POST',
          body,
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            ...(endpoint === 'introspect' ? { authorization: `Bearer ${String(bearer)}` } : {}),
          },
        });
        await response.text();
        expect(response.status).toBeLessThan(500);
      };
      await send('');
      await fc.assert(fc.asyncProperty(worstForms(fields, 8 * 1024), send), {
        numRuns: 40,
        endOnFailure: true,
      });
    },
  );
});
