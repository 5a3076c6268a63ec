import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Gives each practice with a local code its own key for every issuer and client. Before, all clients shared
 * one key for one local code. The SQL is frozen: it does not follow later changes of `keys.ts`.
 *
 * Favourites and order sets do not record which client added them. Each client with a request of the practice
 * gets a copy. Those of a practice without any request cannot be assigned and stay under the old key.
 */
export const bindLocalPractices: Migration = {
  async up(db) {
    // The hashed text is the output of `JSON.stringify` for a list of strings.
    await sql`create table ordering.local_practices as
      select distinct issuer, client_id, practice_system, practice_code, practice_key as old_key,
        encode(sha256(convert_to(
          '[' || to_json(issuer)::text || ',' || to_json(client_id)::text || ','
            || to_json(practice_system)::text || ',' || to_json(practice_code)::text || ']',
          'UTF8')), 'hex') as new_key
      from ordering.test_requests
      where practice_system <> 'ods-organization-code'`.execute(db);
    await sql`insert into ordering.favourites (practice_key, code, added_by, added_at)
      select new_key, code, added_by, added_at
      from ordering.favourites join ordering.local_practices on practice_key = old_key`.execute(db);
    await sql`insert into ordering.practice_sets (id, practice_key, name, tests, added_by, added_at)
      select gen_random_uuid(), new_key, name, tests, added_by, added_at
      from ordering.practice_sets join ordering.local_practices on practice_key = old_key`.execute(db);
    for (const table of ['favourites', 'practice_sets']) {
      await sql`delete from ${sql.id('ordering', table)}
        where practice_key in (select old_key from ordering.local_practices)`.execute(db);
    }
    // A lexeme of a practice's list begins with eight characters of the key and a colon.
    await sql`update ordering.test_requests request
      set practice_key = new_key,
        words = array_to_tsvector(array(
          select case
            when starts_with(lexeme, left(old_key, 8) || ':') then left(new_key, 8) || substr(lexeme, 9)
            else lexeme
          end
          from unnest(tsvector_to_array(words)) lexeme))
      from ordering.local_practices practice
      where (request.issuer, request.client_id, request.practice_system, request.practice_code)
        = (practice.issuer, practice.client_id, practice.practice_system, practice.practice_code)`.execute(
      db,
    );
    await sql`drop table ordering.local_practices`.execute(db);
  },
};
