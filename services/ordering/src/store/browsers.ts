import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import type { Selectable } from 'kysely';
import type { ChosenWindow, LaunchElsewhere, WindowSubject } from '../domain/chosen-window.ts';
import { jsonb, type OrderingDatabase, type OrderingTables, type OrderingTransaction } from './database.ts';
import { subjectKeyOf } from './keys.ts';

/**
 * The milliseconds after which a browser is deleted (since it last chose a window), and an opened launch
 * (since it was opened). The sessions of launches end much earlier.
 */
const retentionMs = 2 * 86_400_000;

/** Returns the chosen windows of these browsers, in the order of their keys. Ignores unknown keys. */
export async function findBrowsers(
  database: OrderingDatabase,
  keys: readonly string[],
): Promise<ChosenWindow[]> {
  if (keys.length === 0) return [];
  const rows = await ofBrowsers(database, keys).execute();
  return rows.map(toChosenWindow);
}

/**
 * Returns the chosen windows, as `findBrowsers` does. Until the transaction ends, no other transaction can
 * choose a window or submit in these browsers.
 */
export async function lockBrowsers(
  tx: OrderingTransaction,
  keys: readonly string[],
): Promise<ChosenWindow[]> {
  if (keys.length === 0) return [];
  const rows = await ofBrowsers(tx, keys).forUpdate().execute();
  return rows.map(toChosenWindow);
}

export type SentWindow = {
  readonly browserKeys: readonly string[];
  /** The token in the form; empty if the form has no token. */
  readonly token: string;
};

/**
 * Returns whether a form was sent from the chosen window. Until the transaction ends, no other window can be
 * chosen, so a choice waits for the submission. If the request has several browser cookies, the window must
 * be chosen in all of them.
 */
export async function isFromChosen(
  tx: OrderingTransaction,
  context: LaunchContext,
  { browserKeys, token }: SentWindow,
): Promise<boolean> {
  if (browserKeys.length === 0) return false;
  const rows = await ofBrowsers(tx, browserKeys).forShare().execute();
  const subjectKey = subjectKeyOf(context);
  return rows.length > 0 && rows.every((row) => row.subject_key === subjectKey && row.token === token);
}

/** Selects the rows in the order of their keys, so that two transactions cannot deadlock. */
const ofBrowsers = (database: OrderingDatabase, keys: readonly string[]) =>
  database
    .selectFrom('browsers')
    .selectAll()
    .where('key', 'in', [...keys])
    .orderBy('key');

/** Stores the chosen window of these browsers. */
export async function storeChoice(
  tx: OrderingTransaction,
  { launchId, subjectKey, userKey, who }: WindowSubject,
  { browserKeys, token, now }: { browserKeys: readonly string[]; token: string; now: number },
): Promise<void> {
  const values = {
    token,
    subject_key: subjectKey,
    user_key: userKey,
    launch_id: launchId,
    who: jsonb(who),
    chosen_at: new Date(now).toISOString(),
  };
  await tx
    .insertInto('browsers')
    .values(browserKeys.map((key) => ({ key, ...values })))
    .onConflict((conflict) => conflict.column('key').doUpdateSet(values))
    .execute();
}

/**
 * Finds out when the same user opened or chose a launch for another subject in another browser, after `since`
 * (ISO 8601 instant).
 */
export async function findElsewhere(
  database: OrderingDatabase,
  { subjectKey, userKey }: Pick<WindowSubject, 'subjectKey' | 'userKey'>,
  { browserKeys, since }: { readonly browserKeys: readonly string[]; readonly since: string },
): Promise<LaunchElsewhere | undefined> {
  const row = await database
    .selectFrom('browsers')
    .select('chosen_at')
    .where('user_key', '=', userKey)
    .where('subject_key', '!=', subjectKey)
    .where('key', 'not in', [...browserKeys])
    .where('chosen_at', '>', new Date(since))
    .orderBy('chosen_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { at: row.chosen_at.toISOString() };
}

/** Returns whether the first page of a launch was shown before. */
export async function isOpened(database: OrderingDatabase, launchId: string): Promise<boolean> {
  const row = await database
    .selectFrom('opened_launches')
    .select('launch_id')
    .where('launch_id', '=', launchId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores that the first page of a launch is shown. Returns false if it was shown before. */
export async function storeOpening(tx: OrderingTransaction, launchId: string, now: number): Promise<boolean> {
  const row = await tx
    .insertInto('opened_launches')
    .values({ launch_id: launchId, opened_at: new Date(now).toISOString() })
    .onConflict((conflict) => conflict.column('launch_id').doNothing())
    .returning('launch_id')
    .executeTakeFirst();
  if (row !== undefined) await forgetOld(tx, now);
  return row !== undefined;
}

/**
 * Deletes old browsers and opened launches. Skips rows that another transaction has locked, so that two
 * deletions cannot deadlock.
 */
async function forgetOld(tx: OrderingTransaction, now: number): Promise<void> {
  const before = new Date(now - retentionMs);
  await tx
    .deleteFrom('browsers')
    .where('key', 'in', (old) =>
      old.selectFrom('browsers').select('key').where('chosen_at', '<', before).forUpdate().skipLocked(),
    )
    .execute();
  await tx
    .deleteFrom('opened_launches')
    .where('launch_id', 'in', (old) =>
      old
        .selectFrom('opened_launches')
        .select('launch_id')
        .where('opened_at', '<', before)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
}

const toChosenWindow = (row: Selectable<OrderingTables['browsers']>): ChosenWindow => ({
  browserKey: row.key,
  token: row.token,
  subjectKey: row.subject_key,
  userKey: row.user_key,
  launchId: row.launch_id,
  who: row.who,
  chosenAt: row.chosen_at.toISOString(),
});
