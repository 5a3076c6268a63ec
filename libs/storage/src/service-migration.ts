import { readdirSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The migrations of a schema by name, in alphabetical order. A released migration must not change. No
 * migration removes what the previous release uses, because processes of that release still run. A migration
 * that removes something is named `<number>-<what>-after-<release>`. That release, such as `1.4.0`, is the
 * last release that uses the removed table or column.
 */
export type ServiceMigrations = Readonly<Record<string, Migration>>;

/** Returns the migrations of a folder, one for each `.sql` file, by the names of the files. */
export function readMigrations(folder: URL): ServiceMigrations {
  const files = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  return Object.fromEntries(
    files.toSorted().map((file) => [file.slice(0, -'.sql'.length), migrationOf(new URL(file, folder))]),
  );
}

const migrationOf = (file: URL): Migration => ({
  async up(db) {
    // Uses EXECUTE, because PGlite accepts one statement per query. EXECUTE runs all statements of a text,
    // and later statements see the objects that earlier statements created.
    await sql`do ${sql.lit(`begin execute ${quote(readFileSync(file, 'utf8'))}; end`)}`.execute(db);
  },
});

/** Returns an SQL literal. Backslashes need no escape (`standard_conforming_strings`). */
const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;

/**
 * Returns the last release that uses the tables or columns that a migration removes, from the name of the
 * migration. Returns undefined if the migration only adds.
 */
export const lastReleaseBefore = (migration: string): string | undefined =>
  /-after-(\d+\.\d+\.\d+)$/.exec(migration)?.[1];

/** Compares two releases such as `1.4.0` by number: negative if the first is older. */
export function compareReleases(one: string, other: string): number {
  const [first, second] = [one, other].map((release) => release.split(/[.+-]/).map(Number));
  return (first ?? []).slice(0, 3).reduce((so, number, at) => so || number - (second?.[at] ?? 0), 0);
}
