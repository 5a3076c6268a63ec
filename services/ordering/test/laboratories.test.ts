import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readOrderingConfig } from '../src/config.ts';
import { jsonb, openOrderingDatabase } from '../src/store/database.ts';
import { linesOf, openChange, stored, submitChange } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  chipsIn,
  offeredCodes,
  openAction,
  press,
  shownIn,
  startOrdering,
  submit,
  tickedIn,
} from './launches.ts';

const shipped = new URL('../catalogue/catalogue.json', import.meta.url);

/**
 * The catalogue of a southern laboratory, with three tests. One test has its own code. The codes of the other
 * two tests are also in the default catalogue.
 */
const southern = {
  id: 'south',
  performers: [
    { system: 'ods-organization-code', code: 'sth01' },
    { system: 'performing-org', code: 'SOUTH ' },
  ],
  locations: [
    { id: 'STH', name: 'South Laboratory', code: { value: 'STH01', scheme: 'LOCAL' }, category: 'Pathology' },
  ],
  containers: [{ id: 'lilac', name: 'Lilac tube', closure: 'lilac cap', colour: 'purple', drawOrder: 1 }],
  groups: [{ id: 'blood', name: 'Southern blood tests' }],
  orderables: [
    { code: 'SVITD', name: 'Southern vitamin D', group: 'blood', location: 'STH', container: 'lilac' },
    { code: 'HFBC', name: 'Southern full blood count', group: 'blood', location: 'STH', container: 'lilac' },
    {
      code: 'DHBA1C',
      name: 'Southern HbA1c',
      group: 'blood',
      location: 'STH',
      container: 'lilac',
      minimumIntervalDays: 56,
    },
  ],
  orderSets: [{ id: 'southern-set', name: 'Southern set', tests: ['SVITD', 'HFBC'] }],
};

const performerOf = (
  value: string,
  system: LaunchRequest['performer']['identifier']['system'] = 'performing-org',
): LaunchRequest['performer'] => ({ identifier: { system, value }, name: 'Some Laboratory' });
const south = performerOf('SOUTH');
const north = performerOf('RCB00');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalogues-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Returns the configuration for a new folder with these catalogue files, and with the default catalogue
 * unless `hasDefault` is false.
 */
