import type { Migration } from 'kysely/migration';

/**
 * A migration of a service's schema. Processes of the previous release continue beside it: it may only add.
 * A step that ends what only earlier releases use is named `<number>-<what>-after-<release>`, where the
 * release, such as `1.4.0`, is the last one that uses it.
 */
export type ServiceMigration = Migration & {
  /**
   * What `npm run ops -- migrate --check` would refuse, each with the reason why processes of the previous
   * release work nevertheless.
   */
  readonly compatible?: Readonly<Record<string, string>>;
};

/** The migrations of a schema by their names, in alphabetical order. Each is frozen once it was released. */
export type ServiceMigrations = Readonly<Record<string, ServiceMigration>>;

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
