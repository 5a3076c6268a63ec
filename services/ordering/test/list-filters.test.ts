import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openOrderingDatabase } from '../src/store/database.ts';
import { type Application, aPatient, type OpenLaunch, startOrdering } from './launches.ts';
import { aPractice, listedIn, openList, orderFor, textOf } from './listing.ts';

let application: Application;
const practice = aPractice();
const penhaligon = {
  identifier: { system: 'professional-code', value: 'G8100001' },
  name: { title: 'Dr', family: 'Penhaligon', given: ['Edith'] },
} as const satisfies LaunchRequest['requester'];
/** The short name of each request by its GUID. The tests list the names, newest request first. */
const names = new Map<string | undefined, string>();
beforeAll(async () => {
  application = await startOrdering();
  const order = async (name: string, tests: string[], request: Partial<LaunchRequest> = {}) => {
    const made = await orderFor(
      application,
      { request: { practice, patient: aPatient(), ...request } },
      tests,
    );
    names.set(made.guid, name);
    return made.guid;
  };
  const day = 86_400;
  application.clock.advance({ seconds: -2 * day });
  await order('waiting', ['HFBC']);
  application.clock.advance({ seconds: day });
  await order('imaging', ['XCXR'], { requester: penhaligon });
  application.clock.advance({ seconds: day });
  const urgent = await order('urgent', ['HFBC', 'BUE'], { requester: penhaligon });
  await order('faeces', ['KFAE']);
  const database = await openOrderingDatabase(application.storage);
  await database
    .updateTable('test_requests')
    .set({ priority: 'urgent' })
    .where('guid', '=', urgent)
    .execute();
});
afterAll(() => application.stop());

/** Posts these fields of the search form, and returns the page of the list. */
async function filtered(launch: OpenLaunch, fields: Record<string, string>): Promise<string> {
  const posted = await launch.post('requests', Object.entries({ launch: launch.launchId, ...fields }));
  expect([posted.status, posted.headers.get('location')]).toEqual([303, `${launch.home}requests#found`]);
  return launch.page('requests');
}

const openPractice = (action: 'LocationReportList' | 'LocationSampleQueue' = 'LocationReportList') =>
  openList(application, action, { request: { practice } });

/** Returns the value of the option with this text. */
const valueOf = (html: string, text: string) =>
  [...html.matchAll(/<option value="([^"]*)"[^>]*>([^<]*)</g)].find(([, , said]) => said === text)?.[1] ?? '';

describe('the filters of a practice’s list', () => {
  it.each<[string, Record<string, string>, string[]]>([
    ['today', { day: 'today' }, ['faeces', 'urgent']],
    ['yesterday', { day: 'yesterday' }, ['imaging']],
    ['the last 7 days', { day: 'week' }, ['faeces', 'urgent', 'imaging', 'waiting']],
    ['a test', { test: 'HFBC' }, ['urgent', 'waiting']],
    ['a test that no request has', { test: 'HESR' }, []],
    ['a status', { status: 'Complete' }, ['imaging']],
    ['the status “overdue”', { status: 'overdue' }, ['waiting']],
    ['a priority', { priority: 'urgent' }, ['urgent']],
    ['a test and a day', { test: 'HFBC', day: 'today' }, ['urgent']],
    ['a test and a priority', { test: 'HFBC', priority: 'routine' }, ['waiting']],
    ['a test, a day and words', { test: 'HFBC', day: 'today', q: 'penhaligon' }, ['urgent']],
    ['words that no filtered request contains', { test: 'HFBC', q: 'xyzzy' }, []],
    ['punctuation, which finds nothing', { test: 'HFBC', q: '!!' }, []],
  ])('find requests by %s', async (_, fields, expected) => {
    const html = await filtered(await openPractice(), fields);
    expect(listedIn(html).map((guid) => names.get(guid))).toEqual(expected);
  });

  it('offer the laboratories of the catalogue and the requesters of the practice, and can be combined', async () => {
    const launch = await openPractice();
    const html = await launch.page('requests');
    const chosen = async (fields: Record<string, string>) =>
      listedIn(await filtered(launch, fields)).map((guid) => names.get(guid));
    const laboratory = valueOf(html, 'Westcliff Microbiology');
    expect(await chosen({ laboratory })).toEqual(['faeces']);
    const requester = valueOf(html, 'Penhaligon, Edith (Dr)');
    expect(await chosen({ requester })).toEqual(['urgent', 'imaging']);
    expect(await chosen({ requester, laboratory })).toEqual([]);
    expect(await chosen({ requester, status: 'Complete', day: 'yesterday' })).toEqual(['imaging']);
    expect(html.match(/Bairstow, Thomas \(Dr\)<\/option>/g)).toHaveLength(1);
  });

  it('do not offer requesters of another practice', async () => {
    const stranger = {
      identifier: { system: 'professional-code' as const, value: 'G9999999' },
      name: { family: 'Strange', given: ['Una'] },
    };
    await orderFor(application, { request: { practice: aPractice(), requester: stranger } });
    expect(await (await openPractice()).page('requests')).not.toContain('Strange');
  });

  it('are stored for the launch and selected on the page, and one button clears them all', async () => {
    const launch = await openPractice();
    const html = await filtered(launch, { test: 'HFBC', day: 'today', priority: 'urgent', q: 'fbc' });
    expect(textOf(html)).toContain('1 urgent request matches “fbc” and the filters');
    for (const chosen of ['HFBC', 'today', 'urgent']) expect(html).toContain(`value="${chosen}" selected`);
    expect(await launch.page('requests')).toBe(html);
    expect(listedIn(await filtered(launch, { action: 'clear' }))).toHaveLength(names.size);
  });

  it.each([{ day: 'tomorrow' }, { status: 'Lost' }, { test: 'x'.repeat(401) }, { day: 'toString' }])(
    'are refused if they contain a value that no page offers: %j',
    async (fields) => {
      const launch = await openPractice();
      const posted = await launch.post('requests', Object.entries({ launch: launch.launchId, ...fields }));
      expect(posted.status).toBe(400);
    },
  );

  it('offer only statuses that requests in the list of the action can have', async () => {
    const queue = await openPractice('LocationSampleQueue');
    const html = await filtered(queue, { status: 'Complete' });
    expect(listedIn(html).map((guid) => names.get(guid))).toEqual(['faeces', 'urgent', 'waiting']);
    expect(html).not.toMatch(/<option[^>]*>(Inc|C)omplete/);
    expect(listedIn(await filtered(queue, { status: 'overdue' })).map((guid) => names.get(guid))).toEqual([
      'waiting',
    ]);
  });
});

