import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { maxFavourites, maxPracticeSets } from '../src/domain/practice-choices.ts';
import { openOrderingDatabase } from '../src/store/database.ts';
import { practiceKeyOf, userKeyOf } from '../src/store/keys.ts';
import {
  type Application,
  aLaunchContext,
  aPatient,
  chipsIn,
  type OpenLaunch,
  offeredCodes,
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

/** A practice that only the current test uses. */
let practice: ReturnType<typeof practiceOf>;
beforeEach(() => {
  practice = practiceOf(randomUUID());
});

/** Returns the context of a launch by the same user for a new patient. */
const contextOf = (of = practice) =>
  aLaunchContext({ request: { practice: of, author: by, patient: aPatient() } });

const open = (of = practice) => application.openLaunch(contextOf(of));

/** Returns the codes of the tests that a page shows in a group of the catalogue, in their order. */
const groupOf = (html: string, id: string) =>
  [...(html.split(`id="group-${id}"`)[1]?.split('</fieldset>')[0] ?? '').matchAll(/ id=test-(\w+)/g)].map(
    ([, code]) => code,
  );

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

describe('the favourites of a user', () => {
  it('are shown above the search in the order in which they were added, in this and in later launches', async () => {
    const launch = await open();
    expect(await launch.page()).not.toMatch(/data-chips="(yours|practice)"/);
    const starred = await press(launch, 'favourite:XCXR', { tick: ['BUE'] });
    expect(starred.headers.get('location')).toBe(`${launch.home}#test-XCXR`);
    application.clock.advance({ seconds: 1 });
    await press(launch, 'favourite:HFBC');
    for (const html of [await launch.page(), await (await open()).page()]) {
      expect(chipsIn(html, 'yours')).toEqual(['XCXR', 'HFBC']);
      expect(html.indexOf('data-chip=')).toBeLessThan(html.indexOf('id="search"'));
      expect(html).toContain('aria-label="FBC: Full blood count"');
      expect(html).toContain('value=unfavourite:HFBC aria-label="Remove favourite: Full blood count"');
    }
    expect(tickedIn(await launch.page())).toEqual(['BUE']);
  });

  it('are still shown in their group of the catalogue', async () => {
    const launch = await open();
    const before = groupOf(await launch.page(), 'haematology');
    await press(launch, 'favourite:HFBC');
    const html = await launch.page();
    expect(groupOf(html, 'haematology')).toEqual(before);
    expect(html.match(/id=test-HFBC /g)).toHaveLength(1);
  });

  it('are chosen when the user presses their chip, and removed from the choice at the next press', async () => {
    const launch = await open();
    await press(launch, 'favourite:HFBC');
    expect(await launch.page()).toContain('value="add:HFBC" data-chip="HFBC" aria-pressed="false"');
    await press(launch, 'add:HFBC', { tick: ['BUE'] });
    const html = await launch.page();
    expect(tickedIn(html)).toEqual(['HFBC', 'BUE']);
    expect(html).toContain('value="remove:HFBC" data-chip="HFBC" aria-pressed="true"');
    await press(launch, 'remove:HFBC');
    expect(tickedIn(await launch.page())).toEqual(['BUE']);
    expect((await launch.post('', [['action', 'add:NONE']])).status).toBe(400);
  });

  it('are shown only for patients to whom the tests apply', async () => {
    const launch = await open();
    for (const code of ['MPSA', 'HFBC']) await press(launch, `favourite:${code}`);
    expect(chipsIn(await launch.page(), 'yours')).toEqual(['HFBC']);
    const request = { practice, author: by, patient: aPatient({ gender: 'male' }) };
    const man = await application.openLaunch(aLaunchContext({ request }));
    expect(chipsIn(await man.page(), 'yours')).toEqual(['HFBC', 'MPSA']);
  });

  it('fill one line, and a button shows the favourites that do not fit on the line', async () => {
    const launch = await open();
    const codes = offeredCodes(application.catalogue).slice(0, 20);
    for (const code of codes) {
      await press(launch, `favourite:${code}`);
      application.clock.advance({ seconds: 1 });
    }
    const [line = '', more = ''] = (await launch.page()).split('app-shortcuts__more');
    const onLine = chipsIn(line, 'yours');
    expect([...onLine, ...chipsIn(more, 'yours')]).toEqual(codes);
    const names = onLine.map((code) => application.catalogue.orderables.get(code));
    const written = names.map((test) => test?.abbreviation ?? test?.name ?? '');
    expect(written.join('').length).toBeGreaterThan(60);
    expect(written.join('').length).toBeLessThan(105);
  });

  it('are removed when the user presses the star, and removing them again changes nothing', async () => {
    const launch = await open();
    await press(launch, 'favourite:HFBC');
    for (const _time of [1, 2]) await press(launch, 'unfavourite:HFBC');
    expect(await launch.page()).not.toMatch(/data-chips="(yours|practice)"/);
  });

  it('can be changed by the script of the page, which receives the new list of favourites', async () => {
    const launch = await open();
    const answer = await launch.post('chosen', [['action', 'favourite:HFBC']]);
    expect(chipsIn(await answer.text(), 'yours')).toEqual(['HFBC']);
    expect(chipsIn(await launch.page(), 'yours')).toEqual(['HFBC']);
    expect(await (await launch.post('chosen', [['action', 'update']])).text()).not.toMatch(
      /data-chips="(yours|practice)"/,
    );
  });

  it('never include favourites of a colleague, or of a user with the same user name in another practice or client', async () => {
    const mine = await open();
    await press(mine, 'favourite:HFBC');
    const { request } = mine.context;
    const others = [
      aLaunchContext({ request: { ...request, author: { ...by, username: 'another' } } }),
      aLaunchContext({ request: { ...request, practice: practiceOf(randomUUID()) } }),
      aLaunchContext({ request, client: { clientId: 'pms-other' } }),
      aLaunchContext({ request, client: { issuer: 'https://other.example.org' } }),
    ];
    for (const context of others) {
      const launch = await application.openLaunch(context);
      expect(await launch.page()).not.toMatch(/data-chips="(yours|practice)"/);
      await press(launch, 'unfavourite:HFBC');
    }
    expect(chipsIn(await mine.page(), 'yours')).toEqual(['HFBC']);
  });

  it('accept only tests of the catalogue, and tests that have left it are not shown', async () => {
    const launch = await open();
    for (const action of ['favourite:NONE', 'favourite:', 'favourite:<b>']) {
      expect((await launch.post('', [['action', action]])).status).toBe(400);
    }
    await press(launch, 'favourite:HFBC');
    const userKey = userKeyOf(launch.context.request, launch.context.client, undefined);
    expect(await choices.addPersonalFavourite({ userKey, code: 'OLD' })).toBe('added');
    expect(chipsIn(await launch.page(), 'yours')).toEqual(['HFBC']);
  });

  it('are limited to 100, even if several are added at the same time', async () => {
    const userKey = randomUUID();
    const codes = Array.from({ length: maxFavourites + 5 }, (_, index) => `T${index}`);
    const done = await Promise.all(codes.map((code) => choices.addPersonalFavourite({ userKey, code })));
    expect(done.filter((each) => each === 'full')).toHaveLength(5);
    expect(await choices.personalOf(userKey)).toHaveLength(maxFavourites);
  });
});

describe('the favourites of a practice', () => {
  it('are shown to every user of the practice after the user’s own favourites, without duplicates', async () => {
    const launch = await open();
    await press(launch, 'add-practice-favourites', { tick: ['HFBC', 'BUE'] });
    expect(await launch.page()).toContain('The chosen tests are now practice favourites.');
    await press(launch, 'favourite:BUE');
    expect(chipsIn(await launch.page(), 'yours')).toEqual(['BUE']);
    expect(chipsIn(await launch.page(), 'practice')).toEqual(['HFBC']);
    const author = { ...by, username: 'another' };
    const other = await application.openLaunch(aLaunchContext({ request: { practice, author } }));
    expect(chipsIn(await other.page(), 'practice')).toEqual(['BUE', 'HFBC']);
  });

  it('include tests that an earlier release stored for the practice when a user pressed the star', async () => {
    const launch = await open();
    const practiceKey = practiceKeyOf(practice, launch.context.client);
    await choices.addFavourite({ practiceKey, code: 'HFBC', by });
    expect(chipsIn(await launch.page(), 'practice')).toEqual(['HFBC']);
    expect(await launch.page()).toContain(
      'value=favourite:HFBC aria-label="Add favourite: Full blood count"',
    );
  });

  it('are removed one by one, for every user of the practice', async () => {
    const launch = await open();
    await press(launch, 'add-practice-favourites', { tick: ['HFBC', 'BUE'] });
    for (const _time of [1, 2]) await press(await open(), 'remove-practice-favourite:HFBC');
    expect(chipsIn(await launch.page(), 'practice')).toEqual(['BUE']);
  });

  it('cannot be added while no test is chosen', async () => {
    const launch = await open();
    await press(launch, 'add-practice-favourites');
    expect(await launch.page()).toContain('Choose tests before you add them to the practice favourites.');
  });

  it('never include favourites of another practice', async () => {
    const [here, there] = [await open(), await open(practiceOf(randomUUID()))];
    await press(here, 'add-practice-favourites', { tick: ['HFBC'] });
    expect(await there.page()).not.toMatch(/data-chips="(yours|practice)"/);
    await press(there, 'remove-practice-favourite:HFBC');
    expect(chipsIn(await here.page(), 'practice')).toEqual(['HFBC']);
  });

  it('are limited to 100, even if several are added at the same time', async () => {
    const practiceKey = randomUUID();
    const codes = Array.from({ length: maxFavourites + 5 }, (_, index) => `T${index}`);
    const done = await Promise.all(codes.map((code) => choices.addFavourite({ practiceKey, code, by })));
    expect(done.filter((each) => each === 'full')).toHaveLength(5);
    expect((await choices.of(practiceKey)).favourites).toHaveLength(maxFavourites);
  });
});

describe('the order sets of a practice', () => {
  it('contain the chosen tests, and are stored with their author and date', async () => {
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
    expect([row.added_by, row.added_at.getTime()]).toEqual([
      launch.context.request.author,
      application.clock.now(),
    ]);
  });

  it('have names that are shortened to 60 characters without splitting a surrogate pair', async () => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFBC'] });
    for (const _time of [1, 2]) expect((await saveSet(launch, `${'n'.repeat(59)}😀`)).status).toBe(303);
    const html = await launch.page();
    expect(ownSetsIn(html).map(({ name }) => name)).toEqual(['n'.repeat(59)]);
    expect(html).toContain('This practice already has an order set with this name');
  });

  it('contain a panel as one test, not as the tests of the panel', async () => {
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
    ['without tests', [], 'Empty', 'Choose tests before you save the order set'],
    ['under an existing name', ['HFBC'], 'ours', 'This practice already has an order set with this name'],
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

  it('are deleted for every user, and a user with an outdated page sees a message', async () => {
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

  it('cannot be seen, deleted or added by another practice', async () => {
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

  it('never include order sets of a practice with the same local code at another client', async () => {
    const request = {
      practice: { ...practice, identifier: { system: 'local-org-code', value: '0042' } },
    } as const;
    const [here, there] = [
      await application.openLaunch(aLaunchContext({ request })),
      await application.openLaunch(aLaunchContext({ request, client: { clientId: 'pms-other' } })),
    ];
    await press(here, 'add-practice-favourites', { tick: ['HFBC'] });
    await saveSet(here, 'Ours');
    const html = await there.page();
    expect(html).not.toMatch(/data-chips="(yours|practice)"/);
    expect(ownSetsIn(html)).toEqual([]);
    await press(there, 'remove-practice-favourite:HFBC');
    await press(there, `delete-set:${ownSetsIn(await here.page())[0]?.id}`);
    expect(chipsIn(await here.page(), 'practice')).toEqual(['HFBC']);
    expect(ownSetsIn(await here.page()).map(({ name }) => name)).toEqual(['Ours']);
  });

  it('have escaped names on the page', async () => {
    const launch = await open();
    await press(launch, 'update', { tick: ['HFBC'] });
    await saveSet(launch, '<b onclick="x">\u0000 & "set"');
    const html = await launch.page();
    expect(html).not.toContain('<b onclick');
    expect(html).toContain('&lt;b onclick=&quot;x&quot;&gt; &amp; &quot;set&quot;');
  });

  it('are added without tests that have left the catalogue', async () => {
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

  it('are limited to 50, even if several are saved at the same time', async () => {
    const practiceKey = randomUUID();
    const names = Array.from({ length: maxPracticeSets + 3 }, (_, index) => `Set ${index}`);
    const done = await Promise.all(
      names.map((name) => choices.saveSet({ practiceKey, name, tests: ['HFBC'], by })),
    );
    expect(done.filter((each) => each === 'full')).toHaveLength(3);
    expect((await choices.of(practiceKey)).sets).toHaveLength(maxPracticeSets);
  });
});

describe('the favourites and order sets of a practice', () => {
  const buttons = async () => {
    const editor = await open();
    await press(editor, 'add-practice-favourites', { tick: ['HFBC'] });
    await saveSet(editor, 'Ours');
    const [set] = ownSetsIn(await editor.page());
    return ['save-set', `delete-set:${set?.id}`, 'add-practice-favourites', 'remove-practice-favourite:HFBC'];
  };
  const openAs = (isPracticeEditor: boolean) =>
    application.openLaunch(aLaunchContext({ request: { practice }, isPracticeEditor }));

  it('cannot be changed by users who are not editors: they see no buttons, and their forms are answered 403', async () => {
    const actions = await buttons();
    const launch = await openAs(false);
    const html = await launch.page();
    for (const action of actions) {
      expect(html).not.toContain(`value="${action}"`);
      for (const path of ['', 'chosen']) {
        const refused = await launch.post(path, [
          ['test', 'BUE'],
          ['set-name', 'Mine'],
          ['action', action],
        ]);
        expect(refused.status).toBe(403);
        expect(await refused.text()).toContain(refused.headers.get('x-correlation-id') ?? 'no reference');
      }
    }
    expect(chipsIn(await launch.page(), 'practice')).toEqual(['HFBC']);
    expect(ownSetsIn(await launch.page()).map(({ name }) => name)).toEqual(['Ours']);
    expect(tickedIn(await launch.page())).toEqual([]);
    await press(launch, 'favourite:BUE');
    await press(launch, `add-set:${ownSetsIn(html)[0]?.id}`);
    expect(chipsIn(await launch.page(), 'yours')).toEqual(['BUE']);
    expect(tickedIn(await launch.page())).toEqual(['HFBC']);
  });

  it('can be changed by an editor of the practice', async () => {
    const actions = await buttons();
    const launch = await openAs(true);
    for (const action of actions) expect(await launch.page()).toContain(`value="${action}"`);
    await press(launch, actions.at(-1) ?? '');
    expect(chipsIn(await launch.page(), 'practice')).toEqual([]);
  });
});
