import type { Migration } from 'kysely/migration';

/**
 * The migrations of a schema by their names, in alphabetical order. Each is frozen once it was released, and
 * only adds, because processes of the release before continue beside it. A step that removes is named
 * `<number>-<what>-after-<release>`, where the release, such as `1.4.0`, is the last one that uses it.
 */
export type ServiceMigrations = Readonly<Record<string, Migration>>;

/**
 * Returns the last release that works beside a migration and after it, from the name of the migration;
 * undefined if the migration only adds.
 */
export const lastReleaseBefore = (migration: string): string | undefined =>
  /-after-(\d+\.\d+\.\d+)$/.exec(migration)?.[1];

/** Compares two releases such as `1.4.0` by number: negative if the first is older. */
export function compareReleases(one: string, other: string): number {
  const [first, second] = [one, other].map((release) => release.split(/[.+-]/).map(Number));
  return (first ?? []).slice(0, 3).reduce((so, number, at) => so || number - (second?.[at] ?? 0), 0);
}
