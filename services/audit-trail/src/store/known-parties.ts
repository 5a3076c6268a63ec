import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { AuditDatabase } from './tables.ts';

/** A user that an event names, and the practice in the same event. */
type KnownUser = {
  readonly name: string;
  readonly display: string;
  readonly practice: string;
  readonly practiceName: string;
};

type KnownPractice = { readonly practice: string; readonly practiceName: string };

/**
 * The users that events name, and their practices. Readers can find users and practices by names such as "Dr
 * Bairstow" and "Harbour Surgery", without knowing the username or code.
 */
export type KnownParties = {
  record(events: readonly CloudEvent[]): Promise<void>;
  users(text: string): Promise<readonly KnownUser[]>;
  /** Returns the practice with this code, or else the practices whose name contains every word. */
  practices(text: string): Promise<readonly KnownPractice[]>;
};

/** The maximum number of users that a process caches. With the cache, most batches need no SQL statement. */
const maxRemembered = 10_000;
/** The maximum number of choices that are returned, because nobody reads a longer list. */
const maxFound = 20;
const longest = 300;

/** Creates the record of users and practices. */
export function createKnownParties(database: AuditDatabase): KnownParties {
  const remembered = new LRUCache<string, true>({ max: maxRemembered });
  const keyOf = (user: KnownUser) => JSON.stringify([user.name, user.practice]);
  const matching = <Row>(columns: string, { exact, words }: { exact: string; words: string }, text: string) =>
    sql<Row>`select distinct ${sql.raw(columns)} from audit_trail.known_user
      where lower(${sql.ref(exact)}) = ${text.toLowerCase()}
        or ((select bool_and(position(word in lower(${sql.ref(words)})) > 0)
              from unnest(${wordsOf(text)}::text[]) as word)
            and not exists (select from audit_trail.known_user where lower(${sql.ref(exact)}) = ${text.toLowerCase()}))
      order by 1 limit ${maxFound}`;
  return {
    async record(events) {
      const fresh = new Map(
        events
          .flatMap(userOf)
          .filter((user) => !remembered.has(keyOf(user)))
          .map((user) => [keyOf(user), user]),
      );
      if (fresh.size === 0) return;
      await database
        .insertInto('known_user')
        .values(
          [...fresh.values()].map(({ practiceName, ...user }) => ({ ...user, practice_name: practiceName })),
        )
        .onConflict((conflict) => conflict.columns(['name', 'practice']).doNothing())
        .execute();
      for (const key of fresh.keys()) remembered.set(key, true);
    },
    async users(text) {
      const columns = 'name, display, practice, practice_name as "practiceName"';
      const { rows } = await matching<KnownUser>(columns, { exact: 'name', words: 'display' }, text).execute(
        database,
      );
      return rows;
    },
    async practices(text) {
      const columns = 'practice, practice_name as "practiceName"';
      const { rows } = await matching<KnownPractice>(
        columns,
        { exact: 'practice', words: 'practice_name' },
        text,
      ).execute(database);
      return rows;
    },
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

function userOf({ data }: CloudEvent): KnownUser[] {
  const { user, practice } = data;
  if (user === undefined) return [];
  const short = (text: string | undefined) =>
    Array.from(text ?? '')
      .slice(0, longest)
      .join('');
  return [
    {
      name: short(user.username),
      display: short(user.name),
      practice: short(practice?.code),
      practiceName: short(practice?.name),
    },
  ];
}

type LaunchingClient = { readonly issuer: string; readonly clientId: string };

/**
 * The clients that have launched. These clients are stored, because the hash of a caller's identifier
 * includes the client.
 */
export type LaunchingClients = { record(clients: readonly LaunchingClient[]): Promise<void> };

/**
 * Creates the store of launching clients. There are few clients, so each process caches the clients that it
 * has stored.
 */
export function createLaunchingClients(database: AuditDatabase): LaunchingClients {
  const known = new Set<string>();
  const keyOf = ({ issuer, clientId }: LaunchingClient) => JSON.stringify([issuer, clientId]);
  return {
    async record(clients) {
      const fresh = new Map(clients.filter((one) => !known.has(keyOf(one))).map((one) => [keyOf(one), one]));
      if (fresh.size === 0) return;
      await database
        .insertInto('launching_client')
        .values([...fresh.values()].map(({ issuer, clientId }) => ({ issuer, client_id: clientId })))
        .onConflict((conflict) => conflict.columns(['issuer', 'client_id']).doNothing())
        .execute();
      for (const key of fresh.keys()) known.add(key);
    },
  };
}
