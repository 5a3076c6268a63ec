import { until } from '@clinical-launch/testing/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openOrderingDatabase } from '../src/store/database.ts';
import {
  type Application,
  aLaunchContext,
  aPatient,
  chooseAndReview,
  fieldValues,
  type OpenLaunch,
  rowsOf,
  startOrdering,
} from './launches.ts';
import { aPractice, listedIn, openList, orderFor, pageLink, search, similarIn, textOf } from './listing.ts';

let application: Application;
const practice = aPractice();
const cathal = aPatient({
  name: { title: 'Mr', family: 'Ó Súilleabháin', given: ['Cathal', 'Seán-Óg'] },
  previousFamilyName: 'D’Arcy',
  birthDate: '1958-02-28',
  identifiers: [
    { system: 'nhs-number', value: '9876543229' },
    { system: 'hospital-number', value: 'WH-0042317' },
  ],
});
const agnieszka = aPatient({
  name: { title: 'Mrs', family: 'Łukaszewicz-O’Brien', given: ['Agnieszka'] },
  previousFamilyName: 'N\u02bcdiaye-Ka\u02bbahumanu',
  birthDate: '2004-12-05',
  identifiers: [{ system: 'nhs-number', value: '9000000009' }],
});
const requester = {
  identifier: { system: 'professional-code', value: 'G8100001' },
  name: { title: 'Dr', family: 'Penhaligon', given: ['Edith'] },
} as const;
let first: string;
let second: string;
let firstReference: string;
beforeAll(async () => {
  application = await startOrdering();
  ({ guid: first } = await orderFor(application, { request: { practice, patient: cathal } }, [
    'HFBC',
    'BUE',
    'XCXR',
  ]));
  ({ guid: second } = await orderFor(application, { request: { practice, patient: agnieszka, requester } }));
  firstReference = (await referencesOf(first))[0] ?? '';
});
afterAll(() => application.stop());

async function referencesOf(guid: string): Promise<string[]> {
  const database = await openOrderingDatabase(application.storage);
  const { batches } = await database
    .selectFrom('test_requests')
    .select('batches')
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  return batches.map(({ orderReference }) => orderReference);
}

