import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { maxFavourites, maxPracticeSets } from '../src/domain/practice-choices.ts';
import { openOrderingDatabase } from '../src/store/database.ts';
import {
  type Application,
  aLaunchContext,
  type OpenLaunch,
  press,
  startOrdering,
  tickedIn,
} from './launches.ts';
import { practiceChoicesIn } from './stored-choices.ts';

let application: Application;
let choices: ReturnType<typeof practiceChoicesIn>;
beforeAll(async () => {
  application = await startOrdering();
  choices = practiceChoicesIn(await openOrderingDatabase(application.storage));
});
afterAll(() => application.stop());

const practiceOf = (value: string) => ({
  identifier: { system: 'ods-organization-code' as const, value },
  name: 'Some Surgery',
});
const by = aLaunchContext().request.author;

/** A practice that no other test knows. */
let practice: ReturnType<typeof practiceOf>;
beforeEach(() => {
  practice = practiceOf(randomUUID());
});

const open = (of = practice) => application.openLaunch(aLaunchContext({ request: { practice: of } }));

/** Returns the codes of a section of the page, in order. */
const sectionOf = (html: string, id: string) =>
  [
    ...(html.split(`id="group-${id}"`)[1]?.split('</fieldset>')[0] ?? '').matchAll(/data-test="([^"]*)"/g),
  ].map(([, code]) => code);

const setsIn = (html: string) =>
  [...html.matchAll(/value="add-set:([^"]*)"[^]*?Add <\/span>([^<]*)/g)].map(([, id = '', name = '']) => ({
    id,
    name,
  }));

const ownSetsIn = (html: string) => setsIn(html).filter(({ id }) => !application.catalogue.orderSets.has(id));

async function saveSet(launch: OpenLaunch, name: string): Promise<Response> {
  return launch.post('', [
    ['set-name', name],
    ['action', 'save-set'],
  ]);
}

describe('the favourites of a practice', () => {
  it('stand first on the page, each test once, and are kept for its next launch', async () => {
    const launch = await open();
    expect(await launch.page()).not.toContain('id="group-favourites"');
    const starred = await press(launch, 'favourite:XCXR', { tick: ['BUE'] });
    expect(starred.headers.get('location')).toBe(`${launch.home}#group-favourites`);
    await press(launch, 'favourite:HFBC');
    for (const html of [await launch.page(), await (await open()).page()]) {
      expect(sectionOf(html, 'favourites')).toEqual(['HFBC', 'XCXR']);
      expect(html.indexOf('id="group-favourites"')).toBeLessThan(html.indexOf('id="group-haematology"'));
      expect(sectionOf(html, 'haematology')).not.toContain('HFBC');
      expect(html).toContain('Among the favourites: Full blood count');
      expect(html.match(/id="test-HFBC"/g)).toHaveLength(1);
      expect(html).toContain('value="unfavourite:HFBC" aria-pressed="true"');
    }
    expect(tickedIn(await launch.page())).toEqual(['BUE']);
  });

  it('are chosen, searched and blocked like every other test', async () => {
    const launch = await open();
    await press(launch, 'favourite:HFER');
    await press(launch, 'search', { tick: ['HFER'], q: 'ferritin' });
    const html = await launch.page();
    expect(sectionOf(html, 'matches')).toEqual(['HFER', 'HHAEM']);
    expect(tickedIn(html)).toEqual(['HFER']);
    await press(launch, 'update', { tick: ['HHAEM'] });
    expect(await launch.page()).toMatch(/id="test-HFER"[^>]* disabled/);
  });

  it('go back to their group', async () => {
    const launch = await open();
    await press(launch, 'favourite:HFBC');
    await press(launch, 'unfavourite:HFBC');
    await press(launch, 'unfavourite:HFBC');
    const html = await launch.page();
    expect(html).not.toContain('id="group-favourites"');
    expect(sectionOf(html, 'haematology')[0]).toBe('HFBC');
  });

  it('are changed from the panel too, for scripts', async () => {
    const launch = await open();
    expect((await launch.post('chosen', [['action', 'favourite:HFBC']])).status).toBe(200);
    expect(sectionOf(await launch.page(), 'favourites')).toEqual(['HFBC']);
  });

  it('are tests of the catalogue: another code is refused, one that it lost is skipped', async () => {
    const launch = await open();
    for (const action of ['favourite:NONE', 'favourite:', 'favourite:<b>']) {
      expect((await launch.post('', [['action', action]])).status).toBe(400);
    }
    await press(launch, 'favourite:HFBC');
    const database = await openOrderingDatabase(application.storage);
    const kept = await database
      .selectFrom('favourites')
      .selectAll()
      .where('code', '=', 'HFBC')
      .orderBy('added_at', 'desc')
      .execute();
    const practiceKey = kept.find(({ added_by }) => added_by.username === by.username)?.practice_key ?? '';
    expect(await choices.addFavourite({ practiceKey, code: 'OLD', by })).toBe('added');
    expect((await launch.send('')).status).toBe(200);
  });

  it('never are another practice’s', async () => {
    const [here, there] = [await open(), await open(practiceOf(randomUUID()))];
    await press(here, 'favourite:HFBC');
    expect(await there.page()).not.toContain('id="group-favourites"');
    await press(there, 'unfavourite:HFBC');
    expect(sectionOf(await here.page(), 'favourites')).toEqual(['HFBC']);
  });

  it('end at a hundred, also when they come at once', async () => {
    const practiceKey = randomUUID();
    const codes = Array.from({ length: maxFavourites + 5 }, (_, index) => `T${index}`);
    const done = await Promise.all(codes.map((code) => choices.addFavourite({ practiceKey, code, by })));
    expect(done.filter((each) => each === 'full')).toHaveLength(5);
    expect((await choices.of(practiceKey)).favourites).toHaveLength(maxFavourites);
  });
});