function configWith(files: Readonly<Record<string, unknown>>, { hasDefault = true } = {}) {
  const of = mkdtempSync(join(folder, 'of-'));
  if (hasDefault) cpSync(shipped, join(of, 'default.json'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(of, name), JSON.stringify(content));
  return readOrderingConfig({ PUBLIC_URL: 'https://launch.example.org', CATALOGUE_FILE: of });
}

const startWith = (...options: Parameters<typeof configWith>) =>
  startOrdering(undefined, configWith(...options).catalogues);

const contextOf = (performer: LaunchRequest['performer'], request: Partial<LaunchRequest> = {}) =>
  aLaunchContext({ request: { performer, patient: aPatient(), ...request } });

describe('two laboratories of one practice', () => {
  let application: Application;
  beforeAll(async () => {
    application = await startWith({ 'south.json': southern, 'notes.txt': 'no catalogue' });
  });
  afterAll(() => application.stop());
  const open = (performer: LaunchRequest['performer'], request?: Partial<LaunchRequest>) =>
    application.openLaunch(contextOf(performer, request));

  it.each([
    ['by its own code', south],
    ['by its ODS code in another case', performerOf('STH01', 'ods-organization-code')],
  ])(
    'have separate tests: a launch offers only the tests of the laboratory that it names %s',
    async (_how, performer) => {
      const launch = await open(performer);
      const html = await launch.page();
      expect(shownIn(html)).toEqual(['SVITD', 'HFBC', 'DHBA1C']);
      expect(html).toContain('Southern full blood count');
      expect(html).toContain('Southern set');
      const { codes } = (await (await launch.post('matches', [['q', 'southern']])).json()) as {
        codes: string[];
      };
      expect(codes).toEqual(['SVITD', 'HFBC', 'DHBA1C']);
    },
  );

  it.each([
    ['a performer that no catalogue names', north],
    ['the code of another code set', performerOf('SOUTH', 'local-org-code')],
    ['a local code in another case', performerOf('south')],
  ])(
    'do not replace the default catalogue, which a launch offers if it names %s',
    async (_what, performer) => {
      const launch = await open(performer);
      expect(shownIn(await launch.page())).toEqual(offeredCodes(application.catalogue));
      const { codes } = (await (await launch.post('matches', [['q', 'southern']])).json()) as {
        codes: string[];
      };
      expect(codes).toEqual([]);
    },
  );

  it('receive orders only for their own tests, and only from launches that name them', async () => {
    const launch = await open(south);
    await press(launch, 'update', { tick: ['BUE', 'SVITD'] });
    expect(tickedIn(await launch.page())).toEqual(['SVITD']);
    for (const action of ['favourite:BUE', 'add-set:pre-op']) {
      expect((await launch.post('', [['action', action]])).status).toBe(400);
    }
    await press(launch, 'add-set:southern-set');
    await press(launch, 'review');
    const [, guid = ''] = /orders\/(.*)$/.exec((await submit(launch)).headers.get('location') ?? '') ?? [];
    const request = await stored(application, guid);
    expect(linesOf(request)).toEqual([['SVITD S1 R', 'HFBC S1 R']]);
    expect(request.batches[0]?.provider.name).toBe('South Laboratory');
    for (const page of [`orders/${guid}`, `requests/${guid}`]) {
      expect(await launch.page(page)).toContain('app-tube--purple');
    }
    expect((await launch.send(`requests/${guid}/form`)).status).toBe(200);

    const other = await open(north);
    await press(other, 'update', { tick: ['SVITD'] });
    expect(tickedIn(await other.page())).toEqual([]);
  });

  it('keep their stored requests: a change uses the laboratory of the request, even if the launch names the other laboratory', async () => {
    const ordered = await anOrder(application, ['SVITD'], contextOf(south));
    const { request } = ordered.context;
    const change = await openChange(application, {
      ...ordered,
      context: { ...ordered.context, request: { ...request, performer: north } },
    });
    expect(shownIn(await change.page(change.at))).toEqual(['SVITD', 'HFBC', 'DHBA1C']);
    await press(change, 'review', { tick: ['HFBC', 'BUE'], at: change.at });
    expect((await submitChange(change)).status).toBe(303);
    const changed = await stored(application, ordered.guid);
    expect(linesOf(changed)).toEqual([['SVITD S1 R', 'HFBC S1 R']]);
    expect(changed.parties.performer).toEqual(south);
    const samples = await openAction(application, 'PatientSampleQueue', {
      ...ordered,
      context: { ...ordered.context, request: { ...request, performer: north } },
    });
    expect(await samples.page(`requests/${ordered.guid}/samples`)).toContain('app-tube--purple');
  });

  it('have separate favourites and order sets of the same practice', async () => {
    const { author } = aLaunchContext().request;
    const [here, there] = [await open(south, { author }), await open(north, { author })];
    const setNamed = async (launch: typeof here, name: string) => {
      await press(launch, 'update', { tick: ['HFBC'] });
      await launch.post('', [
        ['set-name', name],
        ['action', 'save-set'],
      ]);
    };
    await press(here, 'add-practice-favourites', { tick: ['HFBC'] });
    await press(here, 'favourite:SVITD');
    await setNamed(here, 'Set of the south');
    expect(await (await open(south)).page()).toContain('Set of the south');
    expect(await there.page()).not.toContain('Set of the south');
    expect(await there.page()).not.toMatch(/data-chips="(yours|practice)"/);
    await setNamed(there, 'Set of the north');
    await press(there, 'remove-practice-favourite:HFBC');
    await press(there, 'unfavourite:SVITD');
    const html = await (await open(south, { author })).page();
    expect([...chipsIn(html, 'yours'), ...chipsIn(html, 'practice')]).toEqual(['SVITD', 'HFBC']);
    expect(html).not.toContain('Set of the north');
  });

  it('cause a warning of a repeat if both have a test with the same code', async () => {
    const patient = aPatient();
    await anOrder(application, ['DHBA1C'], contextOf(north, { patient }));
    const launch = await open(south, { patient });
    await press(launch, 'update', { tick: ['DHBA1C', 'SVITD'] });
    expect(await launch.page()).toContain('Southern HbA1c was requested on');
  });
});

describe('a laboratory without a catalogue', () => {
  let application: Application;
  beforeAll(async () => {
    application = await startWith({ 'south.json': southern }, { hasDefault: false });
  });
  afterAll(() => application.stop());

  it('receives no orders if there is no default catalogue: the launch is answered 404', async () => {
    const launch = await application.openLaunch(contextOf(north));
    for (const response of [await launch.send(''), await launch.post('', [['test', 'SVITD']])]) {
      expect(response.status).toBe(404);
      expect(await response.text()).toContain('You cannot request tests from this laboratory here');
    }
    expect((await (await application.openLaunch(contextOf(south))).send('')).status).toBe(200);
  });

  it('does not prevent users from reading its requests and removing tests from them', async () => {
    const ordered = await anOrder(application, ['SVITD', 'HFBC'], contextOf(south));
    await movePerformer(application, ordered.guid, north);
    const report = await openAction(application, 'PatientReport', ordered);
    expect(await report.page(`requests/${ordered.guid}`)).toContain('Southern full blood count');
    for (const page of ['form', 'labels']) {
      expect((await report.send(`requests/${ordered.guid}/${page}`)).status).toBe(200);
    }
    const change = await openChange(application, ordered);
    expect(shownIn(await change.page(change.at))).toEqual([]);
    expect(await change.page(change.at)).toContain('No longer in the catalogue');
    await change.post(`${change.at}review`, [['action', 'remove:HFBC']]);
    expect((await submitChange(change)).status).toBe(303);
    expect(linesOf(await stored(application, ordered.guid))).toEqual([['SVITD S1 R', 'HFBC S1 D']]);
  });
});

/** Assigns a stored request to another laboratory. */
async function movePerformer(
  application: Application,
  guid: string,
  performer: LaunchRequest['performer'],
): Promise<void> {
  const database = await openOrderingDatabase(application.storage);
  const { parties } = await stored(application, guid);
  await database
    .updateTable('test_requests')
    .set({ parties: jsonb({ ...parties, performer }) })
    .where('guid', '=', guid)
    .execute();
}

describe('the catalogue files at startup', () => {
  const other = { ...southern, id: 'other', performers: [{ system: 'local-org-code', code: '9' }] };
  const { performers: _, id: __, ...another } = southern;

  it.each<[string, Record<string, unknown>, string]>([
    [
      'one id in two files',
      { 'a.json': southern, 'b.json': { ...other, id: 'south' } },
      'id south is in two catalogues',
    ],
    [
      'one performer in two files',
      {
        'a.json': southern,
        'b.json': { ...other, performers: [{ system: 'ods-organization-code', code: 'STH01' }] },
      },
      'performers: ods-organization-code STH01 is in two catalogues',
    ],
    [
      'two default catalogues',
      { 'a.json': another },
      'performers must be present in all catalogues except one',
    ],
    [
      'performers without an id',
      { 'a.json': { ...other, id: undefined } },
      'a.json: The catalogue is invalid:\n  id must be present',
    ],
    ['an id without performers', { 'a.json': { ...another, id: 'x' } }, 'id must be present with performers'],
    [
      'a performer of another code set',
      { 'a.json': { ...other, performers: [{ system: 'urn:x', code: '9' }] } },
      'performers[0].system must be one of',
    ],
  ])('are refused for %s', (_what, files, said) => {
    expect(() => configWith(files)).toThrow(said);
  });

  it('are refused if the folder is empty or a file is not JSON; the message names CATALOGUE_FILE', () => {
    expect(() => configWith({}, { hasDefault: false })).toThrow('CATALOGUE_FILE The catalogue is invalid');
    const of = mkdtempSync(join(folder, 'of-'));
    writeFileSync(join(of, 'broken.json'), '{');
    expect(() =>
      readOrderingConfig({ PUBLIC_URL: 'https://launch.example.org', CATALOGUE_FILE: of }),
    ).toThrow('CATALOGUE_FILE broken.json: cannot be read as JSON');
  });
});