describe('a day in a filter', () => {
  const madeAt = async (application: Application, instants: readonly string[]) => {
    const own = { practice: aPractice() };
    const database = await openOrderingDatabase(application.storage);
    const made = new Map<string | undefined, string>();
    for (const instant of instants) {
      const { guid } = await orderFor(application, { request: { ...own, patient: aPatient() } });
      made.set(guid, instant);
      await database
        .updateTable('test_requests')
        .set({ created_at: instant } as never)
        .where('guid', '=', guid)
        .execute();
    }
    const launch = await openList(application, 'LocationReportList', { request: own });
    return async (fields: Record<string, string>) =>
      listedIn(await filtered(launch, fields)).map((guid) => made.get(guid));
  };

  it('lasts from midnight to midnight in the time zone of the practice', async () => {
    const inSummer = await startOrdering();
    try {
      const noon = Date.parse('2025-07-02T12:00:00Z');
      inSummer.clock.advance({ seconds: (noon - inSummer.clock.now()) / 1000 });
      const list = await madeAt(inSummer, [
        '2025-06-30T22:59:59.999Z',
        '2025-06-30T23:00:00.000Z',
        '2025-07-01T22:59:59.999Z',
        '2025-07-01T23:00:00.000Z',
      ]);
      expect(await list({ day: 'yesterday' })).toEqual([
        '2025-07-01T22:59:59.999Z',
        '2025-06-30T23:00:00.000Z',
      ]);
    } finally {
      await inSummer.stop();
    }
  });

  it('lasts 24 hours from the time of the request if the filter selects overdue requests', async () => {
    const now = application.clock.now();
    const instants = [now - 86_400_001, now - 86_400_000 + 3_600_000].map((time) =>
      new Date(time).toISOString(),
    );
    const list = await madeAt(application, instants);
    expect(await list({ status: 'overdue' })).toEqual([instants[0]]);
  });
});

describe('the filters of a patient’s list', () => {
  it('find requests by test, status and day, but not by requester', async () => {
    const request = { practice: aPractice(), patient: aPatient() };
    const blood = await orderFor(application, { request }, ['HFBC']);
    const imaging = await orderFor(application, { request }, ['XCXR']);
    const launch = await openList(application, 'PatientReportList', { request });
    expect(listedIn(await filtered(launch, { test: 'HFBC' }))).toEqual([blood.guid]);
    const html = await filtered(launch, { status: 'Complete', day: 'today' });
    expect(listedIn(html)).toEqual([imaging.guid]);
    expect(html).not.toContain('name="requester"');
  });
});
