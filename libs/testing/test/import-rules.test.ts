import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const root = new URL('../../../', import.meta.url).pathname;
const services = globSync('services/*', { cwd: root }).map((path) => path.slice('services/'.length));

/**
 * Whom each package may import of ours; what is not here may import nothing. `types` of a package vanish when it
 * runs.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'libs/contracts': [],
  'libs/tickets': ['contracts'],
  'libs/events': ['contracts'],
  'libs/storage': ['contracts'],
  // Its entries `parts` and `process` put the parts of a process together; the rest knows contracts alone.
  'libs/service': ['contracts', 'events', 'storage', 'tickets'],
  'libs/pms-client': ['contracts'],
  'libs/testing': ['contracts', 'events', 'service', 'storage', 'tickets', 'pms-client'],
  services: ['contracts', 'events', 'service', 'storage', 'tickets', 'pms-client'],
  'deploy/simulators': ['contracts', 'service', 'pms-client'],
  'deploy/platform': ['contracts', 'service', 'simulators', ...services],
};

/** What a source imports of ours, and every path that leads out of its own package. */
function importsOf(path: string): string[] {
  const source = readFileSync(`${root}${path}`, 'utf8');
  const imports = source.matchAll(/^(?:import|export)( type)?\b[^;']*'([^']+)'|\bimport\('([^']+)'\)/gm);
  return [...imports].flatMap(([, type, from, dynamic]) => {
    const specifier = from ?? dynamic ?? '';
    const [, name] = /^@clinical-launch\/([^/]+)/.exec(specifier) ?? [];
    if (name !== undefined) return [type === undefined ? name : `types of ${name}`];
    if (!specifier.startsWith('.')) return [];
    const target = new URL(specifier, `file:///${path}`).pathname.slice(1);
    return packageOf(target) === packageOf(path) ? [] : [target];
  });
}

const packageOf = (path: string) => path.split('/').slice(0, 2).join('/');

describe('who may import whom', () => {
  const packages = globSync(['libs/*', 'services/*', 'deploy/simulators', 'deploy/platform'], { cwd: root });

  it.each(packages)('%s imports only what it may', (name) => {
    const allowed = mayImport[name.startsWith('services/') ? 'services' : name] ?? [];
    const sources = globSync(`${name}/src/**/*.ts`, { cwd: root });
    expect(sources).not.toEqual([]);
    const forbidden = sources.flatMap((path) =>
      importsOf(path)
        .filter(
          (imported) => !allowed.includes(imported) && !allowed.includes(imported.replace('types of ', '')),
        )
        .map((imported) => `${path}: ${imported}`),
    );
    expect(forbidden).toEqual([]);
  });
});
