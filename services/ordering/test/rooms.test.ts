import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const src = new URL('../src/', import.meta.url).pathname;
const sources = globSync('**/*.ts', { cwd: src }).toSorted();
const read = (path: string) => readFileSync(join(src, path), 'utf8');

/** Returns the imports of a source, including type imports: paths below `src`, or names of packages. */
function importsOf(path: string): string[] {
  const imports = read(path).matchAll(
    /^(?:import|export)\b[^;'=(]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm,
  );
  return [...imports].map(([, named, dynamic]) => {
    const from = named ?? dynamic ?? '';
    return from.startsWith('.') ? normalize(join(dirname(path), from)) : from;
  });
}

const roomOf = (path: string) => (sources.includes(path) && path.includes('/') ? path.split('/')[0] : '');

/**
 * The rooms that each room may import from, besides itself. The sources outside of them combine the rooms.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  http: ['work', 'present', 'domain', 'store', 'errors.ts'],
  work: ['domain', 'store'],
  present: ['domain'],
  store: ['domain'],
  domain: [],
};

describe('the rooms of the service', () => {
  it.each(Object.entries(mayImport))('%s imports from no other room than it may: %j', (room, allowed) => {
    const own = sources.filter((path) => roomOf(path) === room);
    expect(own).not.toEqual([]);
    const forbidden = own.flatMap((path) =>
      importsOf(path)
        .filter((imported) => sources.includes(imported))
        .filter((imported) => ![room, ...allowed].includes(roomOf(imported) || imported))
        .map((imported) => `${path}: ${imported}`),
    );
    expect(forbidden).toEqual([]);
  });

  it('have no circle of imports', () => {
    const circles = sources.filter((path) => reachedFrom(path).has(path));
    expect(circles).toEqual([]);
  });

  it('know Express and the HTTP library in http alone, and the database in store', () => {
    const rules: readonly (readonly [room: string, packages: RegExp])[] = [
      ['domain', /^(express|kysely|@clinical-launch\/(?!contracts$))/],
      ['present', /^(express|kysely|@clinical-launch\/(?!contracts$))/],
      ['work', /^(express|kysely|@clinical-launch\/service\/)/],
      ['store', /^(express|@clinical-launch\/service)/],
    ];
    const forbidden = rules.flatMap(([room, packages]) =>
      sources
        .filter((path) => roomOf(path) === room)
        .flatMap((path) =>
          importsOf(path)
            .filter((name) => packages.test(name))
            .map((name) => `${path}: ${name}`),
        ),
    );
    expect(forbidden).toEqual([]);
  });

  it('begin transactions in the use cases alone, one each', () => {
    const transactions = sources
      .map((path) => ({ path, count: read(path).split('.transaction()').length - 1 }))
      .filter(({ count }) => count > 0);
    expect(transactions.filter(({ path, count }) => roomOf(path) !== 'work' || count !== 1)).toEqual([]);
    expect(transactions).not.toEqual([]);
  });

  it('have migrations that are SQL alone', () => {
    const migrations = sources.filter((path) => path.startsWith('store/migrations/'));
    expect(migrations).not.toEqual([]);
    expect([...new Set(migrations.flatMap(importsOf))].toSorted()).toEqual(['kysely', 'kysely/migration']);
  });
});

/** Returns every source that a source imports, directly or indirectly. */
function reachedFrom(path: string): Set<string> {
  const reached = new Set<string>();
  const next = importsOf(path);
  for (let imported = next.pop(); imported !== undefined; imported = next.pop()) {
    if (reached.has(imported) || !sources.includes(imported)) continue;
    reached.add(imported);
    next.push(...importsOf(imported));
  }
  return reached;
}
