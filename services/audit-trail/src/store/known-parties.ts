import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { isLaunchUrlIssued } from '../domain/audit-row.ts';
import type { AuditDatabase, AuditTables } from './tables.ts';

/** A user that an event names, and the practice in the same event. */
type KnownUser = {
  readonly name: string;
  readonly display: string;
  readonly practice: string;
  readonly practiceName: string;
};

export type KnownParties = ReturnType<typeof createKnownParties>;

/** The maximum number of rows that a process caches. With the cache, most batches need no SQL statement. */
const maxRemembered = 10_000;
/** The maximum number of choices that are returned, because nobody reads a longer list. */
const maxFound = 20;
const longest = 300;

/**
 * Creates the record of the users and practices that events name. Readers can find them by names such as "Dr
 * Bairstow" and "Harbour Surgery", without knowing the username or code. Also records the clients that have
 * launched, because the hash of a caller's identifier includes the client.
 */
export function createKnownParties(database: AuditDatabase) {
  const rememberUsers = remembering<AuditTables['known_user']>((rows) =>
    database
      .insertInto('known_user')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['name', 'practice']).doNothing())
      .execute(),
  );
  const rememberClients = remembering<AuditTables['launching_client']>((rows) =>
    database
      .insertInto('launching_client')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['issuer', 'client_id']).doNothing())
      .execute(),
  );
  const matching = async <Row>(
    columns: string,
    { exact, words }: { exact: string; words: string },
    text: string,
  ) => {
    const { rows } = await sql<Row>`select distinct ${sql.raw(columns)} from audit_trail.known_user
      where lower(${sql.ref(exact)}) = ${text.toLowerCase()}
        or ((select bool_and(position(word in lower(${sql.ref(words)})) > 0)
              from unnest(${wordsOf(text)}::text[]) as word)
            and not exists (select from audit_trail.known_user where lower(${sql.ref(exact)}) = ${text.toLowerCase()}))
      order by 1 limit ${maxFound}`.execute(database);
    return rows;
  };
  const practice = 'practice, practice_name as "practiceName"';
  return {
    async record(events: readonly CloudEvent[]): Promise<void> {
      await rememberClients(events.flatMap(clientOf));
      await rememberUsers(events.flatMap(userOf));
    },
    users: (text: string) =>
      matching<KnownUser>(`name, display, ${practice}`, { exact: 'name', words: 'display' }, text),
    /** Returns the practice with this code, or else the practices whose name contains every word. */
    practices: (text: string) =>
      matching<Pick<KnownUser, 'practice' | 'practiceName'>>(
        practice,
        { exact: 'practice', words: 'practice_name' },
        text,
      ),
  };
}

/** Returns a function that inserts the rows that this process has not inserted yet. */
function remembering<Row extends object>(insert: (rows: readonly Row[]) => Promise<unknown>) {
  const remembered = new LRUCache<string, true>({ max: maxRemembered });
  return async (rows: readonly Row[]) => {
    const all = new Map(rows.map((row) => [JSON.stringify(row), row]));
    const fresh = [...all].filter(([key]) => !remembered.has(key));
    if (fresh.length === 0) return;
    await insert(fresh.map(([, row]) => row));
    for (const [key] of fresh) remembered.set(key, true);
  };
}

/** The titles that a search ignores, because the stored title may differ. */
const titles = /^(dr|mr|mrs|ms|miss|mx|prof|professor|doctor)\.?$/;

const wordsOf = (text: string): string[] => {
  const words = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  const names = words.filter((word) => !titles.test(word));
  return names.length > 0 ? names : words;
};

function userOf({ data: { user, practice } }: CloudEvent): AuditTables['known_user'][] {
  if (user === undefined) return [];
  const short = (text = '') => Array.from(text).slice(0, longest).join('');
  return [
    {
      name: short(user.username),
      display: short(user.name),
      practice: short(practice?.code),
      practice_name: short(practice?.name),
    },
  ];
}

const clientOf = (event: CloudEvent): AuditTables['launching_client'][] =>
  isLaunchUrlIssued(event) ? [{ issuer: event.data.issuer, client_id: event.data.clientId }] : [];
