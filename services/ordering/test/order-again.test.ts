import { randomUUID } from 'node:crypto';
import { localDay, writtenDate } from '@clinical-launch/contracts/time';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openOrderingDatabase } from '../src/store/database.ts';
import { openChange, submitChange } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  aYoungPatient,
  press,
  startOrdering,
  tickedIn,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

type Request = NonNullable<Parameters<typeof aLaunchContext>[0]>['request'];

/** A patient that only the current test uses. */
let patient: ReturnType<typeof aPatient>;
beforeEach(() => {
  patient = aPatient();
});

const order = (tests: string[], request: Request = {}) =>
  anOrder(application, tests, aLaunchContext({ request: { patient, ...request } }));
const open = (request: Request = {}) =>
  application.openLaunch(aLaunchContext({ request: { patient, ...request } }));

/** Lets days pass, so that the intervals of the ordered tests are over. Returns the day before, as text. */
function afterDays(days: number): string {
  const day = writtenDate(localDay(application.clock.now(), 'Europe/London'));
  application.clock.advance({ seconds: days * 86_400 });
  return day;
}

/** Returns the GUID of the request whose tests the button chooses again, and the text of the button. */
function againIn(html: string) {
  const [, guid, text] = /value="again:([^"]*)"[^>]*>([^<]*)</.exec(html) ?? [];
  return guid === undefined ? undefined : { guid, text: text?.trim() };
}

describe('the tests of the patient’s last request', () => {
  it('are added to the chosen tests by one button, whose text contains the tests and the date', async () => {
    const { guid } = await order(['HFBC', 'BUE', 'BLFT', 'DHBA1C', 'HFER', 'BMG']);
    const day = afterDays(56);
    const launch = await open();
    const text = `Same as last time, ${day}: FBC, Ferritin, U&amp;E, LFT and 2 more`;
    expect(againIn(await launch.page())).toEqual({ guid, text });
    await press(launch, `again:${guid}`, { tick: ['XCXR'] });
    const html = await launch.page();
    expect(tickedIn(html).toSorted()).toEqual(['BLFT', 'BMG', 'BUE', 'DHBA1C', 'HFBC', 'HFER', 'XCXR']);
    expect(html).toContain(`Chosen as on ${day}: `);
  });

  it('have warnings of repeats when the button adds them', async () => {
    const { guid } = await order(['HFBC']);
    const day = afterDays(1);
    const launch = await open();
    await press(launch, `again:${guid}`);
    expect(await launch.page()).toContain(`Full blood count was requested on ${day}`);
  });

  it('do not include imaging, or a test whose usual interval has not passed; a message names these tests', async () => {
    const { guid } = await order(['HFBC', 'DHBA1C', 'XKNE']);
    expect(againIn(await (await open()).page())).toBeUndefined();
    const day = afterDays(55);
    const launch = await open();
    expect(againIn(await launch.page())?.text).toBe(`Same as last time, ${day}: FBC`);
    await press(launch, `again:${guid}`);
    const html = await launch.page();
    expect(tickedIn(html)).toEqual(['HFBC']);
    expect(html).toContain(
      'Imaging and tests within their usual interval were not added: HbA1c and Knee X-ray.',
    );
    afterDays(1);
    expect(againIn(await (await open()).page())?.text).toBe(`Same as last time, ${day}: FBC, HbA1c`);
  });

  it('do not include a test that another practice has requested within its usual interval', async () => {
    await order(['HFBC', 'DHBA1C']);
    const day = afterDays(60);
    const identifier = { system: 'ods-organization-code' as const, value: randomUUID() };
    await order(['DHBA1C'], { practice: { identifier, name: 'Some Surgery' } });
    expect(againIn(await (await open()).page())?.text).toBe(`Same as last time, ${day}: FBC`);
  });

  it('do not include tests that were removed from the request', async () => {
    await order(['HFBC']);
    application.clock.advance({ seconds: 1 });
    const latest = await order(['BUE', 'BLFT']);
    const change = await openChange(application, latest);
    await press(change, 'remove:BLFT', { at: change.at });
    await submitChange(change);
    const day = afterDays(1);
    const again = againIn(await (await open()).page());
    expect(again).toEqual({ guid: latest.guid, text: `Same as last time, ${day}: U&amp;E` });
  });

  it('are not offered for a patient without requests, or while a request is changed', async () => {
    expect(againIn(await (await open()).page())).toBeUndefined();
    const ordered = await order(['HFBC']);
    const later = await order(['BUE']);
    const change = await openChange(application, ordered);
    expect(againIn(await change.page(change.at))).toBeUndefined();
    await press(change, `again:${later.guid}`, { at: change.at });
    expect(tickedIn(await change.page(change.at))).toEqual(['HFBC']);
  });

  it('are added without tests that do not apply or have left the catalogue; a message names these tests', async () => {
    patient = aYoungPatient('male');
    const { guid } = await order(['HFBC', 'MPSA', 'BUE']);
    const database = await openOrderingDatabase(application.storage);
    const row = await database
      .selectFrom('test_requests')
      .select('batches')
      .where('guid', '=', guid)
      .executeTakeFirstOrThrow();
    const lost = JSON.stringify(row.batches).replaceAll('"BUE"', '"OLD"');
    await database
      .updateTable('test_requests')
      .set({ batches: lost as never })
      .where('guid', '=', guid)
      .execute();
    const day = afterDays(28);
    const launch = await open({ patient: { ...patient, gender: 'female' } });
    expect(againIn(await launch.page())?.text).toBe(`Same as last time, ${day}: FBC`);
    await press(launch, `again:${guid}`);
    const html = await launch.page();
    expect(tickedIn(html)).toEqual(['HFBC']);
    for (const said of [
      `Chosen as on ${day}: Full blood count.`,
      'Not added, because it does not apply to this patient: Prostate specific antigen.',
      'Not added, because it is not in the catalogue: Urea and electrolytes.',
    ])
      expect(html).toContain(said);
  });

  it('are offered only for a request of the user’s own practice and of the same patient', async () => {
    const practice = {
      identifier: { system: 'ods-organization-code' as const, value: randomUUID() },
      name: 'Some Surgery',
    };
    const { guid } = await order(['HFBC'], { practice });
    afterDays(1);
    const launch = await open();
    expect(againIn(await launch.page())).toBeUndefined();
    const stranger = await open({ patient: aPatient(), practice });
    for (const each of [launch, stranger]) {
      expect((await press(each, `again:${guid}`)).status).toBe(303);
      expect(tickedIn(await each.page())).toEqual([]);
    }
    expect((await launch.post('', [['action', 'again:1']])).status).toBe(400);
    expect(againIn(await (await open({ practice })).page())?.guid).toBe(guid);
  });
});
