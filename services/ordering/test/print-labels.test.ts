import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Application, aLaunchContext, aPatient, openForOrder, startOrdering } from './launches.ts';
import { aPractice, openList, orderFor, textOf } from './listing.ts';
import { publishedBy } from './published-events.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const named = (family: string) => aPatient({ name: { family, given: ['Ada'] }, gender: 'male' });

const labelsIn = (html: string) => html.match(/<li class="app-label">[^]*?<\/li>/g) ?? [];

const addressOf = (guids: readonly string[]) =>
  `labels?${new URLSearchParams(guids.map((guid): [string, string] => ['request', guid])).toString()}`;

describe('the labels of several requests', () => {
  it('are printed together, each with the patient of its request, and recorded for each request', async () => {
    const practice = aPractice();
    const one = await orderFor(application, { request: { practice, patient: named('Frost') } }, [
      'HFBC',
      'BUE',
    ]);
    const other = await orderFor(application, { request: { practice, patient: named('Amis') } }, ['HFBC']);
    const without = await orderFor(application, { request: { practice, patient: named('Wu') } }, ['XCXR']);
    const launch = await openList(application, 'LocationSampleQueue', { request: { practice } });
    const html = await launch.page(addressOf([one.guid, other.guid, without.guid]));
    const labels = labelsIn(html).map(textOf);
    expect(labels.map((label) => /FROST|AMIS/.exec(label)?.[0])).toEqual(['FROST', 'FROST', 'AMIS']);
    for (const label of labels) expect(label).toContain('Born 28 February 1958 M');
    const events = await publishedBy(application, launch, 'order.printed.v1');
    const { pseudonyms } = application;
    expect(new Set(events.map(({ data }) => `${data.orderGuid} ${data.patient} ${data.isReprint}`))).toEqual(
      new Set(
        [one, other].map(
          ({ guid, context }) => `${guid} ${pseudonyms.ofPatient(context.request.patient)} false`,
        ),
      ),
    );
    expect(textOf(await launch.page(addressOf([other.guid])))).toMatch(
      /NCP-\d+: Printed before on 2 March 2026/,
    );
  });

  it('are not printed or recorded if the user may not see one of the requests: the answer is 404', async () => {
    const practice = aPractice();
    const own = await orderFor(application, { request: { practice, patient: aPatient() } });
    const foreign = await orderFor(application, { request: { practice: aPractice(), patient: aPatient() } });
    const launch = await openList(application, 'LocationSampleQueue', { request: { practice } });
    for (const guid of [foreign.guid, 'nonsense']) {
      expect((await launch.send(addressOf([own.guid, guid]))).status).toBe(404);
    }
    expect(await launch.page(`requests/${own.guid}/labels`)).not.toContain('Printed before');
    expect(await publishedBy(application, launch, 'order.printed.v1')).toHaveLength(1);
  });

  it('are limited to the 25 requests of a page, and the list shows a message if no request is ticked', async () => {
    const launch = await openList(application, 'LocationSampleQueue');
    const many = Array.from({ length: 26 }, () => crypto.randomUUID());
    expect((await launch.send(addressOf(many))).status).toBe(400);
    const none = await launch.send('labels');
    expect([none.status, none.headers.get('location')]).toEqual([
      303,
      `${launch.home}requests?nothing-ticked`,
    ]);
    await orderFor(application, {});
    expect(textOf(await launch.page('requests?nothing-ticked'))).toContain(
      'Tick the requests whose labels you want to print',
    );
  });

  it('are printed from a form in the list, which has a checkbox for each request', async () => {
    const practice = aPractice();
    const { guid } = await orderFor(application, { request: { practice } });
    const launch = await openList(application, 'LocationSampleQueue', { request: { practice } });
    const html = await launch.page('requests');
    expect(html).toMatch(new RegExp(`action="${launch.home}labels"`));
    expect(html).toContain(`type="checkbox" name="request" value="${guid}"`);
  });
});

describe('the label stock', () => {
  const stockOf = (html: string) => /app-labels--([a-z0-9-]+)/.exec(html)?.[1];
  const blanksOf = (html: string) => html.match(/app-label--blank/g)?.length ?? 0;

  it('is an A4 sheet by default, and a cookie stores only the chosen stock', async () => {
    const launch = await openForOrder(application, 'PatientReport', ['HFBC']);
    const path = `requests/${launch.guid}/labels`;
    expect(stockOf(await launch.page(path))).toBe('a4-24');
    const chosen = await launch.send(`${path}?stock=roll-57x32`);
    expect(stockOf(await chosen.text())).toBe('roll-57x32');
    const cookie = chosen.headers.getSetCookie().find((each) => each.includes('label-stock'));
    expect(cookie).toMatch(
      /^__Secure-label-stock=roll-57x32; Max-Age=31536000; Path=\/oltr\/; .*Secure; SameSite=Lax$/,
    );
    const later = await launch.send(path, {
      headers: { cookie: `${launch.cookie}; __Secure-label-stock=roll-57x32` },
    });
    expect(stockOf(await later.text())).toBe('roll-57x32');
    for (const unknown of ['roll-1x1', '"><script>', 'toString']) {
      const html = await launch.page(`${path}?stock=${encodeURIComponent(unknown)}`);
      expect(stockOf(html)).toBe('a4-24');
    }
  });

  it.each([
    ['1', 0],
    ['2', 1],
    ['24', 23],
    ['0', 0],
    ['25', 0],
    ['-1', 0],
    ['two', 0],
    ['1e1', 0],
  ])('can be a used sheet: with start label %s, %d labels stay empty', async (start, empty) => {
    const launch = await openForOrder(application, 'PatientReport', ['HFBC']);
    const html = await launch.page(`requests/${launch.guid}/labels?start=${start}`);
    expect(blanksOf(html)).toBe(empty);
    const places = html.match(/<option value="\d+"[^>]*>/g) ?? [];
    expect(places.filter((option) => option.includes(' selected'))).toEqual([places[empty]]);
  });

  it('has no start label if it is a roll', async () => {
    const launch = await openForOrder(application, 'PatientReport', ['HFBC']);
    const html = await launch.page(`requests/${launch.guid}/labels?stock=roll-51x25&start=5`);
    expect(blanksOf(html)).toBe(0);
  });

  it.each([
    ['female', ' F '],
    ['male', ' M '],
    ['other', ' Other '],
    ['unknown', ' '],
  ] as const)(
    'has labels that show the gender %s, if it is known, next to the date of birth',
    async (gender, letter) => {
      const { patient } = aLaunchContext().request;
      const { guid, context } = await orderFor(application, {
        request: { patient: { ...patient, ...aPatient(), gender } },
      });
      const launch = await openList(application, 'PatientReport', { request: context.request });
      const [label = ''] = labelsIn(await launch.page(`requests/${guid}/labels`));
      expect(textOf(label)).toContain(`Born 28 February 1958${letter}NHS number`);
    },
  );
});
