import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKnownParties, type KnownParties } from '../src/store/known-parties.ts';
import { openSchema } from '../src/store/tables.ts';
import { anEvent, bairstow } from './some-events.ts';

let storage: Awaited<ReturnType<typeof openTestStorage>>;
let parties: KnownParties;
const launchBy = (username: string, name: string, practice: { code: string; name: string }) =>
  anEvent('launch.url.issued.v1', { data: { ...bairstow, user: { username, name }, practice } });
const harbour = { code: 'A81001', name: 'Harbour Surgery' };
const hill = { code: 'B82002', name: 'Hill Surgery' };

beforeAll(async () => {
  storage = await openTestStorage();
  parties = createKnownParties(await openSchema(storage));
  await parties.record([
    launchBy('DBairstow', 'Dr David Bairstow', harbour),
    launchBy('DBairstow', 'Dr David Bairstow', harbour),
    launchBy('jb', 'Ms Jane Bairstow', hill),
    launchBy('bairstow', 'Mr Kim Lee', hill),
    anEvent('access.token.issued.v1'),
  ]);
});
afterAll(() => storage.close());

const names = async (text: string) => (await parties.users(text)).map(({ name }) => name);

describe('a user', () => {
  it.each([
    ['the username in any case', 'dbairstow', ['DBairstow']],
    ['part of the name', 'David', ['DBairstow']],
    ['the full name with its title', 'Dr David Bairstow', ['DBairstow']],
    ['the full name with another title', 'Mr David Bairstow', ['DBairstow']],
    ['a given name', 'Jane', ['jb']],
  ])('is found by %s', async (_what, text, expected) => {
    expect(await names(text)).toEqual(expected);
  });

  it('is the only result for the exact username, even if the name of another user contains the same word', async () => {
    expect(await names('Bairstow')).toEqual(['bairstow']);
    expect(await names('Ms Bairstow Jane')).toEqual(['jb']);
  });

  it('is not found by an unknown name', async () => {
    expect(await names('Whitfield')).toEqual([]);
  });

  it('is not found by the wildcards of an SQL pattern', async () => {
    for (const text of ['%', '_', "'", '\\']) expect(await names(text)).toEqual([]);
  });
});

describe('a practice', () => {
  it('is found by its code or by words of its name', async () => {
    const codes = async (text: string) => (await parties.practices(text)).map(({ practice }) => practice);
    expect(await codes('a81001')).toEqual(['A81001']);
    expect(await codes('harbour')).toEqual(['A81001']);
    expect(await codes('Surgery')).toEqual(['A81001', 'B82002']);
  });
});
