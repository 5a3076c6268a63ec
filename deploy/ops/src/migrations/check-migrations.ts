import { compareReleases, lastReleaseBefore } from '@clinical-launch/storage';
import type { SchemaDescription } from '@clinical-launch/storage/schema';
import { breakingChanges, type RowRights, revokedRights } from './breaking-changes.ts';
import type { ServiceSchema } from './service-migrations.ts';
import { type TrialDatabase, withTrialDatabase } from './trial-database.ts';

/** What a release offers to its processes: `released-schemas.json` describes the newest release. */
export type ReleasedSchemas = {
  /** Such as `1.4.0`. */
  readonly release: string;
  readonly schemas: Readonly<Record<string, ReleasedSchema>>;
};

export type ReleasedSchema = SchemaDescription & {
  /** The names of its migrations. */
  readonly migrations: readonly string[];
  readonly rights: RowRights;
};

type Check = {
  /** The names of the migrations that the database has; the others are checked. */
  readonly applied: readonly string[];
  /** The release whose processes run beside the migrations; none to accept every declared last step. */
  readonly running?: string;
};

/**
 * Applies the pending migrations of a schema to a trial database, one by one, and returns why processes of
 * the release before may not work beside each: sentences that name schema and migration.
 */
export async function faultsOfMigrations(
  trial: TrialDatabase,
  service: ServiceSchema,
  check: Check,
): Promise<readonly string[]> {
  const { schema, migrations } = service;
  const done = new Set(check.applied);
  const pending = Object.keys(migrations).filter((name) => !done.has(name));
  if (pending.length === 0) return [];
  const faults: string[] = [];
  let before = await describeAt(trial, service, done);
  for (const name of pending.toSorted()) {
    done.add(name);
    const after = await describeAt(trial, service, done);
    const found = before === undefined || after === undefined ? [] : breakingChanges(before, after);
    const last = lastReleaseBefore(name);
    const own =
      last === undefined
        ? faultsOfAddition(found, migrations[name]?.compatible ?? {})
        : faultsOfLastStep(last, check.running);
    faults.push(...own.map((fault) => `${schema}: ${name} ${fault}`));
    before = after;
  }
  await trial.drop(schema);
  return faults;
}

/** Returns the findings that are not explained, and explanations of what was not found. */
function faultsOfAddition(found: readonly string[], compatible: Readonly<Record<string, string>>) {
  return [
    ...found.filter((one) => !Object.hasOwn(compatible, one)),
    ...Object.keys(compatible)
      .filter((one) => !found.includes(one))
      .map((one) => `is said to be compatible although it "${one}", which it does not do`),
  ];
}

function faultsOfLastStep(last: string, running: string | undefined): string[] {
  if (running === undefined || compareReleases(running, last) > 0) return [];
  return [`must wait until no process of release ${last} runs: release ${running} runs beside it`];
}

/**
 * Returns why processes of a release may not work beside this one's migrations and rights: `released`
 * describes that release.
 */
export async function faultsSince(
  trial: TrialDatabase,
  { release, schemas }: ReleasedSchemas,
  services: readonly ServiceSchema[],
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const service of services) {
    const { schema, migrations, rights } = service;
    const released = schemas[schema];
    if (released === undefined) continue;
    const gone = released.migrations.filter((name) => migrations[name] === undefined);
    faults.push(...gone.map((name) => `${schema}: ${name} of release ${release} is missing`));
    if (gone.length > 0) continue;
    const check = { applied: released.migrations, running: release };
    faults.push(...(await faultsOfMigrations(trial, service, check)));
    // Rights end together with what a declared last step removes.
    const hasLastStep = Object.keys(migrations).some(
      (name) => !released.migrations.includes(name) && lastReleaseBefore(name) !== undefined,
    );
    const revoked = revokedRights(Object.keys(released.tables), released.rights, rights);
    const unexplained = hasLastStep ? [] : faultsOfAddition(revoked, service.compatible ?? {});
    faults.push(...unexplained.map((fault) => `${schema}: this release ${fault}`));
  }
  return faults;
}

/** Describes what this release offers, for `released-schemas.json`. */
export const describeRelease = (
  release: string,
  services: readonly ServiceSchema[],
): Promise<ReleasedSchemas> => withTrialDatabase((trial) => describeReleaseIn(trial, release, services));

/** Describes what a release offers. */
export async function describeReleaseIn(
  trial: TrialDatabase,
  release: string,
  services: readonly ServiceSchema[],
): Promise<ReleasedSchemas> {
  const schemas: [string, ReleasedSchema][] = [];
  for (const service of services) {
    const migrations = Object.keys(service.migrations).toSorted();
    const described = await describeAt(trial, service, new Set(migrations));
    await trial.drop(service.schema);
    if (described !== undefined) {
      schemas.push([service.schema, { migrations, rights: service.rights, ...described }]);
    }
  }
  return { release, schemas: Object.fromEntries(schemas) };
}

/** Applies migrations and describes the schema; undefined without any. */
async function describeAt(
  trial: TrialDatabase,
  { schema, migrations }: ServiceSchema,
  names: ReadonlySet<string>,
): Promise<SchemaDescription | undefined> {
  if (names.size === 0) return undefined;
  const wanted = Object.entries(migrations).filter(([name]) => names.has(name));
  return trial.describeWith(schema, Object.fromEntries(wanted));
}
