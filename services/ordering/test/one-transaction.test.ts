import type { Storage } from '@clinical-launch/storage/storage';
import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Kysely, type KyselyPlugin, PostgresQueryCompiler } from 'kysely';
import { openOrderingDatabase } from '../src/store/database.ts';
import { anOrderToChange, locationOf, openChange, reviewed, stored } from './changes.ts';
import {
  type Application,
  aLaunchContext,
  aPatient,
  chooseAndReview,
  fieldValues,
  startOrdering,
} from './launches.ts';

/** The SQL of every query that the application executes. */
const queries: string[] = [];
let application: Application;
beforeAll(async () => {
  application = await startOrdering(openRecordedStorage);
});
afterAll(() => application.stop());

async function openRecordedStorage(): Promise<Storage> {
  const storage = await openTestStorage();
  return {
    ...storage,
    open: async <Tables extends Record<string, object>>(
      ...[schema, migrations]: Parameters<Storage['open']>
    ): Promise<Kysely<Tables>> => {
      return (await storage.open<Tables>(schema, migrations)).withPlugin(recorder);
    },
  };
}

const recorder: KyselyPlugin = {
  transformQuery({ node, queryId }) {
    queries.push(new PostgresQueryCompiler().compileQuery(node, queryId).sql);
    return node;
  },
  transformResult: async ({ result }) => result,
};

/**
 * Sends one HTTP request. Returns the response, and counts its queries that search for repeats, write, or
 * update a draft.
 */
async function asksOf(send: () => Promise<Response>) {
  queries.length = 0;
  const response = await send();
  // Ignores queries of the outbox, because the relay of the outbox also makes such queries.
  const own = queries.filter((sql) => !sql.includes('outbox'));
  const count = (form: RegExp) => own.filter((sql) => form.test(sql)).length;
  const asked = {
    searches: count(/with requested as/),
    writes: count(/^(insert|update|delete)/),
    drafts: count(/^update "ordering"."drafts"/),
  };
  return { response, asked };
}

const chosen = () =>
  chooseAndReview(application, ['DHBA1C', 'HFBC'], aLaunchContext({ request: { patient: aPatient() } }));

describe('a GET request for a page', () => {
  it.each(['', 'review', 'review?check'])(
    'writes nothing and searches for repeats once: %j',
    async (page) => {
      const launch = await chosen();
      const { response, asked } = await asksOf(() => launch.send(page));
      expect([response.status, asked]).toEqual([200, { searches: 1, writes: 0, drafts: 0 }]);
    },
  );
});

describe('the review of a request that is being changed', () => {
  it('stores no draft until its form is submitted', async () => {
    const ordered = await anOrderToChange(application, ['HFBC']);
    const launch = await openChange(application, ordered);
    const fields = await reviewed(launch);
    const database = await openOrderingDatabase(application.storage);
    const drafts = () =>
      database.selectFrom('drafts').select('version').where('launch_id', '=', launch.launchId).execute();
    expect(await drafts()).toEqual([]);
    expect(await reviewed(launch)).toEqual(fields);
    const sent = await launch.post(`${launch.at}review`, [
      ...fields,
      ['details', 'Tired'],
      ['action', 'submit'],
    ]);
    expect(locationOf(sent)).toContain('/orders/');
    expect(await stored(application, ordered.guid)).toMatchObject({ version: 2, clinicalDetails: 'Tired' });
    expect(await drafts()).toHaveLength(1);
  });
});

describe('the submission of an order', () => {
  it('queries repeated tests once, and updates the draft once', async () => {
    const launch = await chosen();
    const [version = ''] = fieldValues(await launch.page('review'), 'version');
    const { response, asked } = await asksOf(() =>
      launch.post('review', [
        ['version', version],
        ['details', 'Tired'],
        ['action', 'submit'],
      ]),
    );
    expect(locationOf(response)).toContain('/orders/');
    expect(asked).toMatchObject({ searches: 1, drafts: 1 });
  });
});
