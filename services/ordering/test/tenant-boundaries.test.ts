import { randomUUID } from 'node:crypto';
import { actions } from '@clinical-launch/contracts/launch-context';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type OrderingDatabase, openOrderingDatabase } from '../src/store/database.ts';
import { type Application, chipsIn, chooseAndReview, type OpenLaunch, startOrdering } from './launches.ts';
import { listedIn, search, similarIn, textOf } from './listing.ts';
import { filledIn, taken } from './sample-forms.ts';
import { isWithinBinding, listing, maySee, samePatient, samePractice } from './tenant-rules.ts';
import {
  arbitraryLaunch,
  arbitraryPair,
  namesakes,
  neighbouringLaunches,
  openTenant,
  orderOf,
  type StoredOrder,
  storeChoices,
  type Tenant,
  tenants,
} from './tenants.ts';

/** HbA1c has a minimum interval, so a new order is a repeat of every order that its launch may see. */
const test = 'DHBA1C';

let application: Application;
let database: OrderingDatabase;
const orders: StoredOrder[] = [];
const choices: { tenant: Tenant; code: string; set: string }[] = [];
beforeAll(async () => {
  application = await startOrdering();
  database = await openOrderingDatabase(application.storage);
  for (const [index, tenant] of tenants.entries()) {
    orders.push(await orderOf(application, tenant, { test, requester: `Requester${index}of` }));
  }
  const codes = [...application.catalogue.orderables.keys()];
  const ofPractices = tenants.filter(({ patient }) => patient === tenants[0]?.patient);
  for (const [index, tenant] of ofPractices.entries()) {
    const choice = { code: codes[index] ?? '', set: `Set ${index} kept` };
    await storeChoices(application, tenant, choice);
    choices.push({ tenant, ...choice });
  }
});
afterAll(() => application.stop());

function orderOfTenant({ client, practice, patient }: Tenant): StoredOrder {
  const order = orders.find(
    (each) => each.client === client && each.practice === practice && each.patient === patient,
  );
  if (order === undefined) throw new RangeError('There is no such order');
  return order;
}

