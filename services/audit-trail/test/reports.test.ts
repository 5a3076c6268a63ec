import { randomUUID } from 'node:crypto';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readAuditKeys, sealKeyFrom } from '../src/config.ts';
import { verdictOf } from '../src/domain/launch-story.ts';
import { createActivity } from '../src/store/activity.ts';
import { createAuditSearch } from '../src/store/audit-search.ts';
import { createAuditStore } from '../src/store/audit-store.ts';
import { openSchema } from '../src/store/tables.ts';
import { whoHasSeen } from '../src/work/who-has-seen.ts';
import { aLaunch, anEvent, bairstow } from './some-events.ts';

const storage = await openTestStorage();
const database = await openSchema(storage);
const store = createAuditStore({ database, sealKey: sealKeyFrom(readAuditKeys({})) });
const search = createAuditSearch(database);
afterAll(() => storage.close());

const at = (minute: number, second = 0) =>
  `2026-03-02T09:${String(minute).padStart(2, '0')}:${String(second).padStart(2, '0')}.000Z`;
const nurse = { user: { username: 'n.patel', name: 'Nisha Patel' }, practice: bairstow.practice };
const [opened, unopened] = [randomUUID(), randomUUID()];
const listed = (patients: readonly string[], time: string) =>
  anEvent('orders.listed.v1', {
    time,
    data: { ...nurse, launchId: randomUUID(), action: 'X', orders: patients.length, patients },
  });

beforeAll(() =>
  store.append([
    aLaunch(opened, { time: at(1) }),
    anEvent('launch.token.redeemed.v1', { correlationId: opened, time: at(1, 2) }),
    anEvent('order.viewed.v1', { correlationId: opened, time: at(1, 5), data: { launchId: opened } }),
    anEvent('order.viewed.v1', { correlationId: opened, time: at(2), data: { launchId: opened } }),
    aLaunch(unopened, { time: at(3) }),
    // These events are a launch for another patient, a list with both patients, and a list with only the
    // other patient.
    aLaunch(randomUUID(), { time: at(8, 55), data: { patient: 'q'.repeat(43) } }),
    listed([bairstow.patient, 'q'.repeat(43)], at(4)),
    listed(['q'.repeat(43)], at(5)),
    anEvent('launch.token.refused.v1', {
      time: at(6),
      data: { status: 401, reason: 'token_unknown', count: 7 },
    }),
  ]),
);

describe('whoHasSeen', () => {
  it('returns each user who opened, viewed or listed the patient, with counts', async () => {
    const { accesses, isCut } = await whoHasSeen(search, bairstow.patient);
    expect(isCut).toBe(false);
    expect(accesses.map(({ user, first, last, counts }) => [user, first, last, [...counts]])).toEqual([
      ['n.patel', new Date(at(4)), new Date(at(4)), [['Listed requests', 1]]],
      [
        'DBairstow',
        new Date(at(1, 2)),
        new Date(at(2)),
        [
          ['Opened a launch', 1],
          ['Viewed a request', 2],
        ],
      ],
    ]);
  });

  it('returns no users for a patient nobody has seen', async () => {
    expect(await whoHasSeen(search, 'r'.repeat(43))).toEqual({ accesses: [], isCut: false });
  });

  it('reads 10,000 events and as many lists of a patient, and states that its list is incomplete if there are more', async () => {
    const [correlationId, patient, time] = [randomUUID(), 's'.repeat(43), '2026-02-02T09:00:00.000Z'];
    const viewed = () => anEvent('order.viewed.v1', { correlationId, time });
    await store.append([aLaunch(correlationId, { time, data: { patient } })]);
    for (let stored = 0; stored < 10_000; stored += 1000)
      await store.append(Array.from({ length: 1000 }, viewed));
    expect(await whoHasSeen(search, patient)).toMatchObject({ accesses: [{}], isCut: false });
    await store.append([viewed()]);
    expect(await whoHasSeen(search, patient)).toMatchObject({ accesses: [{}], isCut: true });
    await store.append([listed([patient], time)]);
    const { accesses, isCut } = await whoHasSeen(search, patient);
    expect(new Set(accesses.map(({ user }) => user))).toEqual(new Set(['DBairstow', 'n.patel']));
    expect(isCut).toBe(true);
  });
});

describe('the activity report', () => {
  it('counts expired and open launches separately, and counts every refusal in a combined event', async () => {
    const rows = await createActivity(database)({
      from: new Date(at(0)),
      now: new Date(at(9)),
      intervalMinutes: 5,
    });
    const sums = (type: string) =>
      rows
        .filter((row) => row.type === type)
        .toSorted((one, other) => one.begin - other.begin)
        .map(({ begin, count, expired, reason }) => [new Date(begin).toISOString(), count, expired, reason]);
    expect(sums('launch.url.issued.v1')).toEqual([
      [at(0), 2, 1, null],
      [at(5), 1, 0, null],
    ]);
    expect(sums('launch.token.redeemed.v1')).toEqual([[at(0), 1, 0, null]]);
    expect(sums('launch.token.refused.v1')).toEqual([[at(5), 7, 0, 'token_unknown']]);
  });
});

describe('the verdict on an unopened launch', () => {
  it('changes from "not yet" to "never" when the launch expires', async () => {
    const { entries } = await search({ correlationId: unopened }, { limit: 10 });
    const titleAt = (time: string) => verdictOf(entries, Date.parse(time)).title;
    expect(titleAt(at(3, 10))).toBe('The launch has not been opened yet');
    expect(titleAt(at(3, 11))).toBe('The launch was never opened');
  });
});
