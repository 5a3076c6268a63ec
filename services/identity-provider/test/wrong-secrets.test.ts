import { TestClock } from '@clinical-launch/testing/test-clock';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aClient, runIdentityProvider, tokenForm } from './running-identity-provider.ts';

let storage: Awaited<ReturnType<typeof openTestStorage>>;
beforeAll(async () => {
  storage = await openTestStorage();
});
afterAll(() => storage.close());

let clock: TestClock;
let running: Awaited<ReturnType<typeof runIdentityProvider>>;
beforeEach(async () => {
  clock = new TestClock();
  const realms = [{ realm: 'north', clients: [aClient(), aClient({ clientId: 'pms-south' })] }];
  running = await runIdentityProvider({ clock, storage, realms, replicas: 2 });
});

afterEach(() => running.stop());

const ask = async (
  form: Record<string, string> = {},
  { at = running.idp, from = '192.0.2.1' }: { at?: typeof running.idp | undefined; from?: string } = {},
) => {
  const headers = { 'X-Forwarded-For': from };
  const response = await at.postForm('/north/oauth2/v2.0/token', { ...tokenForm(), ...form }, headers);
  await response.text();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
};
const guess = (form: Record<string, string> = {}) => ask({ client_secret: 'guessed', ...form });

async function guessTimes(times: number, form?: Record<string, string>): Promise<number[]> {
  const statuses: number[] = [];
  for (let guessed = 0; guessed < times; guessed += 1) statuses.push((await guess(form)).status);
  return statuses;
}

describe('wrong client secrets', () => {
  it('delay the next wrong secret of the client at its address from the fifth failure on: 1 second, then 2, then 4', async () => {
    expect(await guessTimes(6)).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await guess()).toEqual({ status: 429, retryAfter: '1' });
    clock.advance({ seconds: 1 });
    expect((await guess()).status).toBe(401);
    expect(await guess()).toEqual({ status: 429, retryAfter: '2' });
    clock.advance({ seconds: 2 });
    expect((await guess()).status).toBe(401);
    expect(await guess()).toEqual({ status: 429, retryAfter: '4' });
  });

  it('of one node never delay another node with the right secret at the same address', async () => {
    const [other] = running.others;
    for (let round = 0; round < 20; round += 1) {
      await guess();
      expect([(await ask()).status, (await ask({}, { at: other })).status]).toEqual([200, 200]);
    }
    expect(await guess()).toMatchObject({ status: 429 });
  });

  it('do not delay the client at another address, so that nobody can lock the client out', async () => {
    await guessTimes(6);
    const wrong = { client_secret: 'guessed' };
    expect((await ask(wrong, { from: '192.0.2.1' })).status).toBe(429);
    expect((await ask(wrong, { from: '198.51.100.7' })).status).toBe(401);
  });

  it('do not delay another client', async () => {
    await guessTimes(6);
    expect((await guess({ client_id: 'pms-south' })).status).toBe(401);
  });

  it('delay an unknown client like a known client, so that nobody learns which clients exist', async () => {
    const statuses = await guessTimes(7, { client_id: 'nobody' });
    expect(statuses).toEqual(await guessTimes(7));
  });

  it('cause no events while they are answered with 429, so that many requests do not cause many events', async () => {
    await guessTimes(5);
    const before = running.published.length;
    await guessTimes(10);
    expect(running.published.length).toBe(before);
  });

  it('are counted across all replicas', async () => {
    await guessTimes(5);
    const [other] = running.others;
    expect(await ask({ client_secret: 'guessed' }, { at: other })).toEqual({ status: 429, retryAfter: '1' });
  });
});
