import { randomUUID } from 'node:crypto';
import {
  type Action,
  type LaunchContext,
  type LaunchPatient,
} from '@clinical-launch/contracts/launch-context';
import { aNhsNumber } from '@clinical-launch/testing/nhs-number';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openOrderingDatabase } from '../src/store/database.ts';
import {
  type Application,
  aLaunchContext,
  anOrder,
  fieldValues,
  type OpenLaunch,
  openAction,
  press,
  startOrdering,
} from './launches.ts';

let application: Application;
beforeAll(async () => {
  application = await startOrdering();
});
afterAll(() => application.stop());

const { patient, practice } = aLaunchContext().request;
const neighbour: LaunchPatient = {
  ...patient,
  name: { family: 'Pickering', given: ['George'] },
  birthDate: '1971-06-11',
  identifiers: [{ system: 'nhs-number', value: '9434765870' }],
};

const openAs = (action: Action, request: Partial<LaunchContext['request']> = {}, clientId = 'pms-demo') =>
  application.openLaunch(aLaunchContext({ request: { action, ...request }, client: { clientId } }));

/** Returns the stored request, without the restrictions of any launch. */
async function storedAs(guid: string) {
  const database = await openOrderingDatabase(application.storage);
  return database.selectFrom('test_requests').selectAll().where('guid', '=', guid).executeTakeFirst();
}

/**
 * Sends forged forms that would change a request if the service accepted them. Expects that the request is
 * unchanged, and returns the statuses.
 */
async function tryToChange(launch: OpenLaunch, guid: string): Promise<number[]> {
  const before = await storedAs(guid);
  const forms: [path: string, fields: [string, string][]][] = [
    [`requests/${guid}/samples`, [...sampleFields(), ['version', '1'], ['submission', randomUUID()]]],
    [
      `requests/${guid}/tests/`,
      [
        ['test', 'BLFT'],
        ['action', 'review'],
      ],
    ],
    [
      `requests/${guid}/tests/review`,
      [
        ['version', '1'],
        ['submission', randomUUID()],
        ['action', 'submit'],
      ],
    ],
    [`requests/${guid}`, [['action', 'submit']]],
    [`requests/${guid}/form`, [['action', 'submit']]],
    [`orders/${guid}`, [['action', 'submit']]],
  ];
  const statuses: number[] = [];
  for (const [path, fields] of forms) statuses.push((await launch.post(path, fields)).status);
  expect(await storedAs(guid)).toEqual(before);
  return statuses;
}

const sampleFields = (): [string, string][] => [
  ['action', 'record'],
  ['taken:S1', 'yes'],
];

describe('a launch for a patient', () => {
  it.each(['UpdateTest', 'PatientSampleQueue', 'PatientReport'] as const)(
    'with %s and the originating id of a request of another client does not open that request',
    async (action) => {
      const order = await anOrder(application, ['HFBC']);
      const { originatingId } = order.context.request;
      const launch = await openAs(action, { originatingId }, 'pms-other');
      expect((await launch.send('')).headers.get('location')).toBe(`${launch.home}requests?choose`);
    },
  );
});

