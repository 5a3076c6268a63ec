import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { practiceBindingOf } from '@clinical-launch/contracts/coded-identifiers';
import type { Action, LaunchContext, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import type { Registry } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { until } from '@clinical-launch/testing/until';
import { type WatchedRegistry, watchRegistryFile } from '@clinical-launch/trust/registry-file';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { linesOf, openChange, publishedOrders, stored, submitChange } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  aPatient,
  type OpenLaunch,
  press,
  startOrdering,
} from './launches.ts';
import { aPractice, listedIn, openList, orderFor, search, textOf } from './listing.ts';
import { publishedBy } from './published-events.ts';
import { record, taken } from './sample-forms.ts';

type Practice = LaunchRequest['practice'];
type Client = Pick<LaunchContext['client'], 'issuer' | 'clientId'>;

const { issuer, clientId } = aLaunchContext().client;
const ours: Client = { issuer, clientId };
const theirs: Client = { issuer: 'https://login.example/tenant', clientId };
const aPms = { clientId, name: 'PMS', secrets: [], scopes: [] };
const clients = {
  realms: [{ realm: 'demo', clients: [aPms] }],
  trustedIssuers: [{ issuer: theirs.issuer, clients: [{ clientId }] }],
};

let application: Application;
let registry: WatchedRegistry;
let folder: string;
const succeeded: NonNullable<Registry['practices']> = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'registry-'));
  await writeFile(join(folder, 'registry.json'), JSON.stringify(clients));
  registry = watchRegistryFile(join(folder, 'registry.json'), {
    publicUrl: 'https://launch.example.org',
    onChange: () => undefined,
    onFault: () => undefined,
    everyMs: 5,
  });
  application = await startOrdering(undefined, undefined, undefined, registry);
});
afterAll(async () => {
  registry.stop();
  await application.stop();
  await rm(folder, { recursive: true });
});

/** Adds earlier codes of a practice to the registry file, and waits until the registry is in use. */
async function succeed(practice: Practice, formerly: Practice[], within: Partial<Client> = {}) {
  succeeded.push({ ...within, ...codeOf(practice), formerly: formerly.map(codeOf) });
  const path = join(folder, 'registry.json');
  await writeFile(`${path}.new`, JSON.stringify({ ...clients, practices: succeeded }));
  await rename(`${path}.new`, path);
  await until(() => registry.current().practices?.length === succeeded.length);
}

const codeOf = ({ identifier: { system, value } }: Practice) =>
  system === 'performing-org' ? { system: 'local-org-code' as const, code: value } : { system, code: value };
const localPractice = (): Practice => {
  const { identifier, name } = aPractice();
  return { identifier: { ...identifier, system: 'local-org-code' }, name };
};

/** Opens a launch of a client that is bound to the practice of the launch only. */
function openBound(action: Action, request: Partial<LaunchRequest> & { practice: Practice }, client = ours) {
  const practices = practiceBindingOf([codeOf(request.practice)]);
  return openList(application, action, {
    request,
    client: { ...client, ...withoutUndefined({ practices }) },
  });
}

const guidsOf = async (launch: OpenLaunch) => listedIn(await launch.page('requests'));

