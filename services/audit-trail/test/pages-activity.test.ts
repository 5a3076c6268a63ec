import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startPages } from './running-pages.ts';
import { aLaunch, anEvent, bairstow } from './some-events.ts';

let pages: Awaited<ReturnType<typeof startPages>>;
const [opened, unopened, refused, orderless] = Array.from({ length: 4 }, () => randomUUID());

beforeAll(async () => {
  pages = await startPages();
  const at = (minutes: number) => new Date(pages.clock.now() - minutes * 60_000).toISOString();
  const about = (correlationId: string | undefined, minutes: number, data: object = {}) => ({
    correlationId: String(correlationId),
    time: at(minutes),
    data: { ...data },
  });
  const refusal = { clientId: bairstow.clientId, status: 400, reason: 'invalid_payload' };
  await pages.store(
    aLaunch(String(opened), { time: at(20) }),
    anEvent('launch.token.redeemed.v1', about(opened, 20)),
    anEvent('order.submitted.v1', about(opened, 19)),
    anEvent('order.document.delivered.v1', about(opened, 18)),
    aLaunch(String(unopened), { time: at(12) }),
    anEvent('launch.url.refused.v1', about(refused, 5, refusal)),
    anEvent('access.token.refused.v1', about(orderless, 5, { status: 401, reason: 'wrong_secret' })),
  );
});
afterAll(() => pages.stop());

const unescaped = (html: string) => html.replaceAll('&amp;', '&');
const pathOf = (href: string) => unescaped(href).replace('#found', '');

/** Returns the reference of each event on the page of results. */
async function foundAt(href: string): Promise<string[]> {
  const { status, html } = await pages.open(pathOf(href));
  expect(status).toBe(200);
  return [...html.matchAll(/href="\/audit\/launches\/([^"]+)"/g)].map(([, guid = '']) => guid);
}

describe('the activity page', () => {
  it('links each figure to exactly the events it counts, and shows its share of the period as a bar', async () => {
    const { html } = await pages.open('/audit/activity');
    const byTime = html.slice(html.indexOf('By time'), html.indexOf('scope="row">All<'));
    const figures = [
      ...byTime.matchAll(/<td[^>]*><a href="([^"]+)">(\d+)<\/a><svg[^>]*><rect width="(\d+)"/g),
    ];
    expect(figures.map(([, , , percent]) => Number(percent))).toEqual([50, 100, 100, 100, 50, 100, 100]);
    const found = await Promise.all(
      figures.map(async ([, href = '', count]) => {
        const group = new URLSearchParams(pathOf(href).split('?')[1]).get('group');
        return [group, await foundAt(href), Number(count)] as const;
      }),
    );
    expect(found).toEqual([
      ['issued', [opened], 1],
      ['opened', [opened], 1],
      ['orders', [opened], 1],
      ['deliveries', [opened], 1],
      ['issued', [unopened], 1],
      ['expired', [unopened], 1],
      ['refused', expect.arrayContaining([refused, orderless]), 2],
    ]);
    const [all = ''] = /scope="row">All<.*/.exec(html) ?? [];
    expect([...all.matchAll(/>(\d+)<\/a>/g)].map(([, count]) => Number(count))).toEqual([2, 1, 1, 2, 1, 1]);
  });

  it('links each reason to its refusals, and each client to its events', async () => {
    const { html } = await pages.open('/audit/activity');
    const [, reason = ''] = /<a href="([^"]+)">The practice system sent details/.exec(html) ?? [];
    expect(await foundAt(reason)).toEqual([refused]);
    const [, client = ''] = /<th[^>]*scope="row"><a href="([^"]+)">pms</.exec(html) ?? [];
    expect(new Set(await foundAt(client))).toEqual(new Set([opened, unopened, refused]));
    expect(html).toMatch(/<th[^>]*scope="row">not known</);
  });

  it('opens a search form that keeps the group and the reason in its address', async () => {
    const { html } = await pages.open('/audit/?group=refused&reason=invalid_payload');
    expect(html).toMatch(/<option value="refused" selected>/);
    const { address } = await pages.search({ group: 'refused', reason: 'invalid_payload', q: 'pms' });
    expect(address).toBe('/audit/?group=refused&reason=invalid_payload&client=pms#found');
    expect((await pages.open('/audit/?reason=9434765919')).status).toBe(400);
  });
});
