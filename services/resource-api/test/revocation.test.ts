import { randomUUID } from 'node:crypto';
import { Unavailable } from '@clinical-launch/contracts/unavailable';
import type { Chains } from '@clinical-launch/tickets/chains';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startResourceApi } from './running-resource-api.ts';

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const api of running.splice(0)) await api.stop();
});

/** Starts a resource API, and counts its queries for revocations. The queries fail while `isAway` is true. */
async function startWatched() {
  const watched = { questions: 0, isAway: false };
  const watch = (chains: Chains): Pick<Chains, 'isRevoked' | 'use'> => ({
    use: (...used) => chains.use(...used),
    async isRevoked(correlationId) {
      watched.questions += 1;
      if (watched.isAway) throw new Unavailable('The tickets are away');
      return chains.isRevoked(correlationId);
    },
  });
  const api = await startResourceApi({ watch });
  running.push(api);
  return { ...api, watched };
}

describe('the revocation of a launch', () => {
  it('invalidates only the access token of that launch, within five seconds', async () => {
    const api = await startWatched();
    const sid = randomUUID();
    const token = await api.sign({ sid });
    expect((await api.get('me', { token })).status).toBe(200);
    await api.chains.revoke(sid, { forSeconds: 3600, events: [] });
    api.clock.advance({ seconds: 5 });
    const refused = await api.get('me', { token });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('Bearer error="invalid_token", error_description="the launch was revoked"'),
    ]);
    expect(refused.headers.get('x-correlation-id')).toBe(sid);
    expect((await api.get('me')).status).toBe(200);
  });

  it('takes effect at once if it precedes the first request', async () => {
    const api = await startWatched();
    const sid = randomUUID();
    await api.chains.revoke(sid, { forSeconds: 3600, events: [] });
    expect((await api.get('patient', { token: await api.sign({ sid }) })).status).toBe(401);
  });

  it('is queried at most once every five seconds for each launch, even by concurrent requests', async () => {
    const api = await startWatched();
    const token = await api.sign();
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await api.get('me', { token })).status),
    );
    expect([new Set(statuses), api.watched.questions]).toEqual([new Set([200]), 1]);
    api.clock.advance({ seconds: 4.999 });
    await api.get('me', { token });
    expect(api.watched.questions).toBe(1);
    api.clock.advance({ seconds: 0.001 });
    await api.get('me', { token });
    expect(api.watched.questions).toBe(2);
  });

  it('causes 503 if it cannot be queried and was not queried in the last five seconds', async () => {
    const api = await startWatched();
    const token = await api.sign();
    api.watched.isAway = true;
    const away = await api.get('me', { token });
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await away.json()).toMatchObject({ error: 'temporarily_unavailable' });
    api.watched.isAway = false;
    expect((await api.get('me', { token })).status).toBe(200);
    api.watched.isAway = true;
    expect((await api.get('me', { token })).status).toBe(200);
    api.clock.advance({ seconds: 5 });
    expect((await api.get('me', { token })).status).toBe(503);
  });
});

describe('rate limits', () => {
  it('of a partner come from the registry and cause 429', async () => {
    const api = await startWatched();
    const token = await api.sign({ client_id: 'partner-limited' });
    const statuses = [];
    for (let asked = 0; asked < 3; asked += 1) statuses.push((await api.get('me', { token })).status);
    expect(statuses).toEqual([200, 200, 429]);
    const other = await api.get('me');
    expect(other.status).toBe(200);
  });
});
