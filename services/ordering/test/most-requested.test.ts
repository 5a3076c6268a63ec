import { randomUUID } from 'node:crypto';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readCatalogue } from '../src/catalogue-file.ts';
import { createCatalogues } from '../src/domain/catalogues.ts';
import { openChange, submitChange } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  chipsIn,
  press,
  startOrdering,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  const catalogue = { ...readCatalogue(), common: [] };
  application = await startOrdering(openTestStorage, createCatalogues([catalogue]));
});
afterAll(() => application.stop());

type Request = NonNullable<Parameters<typeof aLaunchContext>[0]>['request'];

const aPractice = () => ({
  identifier: { system: 'ods-organization-code' as const, value: randomUUID() },
  name: 'Some Surgery',
});

/** A practice that only the current test uses. */
let practice: ReturnType<typeof aPractice>;
beforeEach(() => {
  practice = aPractice();
});

const { author } = aLaunchContext().request;
const contextOf = (request: Request = {}) =>
  aLaunchContext({ request: { practice, author, patient: aPatient(), ...request } });

const order = (tests: string[], request?: Request) => anOrder(application, tests, contextOf(request));

async function mostRequested(request?: Request) {
  const launch = await application.openLaunch(contextOf(request));
  return chipsIn(await launch.page(), 'most-requested');
}

const hours = (count: number) => application.clock.advance({ seconds: count * 3_600 });

describe('the tests that a practice requests most', () => {
  it('are shown to every user of the practice, most requested first, if they were requested twice', async () => {
    await order(['BUE', 'HFBC']);
    expect(await mostRequested()).toEqual([]);
    hours(1);
    await order(['HFBC', 'BUE', 'BLFT']);
    hours(1);
    await order(['HFBC', 'HFER']);
    const author = { ...contextOf().request.author, username: 'another' };
    expect(await mostRequested({ author })).toEqual(['HFBC', 'BUE']);
  });

  it('are counted again when an order is submitted an hour or more after the last count', async () => {
    await order(['HFBC']);
    application.clock.advance({ seconds: 3_599 });
    await order(['HFBC']);
    expect(await mostRequested()).toEqual([]);
    application.clock.advance({ seconds: 1 });
    await order(['BUE']);
    expect(await mostRequested()).toEqual(['HFBC']);
  });

  it.each([
    [90 * 86_400, ['HFBC']],
    [90 * 86_400 + 1, []],
  ])(
    'include a test that was ordered twice within 90 days: %s seconds between the orders give %j',
    async (seconds, expected) => {
      await order(['HFBC']);
      application.clock.advance({ seconds });
      await order(['HFBC']);
      expect(await mostRequested()).toEqual(expected);
    },
  );

  it('do not include a test that was removed from its request', async () => {
    const ordered = await order(['HFBC', 'BUE']);
    const launch = await openChange(application, ordered);
    await press(launch, 'remove:BUE', { at: launch.at });
    await submitChange(launch);
    hours(1);
    await order(['HFBC', 'BUE']);
    expect(await mostRequested()).toEqual(['HFBC']);
  });

  it('are shown only if they apply to the patient and are not favourites of the user', async () => {
    for (const _time of [1, 2]) {
      await order(['MPSA', 'HFBC', 'BUE'], { patient: aPatient({ gender: 'male' }) });
      hours(1);
    }
    expect(await mostRequested()).toEqual(['BUE', 'HFBC']);
    expect(await mostRequested({ patient: aPatient({ gender: 'male' }) })).toEqual(['BUE', 'HFBC', 'MPSA']);
    const launch = await application.openLaunch(contextOf());
    await press(launch, 'favourite:BUE');
    expect(await mostRequested()).toEqual(['HFBC']);
  });

  it('are shown above the groups, up to 16 tests, and before the common tests of the catalogue', async () => {
    const catalogue = readCatalogue();
    const common = catalogue.common.map(({ code }) => code);
    const shipped = await startOrdering(openTestStorage, createCatalogues([catalogue]));
    try {
      for (const _time of [1, 2]) {
        await anOrder(shipped, ['KSPU', 'BMG', 'HFBC'], contextOf());
        shipped.clock.advance({ seconds: 3_600 });
      }
      const html = await (await shipped.openLaunch(contextOf())).page();
      expect(chipsIn(html, 'most-requested')).toEqual(
        [...new Set(['BMG', 'HFBC', 'KSPU', ...common.filter((code) => code !== 'MPSA')])].slice(0, 16),
      );
      const places = ['id="search"', 'data-chips="most-requested"', 'id="group-haematology"'];
      const at = places.map((place) => html.indexOf(place));
      expect(at).toEqual(at.toSorted((one, other) => one - other));
      expect(html.match(/data-chip="HFBC"/g)).toHaveLength(1);
    } finally {
      await shipped.stop();
    }
  });

  it('do not include tests that only another practice requests', async () => {
    for (const _time of [1, 2]) {
      await order(['HFBC']);
      hours(1);
    }
    expect(await mostRequested({ practice: aPractice() })).toEqual([]);
  });
});