describe('the search in the list of a practice', () => {
  const found = async (q: string) => {
    const launch = await openList(application, 'LocationReportList', { request: { practice } });
    const listed = listedIn(await search(launch, q));
    return listed.map((guid) => (guid === first ? 'Cathal' : guid === second ? 'Agnieszka' : guid));
  };

  it.each([
    ['a surname', 'Ó Súilleabháin'],
    ['a surname without accents, in capitals', 'O SUILLEABHAIN'],
    ['a surname as one word', 'osuilleabhain'],
    ['the beginning of a name', 'sui'],
    ['names in any order', 'cathal suilleabhain'],
    ['a name as the page writes it', 'Ó SÚILLEABHÁIN, Cathal Seán-Óg (Mr)'],
    ['a double forename in one word', 'seanog'],
    ['a previous surname', 'darcy'],
    ['an NHS number', '9876543229'],
    ['an NHS number with spaces', ' 987 654  3229 '],
    ['an NHS number with its label', 'NHS 987 654 3229'],
    ['an NHS number with its whole label', 'NHS number: 987 654 3229'],
    ['the beginning of an NHS number', '987 654'],
    ['a name and a number', 'cathal 987 654 3229'],
    ['a hospital number', 'WH-0042317'],
    ['a hospital number without its hyphen', 'wh0042317'],
    ['the digits of a hospital number', '0042317'],
    ['a date of birth', '28/02/1958'],
    ['a short date of birth', '28.2.58'],
    ['a date of birth with dashes', '28-02-1958'],
    ['a date of birth with spaces', '28 02 1958'],
    ['a date of birth in ISO 8601', '1958-02-28'],
    ['a date of birth with the month as a word', '28 Feb 1958'],
    ['a date of birth with the whole name of the month', '28th of February 1958'],
    ['a date of birth, month first', 'February 28, 1958'],
    ['a date of birth without separators', '28021958'],
    ['a date of birth in six digits', '280258'],
    ['a name and a date of birth', 'Cathal 28-Feb-1958'],
    ['the name of a test', 'chest x-ray'],
    ['the abbreviation of a test', 'CXR'],
    ['an abbreviation with a sign', 'u&e'],
    ['a patient and an abbreviation', 'cathal fbc'],
    ['a patient and the day of the request', 'cathal 2/3/2026'],
    ['a test and a patient, in any order', 'x-ray cathal chest'],
    ['the year of birth', '1958'],
    ['a patient and today', 'today cathal'],
    ['a patient and a day without a year', '2 Mar cathal'],
  ])('finds a request by %s', async (_, q) => {
    expect(await found(q)).toEqual(['Cathal']);
  });

  it.each(['fbc', '02/03/2026', '2 Mar 2026', '2026-03-02', '020326', 'today', '2nd of March', 'march 2'])(
    'finds every request that contains a test or was made on a day: %s',
    async (q) => {
      expect(await found(q)).toEqual(['Agnieszka', 'Cathal']);
    },
  );

  it('finds a request by its order reference and another word', async () => {
    for (const q of [`${firstReference} cathal`, `cathal ${firstReference.toLowerCase()}`])
      expect(await found(q)).toEqual(['Cathal']);
  });

  it.each([
    ['a letter with a stroke', 'lukaszewicz'],
    ['a name with an apostrophe', 'o’brien'],
    ['a name with another apostrophe', "O'Brien"],
    ['a name without its apostrophe', 'obrien'],
    ['a name with an apostrophe that is a letter to Unicode', 'o\u02bcbrien'],
    ['a name without its apostrophe, which is a letter to Unicode', 'ndiaye'],
    ['another name without such an apostrophe', 'kaahumanu'],
    ['the second half of a name with an apostrophe', 'brien'],
    ['a requester', 'penhaligon'],
    ['a requester as the page writes it', 'Penhaligon, Edith (Dr)'],
    ['the code of a requester', 'g8100001'],
    ['a short date of birth in this century', '5/12/04'],
  ])('finds a request by %s', async (_, q) => {
    expect(await found(q)).toEqual(['Agnieszka']);
  });

  it.each([
    ['words of two requests', 'cathal agnieszka'],
    ['the middle of a word', 'uilleabhain'],
    ['a day on which nobody was born', '27/02/1958'],
    ['the beginning of a date of birth without separators', '2802195'],
    ['a test that no request contains', 'ferritin'],
    ['an abbreviation of a test that no request contains', 'ESR'],
    ['a day on which no request was made', '1/3/2026'],
    ['the word “yesterday” without requests on that day', 'yesterday'],
    ['a day that is still to come this year, and so means last year', '3 March'],
    ['a priority that no request has', 'urgent'],
    ['punctuation alone', '!!! ,.- %'],
    ['an operator of a query language', "z' | 'cathal"],
    ['a wildcard of a pattern', '%athal'],
  ])('finds nothing for %s', async (_, q) => {
    expect(await found(q)).toEqual([]);
  });

  it('filters requests by priority, with and without search words', async () => {
    const database = await openOrderingDatabase(application.storage);
    const own = { practice: aPractice() };
    const urgent = await orderFor(application, { request: own });
    const routine = await orderFor(application, { request: own });
    await database
      .updateTable('test_requests')
      .set({ priority: 'urgent' })
      .where('guid', '=', urgent.guid)
      .execute();
    const launch = await openList(application, 'LocationSampleQueue', { request: own });
    const html = await search(launch, '', 'urgent');
    expect(listedIn(html)).toEqual([urgent.guid]);
    expect(html).toContain('nhsuk-tag--red');
    expect(html).toMatch(/value="urgent" selected/);
    expect(listedIn(await search(launch, '', 'routine'))).toEqual([routine.guid]);
    expect(listedIn(await search(launch, 'whitfield', 'urgent'))).toEqual([urgent.guid]);
  });
});