describe('a practice that succeeds other practices', () => {
  const [practice, first, second, neighbour] = [aPractice(), aPractice(), aPractice(), aPractice()];
  const patient = aPatient();
  let guids: string[];
  let foreign: string;
  beforeAll(async () => {
    await succeed(practice, [first, second]);
    guids = [];
    for (const each of [first, second, practice, first]) {
      guids.unshift((await orderFor(application, { request: { practice: each, patient } })).guid);
    }
    foreign = (await orderFor(application, { request: { practice: neighbour, patient } })).guid;
  });

  it.each<Action>(['LocationSampleQueue', 'LocationReportList', 'PatientRequestList', 'PatientReportList'])(
    'sees the requests under all its codes, newest first, also if its client is bound to its own code: %s',
    async (action) => {
      const launch = await openBound(action, { practice, patient });
      expect(await guidsOf(launch)).toEqual(guids);
      expect(listedIn(await search(launch, 'full blood count'))).toEqual(guids);
    },
  );

  it('filters its list by each requester under all its codes once', async () => {
    const html = await (await openBound('LocationReportList', { practice })).page('requests');
    expect(html.match(/<option[^>]*>[^<]*Bairstow/g)).toHaveLength(1);
  });

  it('is not seen by its neighbours, and sees none of their requests', async () => {
    const launch = await openBound('LocationReportList', { practice });
    expect((await launch.send(`requests/${foreign}`)).status).toBe(404);
    const near = await openBound('LocationReportList', { practice: neighbour });
    expect(await guidsOf(near)).toEqual([foreign]);
    for (const guid of guids) expect((await near.send(`requests/${guid}`)).status).toBe(404);
  });

  it('is not seen by a launch that is still for an earlier code', async () => {
    expect(await guidsOf(await openBound('LocationReportList', { practice: second }))).toEqual([guids[2]]);
  });

  it('changes a request under an earlier code, and the order keeps its practice', async () => {
    const { guid, context } = await orderFor(application, {
      request: { practice: first, patient: aPatient() },
    });
    const launch = await openChange(application, {
      guid,
      context: { ...context, request: { ...context.request, practice } },
    });
    expect((await launch.send('')).headers.get('location')).toContain(guid);
    await press(launch, 'review', { tick: ['BUE'], at: launch.at });
    expect((await submitChange(launch)).status).toBe(303);
    expect(linesOf(await stored(application, guid)).flat()).toHaveLength(2);
    const orders = await publishedOrders(application, guid, 2);
    expect(orders.map(({ order }) => order.practice.identifier)).toEqual([first, first].map(identifierOf));
    // Events name the practice of the launch: the code under which the request was made, then changed.
    expect(orders.map(({ event }) => event.data)).toMatchObject(
      [first, practice].map((each) => ({ practice: { code: each.identifier.value } })),
    );
  });

  it('records the samples of a request under an earlier code', async () => {
    const { guid } = await orderFor(application, { request: { practice: second, patient: aPatient() } });
    const launch = await openBound('LocationSampleQueue', { practice });
    expect((await record({ ...launch, guid }, taken('S1'))).status).toBe(303);
    expect(await stored(application, guid)).toMatchObject({
      status: 'Complete',
      parties: { practice: second },
    });
  });

  it('is in the audit event of each view with the code under which the launch saw the request', async () => {
    const launch = await openBound('LocationReportList', { practice });
    expect(textOf(await launch.page(`requests/${guids[0]}`))).toContain(first.name);
    const [viewed] = await publishedBy(application, launch, 'order.viewed.v1');
    expect(viewed?.data).toMatchObject({
      orderGuid: guids[0],
      practice: { code: practice.identifier.value },
    });
  });

  it('does not find a patient by a hospital number, which each practice assigns itself', async () => {
    const numbered = aPatient({ identifiers: [{ system: 'hospital-number', value: '42' }] });
    await orderFor(application, { request: { practice: first, patient: numbered } });
    const launch = await openBound('PatientReportList', { practice, patient: numbered });
    expect(await guidsOf(launch)).toEqual([]);
  });
});

describe('an earlier local code', () => {
  it('is followed only within its issuer and client, by the practice and by the binding', async () => {
    const [practice, earlier] = [aPractice(), localPractice()];
    const patient = aPatient();
    await succeed(practice, [earlier], ours);
    const own = await orderFor(application, { request: { practice: earlier, patient }, client: ours });
    await orderFor(application, { request: { practice: earlier, patient }, client: theirs });
    for (const action of ['LocationReportList', 'PatientReportList'] as const) {
      expect(await guidsOf(await openBound(action, { practice, patient }))).toEqual([own.guid]);
      expect(await guidsOf(await openBound(action, { practice, patient }, theirs))).toEqual([]);
    }
  });
});

describe('an open launch', () => {
  it.each<Action>(['LocationSampleQueue', 'PatientRequestList', 'UpdateTest'])(
    'sees the requests under an earlier code after the registry has changed: %s',
    async (action) => {
      const [practice, earlier] = [aPractice(), aPractice()];
      const patient = aPatient();
      const { guid } = await orderFor(application, { request: { practice: earlier, patient } });
      const launch = await openBound(action, { practice, patient });
      expect(await guidsOf(launch)).toEqual([]);
      await succeed(practice, [earlier]);
      expect(await guidsOf(launch)).toEqual([guid]);
    },
  );
});

const identifierOf = ({ identifier }: Practice) => identifier;