describe('for all clients, practices, patients and actions', () => {
  it('a launch lists and finds only requests that its action, patient and practice allow', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLaunch(listing), async (launch) => {
        const seen = orders.filter((order) => maySee(launch, order));
        const expected = new Set(seen.map(({ guid }) => guid));
        const opened = await openTenant(application, launch);
        expect(new Set(listedIn(await opened.page('requests')))).toEqual(expected);
        const word = launch.action.startsWith('Location') ? 'whitfield' : 'hba1c';
        expect(new Set(listedIn(await search(opened, word)))).toEqual(expected);
        const similar = similarIn(await search(opened, 'whitfeild'));
        expect(new Set(similar)).toEqual(launch.action.startsWith('Location') ? expected : new Set());
      }),
      { numRuns: 45, examples: [namesakes, ...neighbouringLaunches(listing)].map(({ launch }) => [launch]) },
    );
  });

  it('a launch opens only requests that its action, patient and practice allow, at any URL', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPair(actions), async ({ launch, other }) => {
        const order = orderOfTenant(other);
        const opened = await openTenant(application, launch, order.originatingId);
        const isSeen = maySee(launch, order, { isNamed: true });
        const { status } = await opened.send(`requests/${order.guid}`);
        expect(status === 200).toBe(isSeen);
        for (const address of isSeen ? [] : addressesOf(order)) {
          const response = await opened.send(address);
          const isRefused = response.status >= 400 || address.startsWith('requests?');
          expect([address, isRefused]).toEqual([address, true]);
          expect(textOf(await response.text())).not.toContain(order.requester);
        }
        const home = await opened.send('');
        const isOpened = home.headers.get('location')?.includes(order.guid) ?? false;
        expect(isOpened && !isSeen).toBe(false);
      }),
      { numRuns: 60, examples: [namesakes, ...neighbouringLaunches(actions)].map((pair) => [pair]) },
    );
  });

  it('a launch cannot change a request that it may not see, and sends no document of that request', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPair(actions), async ({ launch, other }) => {
        const order = orderOfTenant(other);
        fc.pre(!maySee(launch, order, { isNamed: true }));
        const opened = await openTenant(application, launch, order.originatingId);
        const before = await stored(order);
        for (const [path, fields] of await formsFor(order, opened)) {
          expect((await opened.post(path, fields)).status).toBeGreaterThanOrEqual(400);
        }
        expect(await stored(order)).toEqual(before);
        expect(await submittedBy(opened)).toEqual([]);
      }),
      { numRuns: 60, examples: [namesakes, ...neighbouringLaunches(actions)].map((pair) => [pair]) },
    );
  });

  it('a launch shows only favourites and order sets of its own practice', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLaunch(['OrderTest']), async (launch) => {
        const html = await (await openTenant(application, launch)).page();
        const own = choices.filter(({ tenant }) => samePractice(launch, tenant));
        expect(chipsIn(html, 'practice').toSorted()).toEqual(own.map(({ code }) => code).toSorted());
        const sets = new Set([...html.matchAll(/Set \d+ kept/g)].map(([name]) => name));
        expect(sets).toEqual(new Set(own.map(({ set }) => set)));
      }),
      { numRuns: 15 },
    );
  });

  it('a launch offers to repeat only an earlier request of its patient in its practice', async () => {
    // The button offers no test whose usual interval has not passed.
    application.clock.advance({ seconds: 56 * 86_400 });
    await fc.assert(
      fc.asyncProperty(arbitraryLaunch(['OrderTest']), async (launch) => {
        const known = orders.filter((order) => maySee({ ...launch, action: 'UpdateTest' }, order));
        const html = await (await openTenant(application, launch)).page();
        const [, guid] = /value="again:([^"]*)"/.exec(html) ?? [];
        expect(guid).toBe(known.at(-1)?.guid);
      }),
      { numRuns: 15 },
    );
  });

  it('a launch warns of repeats only for its own patient', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLaunch(['OrderTest']), async (launch) => {
        const known = orders.filter((order) => samePatient(launch, order) && isWithinBinding(launch, order));
        const opened = await openTenant(application, launch);
        const reviewed = await chooseAndReview(application, [test], opened.context);
        const html = await reviewed.page('review');
        const named = orders.filter(({ requester }) => html.includes(requester));
        expect(named.map(({ requester }) => requester)).toEqual(
          known.slice(-1).map(({ requester }) => requester),
        );
      }),
      { numRuns: 15 },
    );
  });
});

const stored = ({ guid }: StoredOrder) =>
  database.selectFrom('test_requests').selectAll().where('guid', '=', guid).executeTakeFirstOrThrow();

/** Returns the submissions of a launch. Each submission has one event, which contains the encrypted order. */
const submittedBy = ({ launchId }: OpenLaunch) =>
  database.selectFrom('submissions').selectAll().where('launch_id', '=', launchId).execute();

/** Returns the URLs, relative to a launch, that show a request or contain its GUID as a cursor. */
const addressesOf = ({ guid }: StoredOrder) => [
  ...['', '/samples', '/tests/', '/tests/review', '/form', '/labels'].map(
    (page) => `requests/${guid}${page}`,
  ),
  `orders/${guid}`,
  `requests?before=${guid}`,
  `requests?after=${guid}`,
];

/**
 * Returns the forms that change an order, complete as a launch of that order would send them, but with the
 * id of another launch.
 */
async function formsFor(
  order: StoredOrder,
  { launchId }: OpenLaunch,
): Promise<[string, [string, string][]][]> {
  const own = { ...order, practices: 'any' as const };
  const samples = `requests/${order.guid}/samples`;
  const queue = await openTenant(application, { ...own, action: 'PatientSampleQueue' });
  const recorded = filledIn(await queue.page(samples), { ...taken('S1'), launch: launchId });
  const change = `requests/${order.guid}/tests/`;
  const changed: [string, string][] = [
    ['launch', launchId],
    ['version', '1'],
    ['submission', randomUUID()],
  ];
  return [
    [samples, [...recorded]],
    [change, [...changed, ['action', 'review']]],
    [`${change}review`, [...changed, ['action', 'submit']]],
  ];
}