describe('a typing error in a search', () => {
  const day = 86_400;
  /**
   * Creates three requests: for Baker, for Bakes and, 91 days earlier, for another Baker. Returns a function
   * that searches their list.
   */
  async function bakers() {
    const request = { practice: aPractice() };
    const names = new Map<string | undefined, string>();
    const order = async (name: string, family: string, tests?: string[]) => {
      const patient = aPatient({ name: { family, given: ['Beth'] } });
      names.set((await orderFor(application, { request: { ...request, patient } }, tests)).guid, name);
    };
    application.clock.advance({ seconds: -91 * day });
    await order('long ago', 'Baker');
    application.clock.advance({ seconds: 91 * day });
    await order('baker', 'Baker', ['HFER']);
    await order('bakes', 'Bakes');
    const launch = await openList(application, 'LocationReportList', { request });
    return async (q: string) => {
      const html = await search(launch, q);
      const named = (guids: readonly (string | undefined)[]) => guids.map((guid) => names.get(guid));
      return { launch, html, exact: named(listedIn(html)), similar: named(similarIn(html)) };
    };
  }

  it.each(['beker', 'bakre', 'baiker', 'vaker', 'bakrr', "'beker'", 'Beker, Beth', 'beker ferritn'])(
    'leads to requests of the last 90 days with similar words, marked “Similar”: %s',
    async (q) => {
      const { html, exact, similar } = await (await bakers())(q);
      expect([q, exact, similar.includes('baker')]).toEqual([q, [], true]);
      expect(similar).not.toContain('long ago');
      expect(textOf(html)).toContain('Similar spelling, in the last 90 days');
      expect(html.match(/<span class="app-mark">Similar/g)).toHaveLength(similar.length);
    },
  );

  it('is tolerated in a second list below the exact matches, and the audit event counts both lists', async () => {
    const { launch, html, exact, similar } = await (await bakers())('baker');
    expect([exact, similar]).toEqual([['baker', 'long ago'], ['bakes']]);
    expect(textOf(html)).toContain('2 requests match “baker”');
    const read = () =>
      application.published.filter(
        ({ type, correlationid }) => type === 'orders.listed.v1' && correlationid === launch.launchId,
      );
    await until(() => read().length > 0);
    expect(read()[0]?.data).toMatchObject({ orders: 3 });
  });

  it.each(['bekker', 'bker', 'bek', 'backr', 'bb82017', '=aker'])(
    'is not tolerated twice in a word, in a short word, or in a number: %s',
    async (q) => {
      const { exact, similar } = await (await bakers())(q);
      expect([q, exact, similar]).toEqual([q, [], []]);
    },
  );

  it('leads to no request of another practice, and to no request that a filter excludes', async () => {
    const request = { practice: aPractice() };
    const find = await bakers();
    await orderFor(application, { request });
    const other = await openList(application, 'LocationReportList', { request });
    expect(similarIn(await search(other, 'beker'))).toEqual([]);
    const { launch } = await find('beker');
    expect(similarIn(await search(launch, 'beker', 'urgent'))).toEqual([]);
  });

  it('is tolerated in the name of a test in the list of a patient', async () => {
    const request = { practice, patient: cathal };
    const launch = await openList(application, 'PatientReportList', { request });
    const html = await search(launch, 'fulll');
    expect([listedIn(html), similarIn(html)]).toEqual([[], [first]]);
  });
});

describe('an urgent request', () => {
  it('is found by the word “urgent”, alone or with a name', async () => {
    const request = { practice: aPractice() };
    const launch = await chooseAndReview(application, ['HFBC'], aLaunchContext({ request }));
    const [version = ''] = fieldValues(await launch.page('review'), 'version');
    const typed = { version, priority: 'urgent', action: 'submit' };
    await launch.post('review', Object.entries(typed));
    application.clock.advance({ seconds: 60 });
    const routine = await orderFor(application, { request });
    const list = await openList(application, 'LocationReportList', { request });
    const [urgent] = await rowsOf(application, launch);
    for (const q of ['urgent', 'Whitfield URGENT'])
      expect(listedIn(await search(list, q))).toEqual([urgent?.guid]);
    expect(listedIn(await search(list, 'whitfield'))).toEqual([routine.guid, urgent?.guid]);
  });
});