describe('the order sets of a practice', () => {
  it('are saved from what is chosen, added like the others, and kept with who and when', async () => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFBC', 'XCXR'] });
    expect((await saveSet(launch, '  New   patient ')).headers.get('location')).toBe(launch.home);
    expect(await launch.page()).toContain('“New patient” has been saved');
    const next = await open();
    const [set] = ownSetsIn(await next.page());
    expect(set?.name).toBe('New patient');
    await press(next, `add-set:${set?.id}`);
    expect(tickedIn(await next.page())).toEqual(['HFBC', 'XCXR']);
    expect(await next.page()).toContain('Order set added');
    const database = await openOrderingDatabase(application.storage);
    const row = await database
      .selectFrom('practice_sets')
      .selectAll()
      .where('id', '=', set?.id ?? '')
      .executeTakeFirstOrThrow();
    expect([row.added_by, row.added_at.getTime()]).toEqual([by, application.clock.now()]);
  });

  it('have a name that ends before a character that does not fit', async () => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFBC'] });
    for (const _time of [1, 2]) expect((await saveSet(launch, `${'n'.repeat(59)}😀`)).status).toBe(303);
    const html = await launch.page();
    expect(ownSetsIn(html).map(({ name }) => name)).toEqual(['n'.repeat(59)]);
    expect(html).toContain('This practice already has an order set with this name');
  });

  it('keep the panel, not the tests that it contains', async () => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFER', 'HHAEM', 'HFBC'] });
    await saveSet(launch, 'Anaemia');
    const other = await open();
    await press(other, 'update', { tick: ['HB12'] });
    await press(other, `add-set:${ownSetsIn(await other.page())[0]?.id}`);
    const html = await other.page();
    expect(tickedIn(html)).toEqual(['HFBC', 'HHAEM']);
    expect(html).toContain('Vitamin B12 removed: already in Haematinics profile.');
  });

  it.each([
    ['without a name', ['HFBC'], ' ', 'Enter a name for the order set'],
    ['of nothing', [], 'Empty', 'Choose tests before you save the order set'],
    ['under a name that is there', ['HFBC'], 'ours', 'This practice already has an order set with this name'],
  ])('are not saved %s', async (_case, tick: string[], name, said) => {
    const launch = await open();
    await press(launch, 'update', { tick: ['BUE'] });
    await saveSet(launch, 'Ours');
    await press(launch, 'update', { untick: ['BUE'], tick });
    await saveSet(launch, name);
    const html = await launch.page();
    expect(html).toContain(said);
    expect(html).toContain('<title>Error: Choose tests');
    expect(ownSetsIn(html)).toHaveLength(1);
  });

  it('are deleted, once for everyone; who has the old page is told', async () => {
    const [launch, other] = [await open(), await open()];
    await press(launch, 'update', { tick: ['HFBC'] });
    await saveSet(launch, 'Ours');
    const [set] = ownSetsIn(await other.page());
    await press(launch, `delete-set:${set?.id}`);
    expect(await launch.page()).toContain('“Ours” has been deleted');
    expect(ownSetsIn(await launch.page())).toEqual([]);
    expect((await other.post('', [['action', `add-set:${set?.id}`]])).status).toBe(303);
    expect(await other.page()).toContain('Someone else deleted this order set');
    expect((await other.post('', [['action', `delete-set:${set?.id}`]])).status).toBe(303);
    expect((await other.post('', [['action', 'delete-set:pre-op']])).status).toBe(303);
    expect(setsIn(await other.page()).map(({ id }) => id)).toContain('pre-op');
  });

  it('never are another practice’s, nor deleted or added by it', async () => {
    const [here, there] = [await open(), await open(practiceOf(randomUUID()))];
    await press(here, 'update', { tick: ['HFBC'] });
    await saveSet(here, 'Ours');
    const [set] = ownSetsIn(await here.page());
    expect(ownSetsIn(await there.page())).toEqual([]);
    await press(there, `add-set:${set?.id}`);
    await press(there, `delete-set:${set?.id}`);
    expect(tickedIn(await there.page())).toEqual([]);
    expect(ownSetsIn(await here.page())).toHaveLength(1);
    expect(ownSetsIn(await there.page())).toEqual([]);
  });

  it('never are those of a practice that another client knows by the same local code', async () => {
    const request = {
      practice: { ...practice, identifier: { system: 'local-org-code', value: '0042' } },
    } as const;
    const [here, there] = [
      await application.openLaunch(aLaunchContext({ request })),
      await application.openLaunch(aLaunchContext({ request, client: { clientId: 'pms-other' } })),
    ];
    await press(here, 'favourite:HFBC');
    await press(here, 'update', { tick: ['HFBC'] });
    await saveSet(here, 'Ours');
    const html = await there.page();
    expect(html).not.toContain('id="group-favourites"');
    expect(ownSetsIn(html)).toEqual([]);
    await press(there, 'unfavourite:HFBC');
    await press(there, `delete-set:${ownSetsIn(await here.page())[0]?.id}`);
    expect(sectionOf(await here.page(), 'favourites')).toEqual(['HFBC']);
    expect(ownSetsIn(await here.page()).map(({ name }) => name)).toEqual(['Ours']);
  });

  it('show names as text, whatever they are', async () => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFBC'] });
    await saveSet(launch, '<b onclick="x">\u0000 & "set"');
    const html = await launch.page();
    expect(html).not.toContain('<b onclick');
    expect(html).toContain('&lt;b onclick=&quot;x&quot;&gt; &amp; &quot;set&quot;');
  });

  it('skip tests that the catalogue no longer has', async () => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFBC'] });
    await saveSet(launch, 'Ours');
    const database = await openOrderingDatabase(application.storage);
    const [set] = ownSetsIn(await launch.page());
    await database
      .updateTable('practice_sets')
      .set({ tests: ['OLD', 'BUE'] })
      .where('id', '=', set?.id ?? '')
      .execute();
    await press(launch, `add-set:${set?.id}`);
    expect(tickedIn(await launch.page())).toEqual(['HFBC', 'BUE']);
  });

  it('end at fifty, also when they come at once', async () => {
    const practiceKey = randomUUID();
    const names = Array.from({ length: maxPracticeSets + 3 }, (_, index) => `Set ${index}`);
    const done = await Promise.all(
      names.map((name) => choices.saveSet({ practiceKey, name, tests: ['HFBC'], by })),
    );
    expect(done.filter((each) => each === 'full')).toHaveLength(3);
    expect((await choices.of(practiceKey)).sets).toHaveLength(maxPracticeSets);
  });
});
