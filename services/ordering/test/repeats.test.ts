import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Application,
  aLaunchContext,
  anOrder,
  aPatient,
  chooseAndReview,
  fieldValues,
  type OpenLaunch,
  openAction,
  press,
  rowsOf,
  startOrdering,
  submit,
} from './launches.ts';

const day = 86_400;

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const orderFor = (patient = aPatient(), request = {}) => aLaunchContext({ request: { patient, ...request } });

/** Returns the text of each warning on a page. */
const warningsIn = (html: string) =>
  [...html.matchAll(/class="app-warning"[^>]*>([^<]*)/g)].map(([, text]) => text);

async function warningsFor(patient: ReturnType<typeof aPatient>, tick: string[]) {
  const launch = await chooseAndReview(application, tick, orderFor(patient));
  return warningsIn(await launch.page('review'));
}

async function submitWith(launch: OpenLaunch, fields: [string, string][]): Promise<string> {
  const [version = ''] = fieldValues(await launch.page('review'), 'version');
  const answer = await launch.post('review', [['version', version], ...fields, ['action', 'submit']]);
  return answer.headers.get('location') ?? '';
}

describe('a test that was requested within its minimum interval', () => {
  it('causes a warning with requester, date and sample, next to the chosen tests and on the review', async () => {
    const patient = aPatient();
    await anOrder(application, ['DHBA1C', 'HFBC'], orderFor(patient));
    application.clock.advance({ seconds: 12 * day });
    const launch = await chooseAndReview(application, ['DHBA1C', 'HFBC'], orderFor(patient));
    const today = new Date(application.clock.now() - 12 * day * 1000);
    const date = `${today.getUTCDate()} ${today.toLocaleString('en-GB', { month: 'long', timeZone: 'UTC' })} ${today.getUTCFullYear()}`;
    const said = `HbA1c was requested on ${date} (12 days ago) by Bairstow, Thomas (Dr): sample not collected yet. Not usually repeated within 56 days.`;
    const waiting = `Full blood count was requested on ${date} (12 days ago) by Bairstow, Thomas (Dr): sample not collected yet.`;
    expect(warningsIn(await launch.page())).toEqual([waiting, said]);
    expect(warningsIn(await launch.page('review'))).toEqual([waiting, said]);
    const panel = await (await launch.post('chosen', [['action', 'update']])).text();
    expect(warningsIn(panel)).toEqual([waiting, said]);
  });

  it('has a warning with the interval until the interval is over', async () => {
    const patient = aPatient();
    await anOrder(application, ['DHBA1C'], orderFor(patient));
    application.clock.advance({ seconds: 55 * day });
    expect(await warningsFor(patient, ['DHBA1C'])).toEqual([expect.stringContaining('within 56 days')]);
    application.clock.advance({ seconds: day });
    expect(await warningsFor(patient, ['DHBA1C'])).toEqual([expect.not.stringContaining('within')]);
  });

  it('is not a repeat for another patient', async () => {
    await anOrder(application, ['DHBA1C', 'HFBC'], orderFor());
    expect(await warningsFor(aPatient(), ['DHBA1C', 'HFBC'])).toEqual([]);
  });

  it('is not a repeat for a patient with another NHS number and the same hospital number', async () => {
    const given = { system: 'hospital-number' as const, value: randomUUID() };
    const [one, other] = [aPatient(), aPatient()].map((patient) => ({
      ...patient,
      identifiers: [...patient.identifiers, given],
    }));
    await anOrder(application, ['DHBA1C'], orderFor(one));
    expect(await warningsFor(other ?? aPatient(), ['DHBA1C'])).toEqual([]);
    expect(await warningsFor({ ...aPatient(), identifiers: [given] }, ['DHBA1C'])).toHaveLength(1);
  });

  it('is a repeat for every requester, and the warning states whether the sample was collected', async () => {
    const patient = aPatient();
    const practice = {
      identifier: { system: 'ods-organization-code', value: 'B99999' },
      name: 'Moor Surgery',
    } as const;
    const requester = {
      identifier: { system: 'professional-code', value: 'G1' },
      name: { family: 'Hill', given: ['Ada'] },
    } as const;
    const there = await chooseAndReview(
      application,
      ['DHBA1C', 'DEXA'],
      orderFor(patient, { practice, requester }),
    );
    await submitWith(there, [
      ['details', 'Fracture'],
      ['collect', 'now'],
    ]);
    const [hba1c, dexa] = await warningsFor(patient, ['DHBA1C', 'DEXA']);
    expect(hba1c).toMatch(/\(today\) by Hill, Ada: sample collected\./);
    expect(dexa).toMatch(/by Hill, Ada: sent to Seaview Imaging Centre\./);
  });

  it('is a repeat if an earlier panel or a chosen panel contains it', async () => {
    const patient = aPatient();
    await anOrder(application, ['HHAEM'], orderFor(patient));
    expect(await warningsFor(patient, ['HB12'])).toEqual([
      expect.stringMatching(
        /^Vitamin B12 \(in Haematinics profile\) was requested on .* Not usually repeated within 90 days/,
      ),
    ]);
    const other = aPatient();
    await anOrder(application, ['HFER'], orderFor(other));
    expect(await warningsFor(other, ['HHAEM'])).toEqual([
      expect.stringMatching(
        /^Ferritin \(part of Haematinics profile\) was .* Not usually repeated within 28 days/,
      ),
    ]);
  });

  it('causes a warning that names its latest request', async () => {
    const patient = aPatient();
    await anOrder(application, ['BVITD'], orderFor(patient));
    application.clock.advance({ seconds: 10 * day });
    const again = await chooseAndReview(application, ['BVITD'], orderFor(patient));
    await submitWith(again, [['reason:BVITD', 'Lost']]);
    application.clock.advance({ seconds: 3 * day });
    expect(await warningsFor(patient, ['BVITD'])).toEqual([expect.stringContaining('(3 days ago)')]);
  });
});