describe('a request for a patient with the same NHS number and date of birth as the launch’s patient', () => {
  it('shows its patient and a warning if the name differs', async () => {
    const twin = {
      ...patient,
      name: { family: 'Whitfield', given: ['Martha'] },
      identifiers: [{ system: 'nhs-number' as const, value: aNhsNumber() }],
    };
    const order = await anOrder(application, ['HFBC'], aLaunchContext({ request: { patient: twin } }));
    const opened = { ...patient, identifiers: twin.identifiers };
    const launch = await openAs('PatientRequestList', { patient: opened });
    expect(await launch.page('requests')).toContain(
      'Check the patient. For <bdi>WHITFIELD, Martha</bdi>, born 28 February 1958',
    );
    for (const page of ['', '/samples', '/labels']) {
      const html = await launch.page(`requests/${order.guid}${page}`);
      expect(/app-patient__name"><bdi>([^<]*)/.exec(html)?.[1]).toBe('WHITFIELD, Martha');
      expect(html).toMatch(
        /Check the patient\.[^]*made for <bdi[^>]*>WHITFIELD, Martha<[^]*record that is open in your practice system is for <bdi[^>]*>WHITFIELD, Margaret Anne \(Mrs\)<[^]*born 28 February 1958/,
      );
    }
    const same = await openAs('PatientRequestList', { patient: twin });
    expect(await same.page('requests')).not.toContain('Check the patient');
    expect(await same.page(`requests/${order.guid}`)).not.toContain('Check the patient');
  });
});

describe('a launch for a practice', () => {
  it('lists requests of every patient of the practice, and shows the patient of an opened request', async () => {
    const order = await anOrder(application, ['HFBC'], aLaunchContext({ request: { patient: neighbour } }));
    const launch = await openAs('LocationReportList');
    const list = await launch.page('requests');
    expect(list).not.toContain('app-patient__name');
    const report = await launch.page(`requests/${order.guid}`);
    expect(/app-patient__name"><bdi>([^<]*)/.exec(report)?.[1]).toBe('PICKERING, George');
  });
});

describe('an action that only reads', () => {
  it.each(['PatientReport', 'PatientReportList', 'LocationReportList'] as const)(
    'answers 403 or 405 to every form that would change a request: %s',
    async (action) => {
      const order = await anOrder(application, ['HFBC']);
      const launch = await openAction(application, action, order);
      expect((await launch.send(`requests/${order.guid}`)).status).toBe(200);
      expect(await tryToChange(launch, order.guid)).toEqual([403, 403, 403, 405, 405, 405]);
      for (const path of ['', 'review', 'chosen', 'matches']) {
        const refused = await launch.post(path, [
          ['test', 'BLFT'],
          ['action', 'review'],
        ]);
        expect([path, refused.status]).toEqual([path, 403]);
      }
    },
  );
});

describe('an action that changes requests', () => {
  it('cannot make changes of another action: UpdateTest, PatientSampleQueue and OrderTest', async () => {
    const order = await anOrder(application, ['HFBC']);
    const changer = await openAction(application, 'UpdateTest', order);
    expect((await changer.send(`requests/${order.guid}/samples`)).status).toBe(403);
    const collector = await openAction(application, 'PatientSampleQueue', order);
    expect((await collector.send(`requests/${order.guid}/tests/`)).status).toBe(403);
    const orderer = await openAs('OrderTest');
    expect((await orderer.send(`requests/${order.guid}`)).status).toBe(404);
    expect((await tryToChange(orderer, order.guid)).every((status) => status >= 400)).toBe(true);
  });
});

describe('the pages of two launches in one browser', () => {
  it('never mix two patients: a launch refuses a form of another launch', async () => {
    const [one, other] = [await openAs('OrderTest'), await openAs('OrderTest', { patient: neighbour })];
    const formOfOne = await one.page();
    expect(fieldValues(formOfOne, 'launch')).toContain(one.launchId);
    const sent = await other.post('', [
      ['launch', one.launchId],
      ['test', 'HFBC'],
      ['action', 'review'],
    ]);
    expect(sent.status).toBe(409);
    expect(await sent.text()).toContain('Nothing has been changed');
    expect((await other.send('review')).headers.get('location')).toBe(`${other.home}?nothing-chosen`);
  });

  it('contain the id of their launch in every form', async () => {
    const order = await anOrder(application, ['HFBC']);
    const changer = await openAction(application, 'UpdateTest', order);
    const collector = await openAction(application, 'PatientRequestList', order);
    const orderer = await openAs('OrderTest');
    await press(orderer, 'review', { tick: ['HFBC'] });
    const pages: [OpenLaunch, string][] = [
      [changer, `requests/${order.guid}/tests/`],
      [changer, `requests/${order.guid}/tests/review`],
      [collector, 'requests'],
      [collector, `requests/${order.guid}/samples`],
      [collector, `requests/${order.guid}`],
      [orderer, ''],
      [orderer, 'review'],
    ];
    for (const [launch, path] of pages) {
      const html = await launch.page(path);
      const forms = html.match(/<form [^]*?<\/form>/g) ?? [];
      expect(forms.length).toBeGreaterThan(0);
      for (const form of forms)
        expect([path, fieldValues(form, 'launch')]).toEqual([path, [launch.launchId]]);
    }
  });
});

describe('signing out', () => {
  it('removes the cookie and ends the session, so that copies of the cookie are refused', async () => {
    const launch = await openAs('PatientReportList');
    expect((await launch.send('requests')).status).toBe(200);
    const left = await launch.post('sign-out', [['launch', launch.launchId]]);
    expect(left.status).toBe(200);
    expect(await left.text()).toContain('You have signed out');
    expect(left.headers.getSetCookie()).toEqual([
      expect.stringContaining(
        `__Secure-launch-session=; Path=/oltr/${launch.launchId}; Expires=Thu, 01 Jan 1970`,
      ),
    ]);
    for (const path of ['', 'requests']) expect((await launch.send(path)).status).toBe(401);
    expect((await launch.post('sign-out', [])).status).toBe(401);
    expect(application.published).toContainEqual(
      expect.objectContaining({ type: 'launch.session.ended.v1', correlationid: launch.launchId }),
    );
  });

  it('is possible neither by a GET request nor by a form of another site', async () => {
    const launch = await openAs('OrderTest');
    expect((await launch.send('sign-out')).status).toBe(405);
    expect((await launch.post('sign-out', [], { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await launch.send('')).status).toBe(200);
  });

  it('has a button on the page of a launch', async () => {
    const launch = await openAs('OrderTest');
    expect(await launch.page()).toMatch(
      new RegExp(`<form[^>]*action="${launch.home}sign-out"[^]*?>Sign out</button>`),
    );
  });

  it('does not end the sessions of other launches', async () => {
    const [one, other] = [await openAs('OrderTest'), await openAs('OrderTest', { practice })];
    await one.post('sign-out', []);
    expect((await other.send('')).status).toBe(200);
  });
});