describe('the search words of a list', () => {
  it('appear in no URL, and apply until the user clears them', async () => {
    const launch = await openList(application, 'LocationReportList', { request: { practice } });
    const posted = await post(launch, { q: 'cathal', priority: 'any', action: 'search' });
    expect([posted.status, posted.headers.get('location')]).toEqual([303, `${launch.home}requests#found`]);
    const html = await launch.page('requests');
    expect(textOf(html)).toContain('1 request matches “cathal”');
    expect(html).toContain('value="cathal"');
    await post(launch, { q: 'cathal', action: 'clear' });
    expect(listedIn(await launch.page('requests'))).toEqual([second, first]);
  });

  it('are stored for one launch only', async () => {
    const one = await openList(application, 'LocationReportList', { request: { practice } });
    const other = await openList(application, 'LocationReportList', { request: { practice } });
    await search(one, 'cathal');
    expect(listedIn(await other.page('requests'))).toEqual([second, first]);
    const posted = await post(one, { launch: other.launchId, q: 'cathal', action: 'search' });
    expect(posted.status).toBe(409);
    expect(listedIn(await other.page('requests'))).toEqual([second, first]);
  });

  it('are escaped in the message that no request matches', async () => {
    const launch = await openList(application, 'LocationReportList', { request: { practice } });
    const html = await search(launch, `"><script>\u0000\u0007 ${'x'.repeat(500)}`);
    expect(html).not.toContain('"><script>');
    expect(textOf(html)).toMatch(
      /No requests match “"><script>.*Choose “Clear search” to see all requests again/,
    );
  });

  it('are refused if the form is from another site, is too large, or has an unknown button or priority', async () => {
    const launch = await openList(application, 'LocationReportList', { request: { practice } });
    expect((await post(launch, { q: 'x', action: 'drop' })).status).toBe(400);
    expect((await post(launch, { q: 'x', priority: 'stat', action: 'search' })).status).toBe(400);
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect((await launch.post('requests', [['q', 'x']], foreign)).status).toBe(403);
    const large = await launch.post('requests', [['q', 'x'.repeat(70_000)]]);
    expect(large.status).toBe(413);
  });

  it('never appear in a log line', async () => {
    const launch = await openList(application, 'LocationReportList', { request: { practice } });
    await search(launch, 'Zebediah 9876543229');
    expect(application.lines.join('\n')).not.toMatch(/zebediah|9876543229|súilleabháin/i);
  });

  it('apply to every page of the list', async () => {
    const own = { practice: aPractice() };
    const cathals = aPatient({ name: cathal.name });
    const ofCathal: string[] = [];
    for (let index = 0; index < 28; index += 1) {
      ofCathal.unshift((await orderFor(application, { request: { ...own, patient: cathals } })).guid);
      await orderFor(application, { request: { ...own, patient: aPatient() } });
    }
    const launch = await openList(application, 'LocationReportList', { request: own });
    const html = await search(launch, 'cathal');
    expect(listedIn(html)).toEqual(ofCathal.slice(0, 25));
    const next = await launch.page(pageLink(html, 'next'));
    expect(listedIn(next)).toEqual(ofCathal.slice(25));
    expect(listedIn(await launch.page(pageLink(next, 'prev')))).toEqual(listedIn(html));
  });
});

describe('the search in the list of a patient', () => {
  it('finds a request by test or order reference, and is not offered for a short list', async () => {
    const request = { practice, patient: cathal };
    const launch = await openList(application, 'PatientReportList', { request });
    for (const q of ['full blood', 'hfbc', 'chest x-ray', firstReference]) {
      expect([q, listedIn(await search(launch, q))]).toEqual([q, [first]]);
    }
    expect(listedIn(await search(launch, 'cathal'))).toEqual([]);
    const few = await openList(application, 'PatientReportList', {
      request: { practice, patient: agnieszka },
    });
    expect(await few.page('requests')).not.toContain('type="search"');
  });
});

function post(launch: OpenLaunch, fields: Record<string, string>): Promise<Response> {
  return launch.post('requests', Object.entries({ launch: launch.launchId, ...fields }));
}