describe('an order with a repeat', () => {
  it('is stored only with a reason, which is stored with the test', async () => {
    const patient = aPatient();
    await anOrder(application, ['DHBA1C'], orderFor(patient));
    const launch = await chooseAndReview(application, ['DHBA1C', 'HFBC'], orderFor(patient));
    expect(await submitWith(launch, [])).toBe(`${launch.home}review?check`);
    expect(await rowsOf(application, launch)).toEqual([]);
    const html = await launch.page('review?check');
    expect(html).toMatch(/href="#repeat-reason">\s*Give a reason for repeating HbA1c, or remove it\s*</);
    expect(html).toContain('<title>Error: Review the request');
    expect(await submitWith(launch, [['reason:DHBA1C', 'New symptoms <b>']])).toContain('/orders/');
    const [row] = await rowsOf(application, launch);
    expect(row?.batches[0]?.tests.map(({ code, repeatReason }) => [code.value, repeatReason])).toEqual([
      ['HFBC', undefined],
      ['DHBA1C', 'New symptoms <b>'],
    ]);
  });

  it('needs no reason after the user removes the repeated test, and keeps the typed text', async () => {
    const patient = aPatient();
    await anOrder(application, ['DHBA1C'], orderFor(patient));
    const launch = await chooseAndReview(application, ['DHBA1C', 'HFBC'], orderFor(patient));
    const removed = await launch.post('review', [
      ['details', 'Tired'],
      ['action', 'remove:DHBA1C'],
    ]);
    expect(removed.headers.get('location')).toBe(`${launch.home}review`);
    const html = await launch.page('review');
    expect(warningsIn(html)).toEqual([]);
    expect(html).toMatch(/<textarea[^>]*>Tired<\/textarea>/);
    expect((await submit(launch)).headers.get('location')).toContain('/orders/');
  });
});

describe('a changed request', () => {
  it('causes no warnings of repeats of its own tests', async () => {
    const order = await anOrder(application, ['DHBA1C', 'HFBC'], orderFor());
    const launch = await openAction(application, 'UpdateTest', order);
    const at = `requests/${order.guid}/tests/`;
    await press(launch, 'update', { at, untick: ['DHBA1C'] });
    await press(launch, 'update', { at, tick: ['DHBA1C', 'BVITD'] });
    expect(warningsIn(await launch.page(`${at}review`))).toEqual([]);
  });

  it('has warnings of repeats for added tests only', async () => {
    const patient = aPatient();
    const order = await anOrder(application, ['DHBA1C'], orderFor(patient));
    await anOrder(application, ['BVITD'], orderFor(patient));
    const launch = await openAction(application, 'UpdateTest', order);
    const at = `requests/${order.guid}/tests/`;
    await press(launch, 'update', { at, tick: ['BVITD'] });
    expect(warningsIn(await launch.page(`${at}review`))).toEqual([expect.stringMatching(/^Vitamin D was /)]);
  });

  it('causes no warning for a removed test; the interval of an added test begins on the day of the change', async () => {
    const patient = aPatient();
    const order = await anOrder(application, ['DHBA1C', 'HFBC'], orderFor(patient));
    application.clock.advance({ seconds: 5 * day });
    const launch = await openAction(application, 'UpdateTest', order);
    const at = `requests/${order.guid}/tests/`;
    await press(launch, 'update', { at, tick: ['BVITD'], untick: ['DHBA1C'] });
    const html = await launch.page(`${at}review`);
    await launch.post(`${at}review`, [
      ['version', fieldValues(html, 'version')[0] ?? ''],
      ['submission', fieldValues(html, 'submission')[0] ?? ''],
      ['action', 'submit'],
    ]);
    application.clock.advance({ seconds: 4 * day });
    expect(await warningsFor(patient, ['DHBA1C', 'BVITD'])).toEqual([
      expect.stringMatching(/^Vitamin D was requested on .* \(4 days ago\)/),
    ]);
  });
});
