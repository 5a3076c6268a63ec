import { readFileSync } from 'node:fs';
import { redisAccess } from '@clinical-launch/tickets/redis';
import { describe, expect, it } from '@jest/globals';
import { purposesOf } from '../../tests/system/purposes-of.ts';
import { brokerAccess, databaseAccess, type ServiceName, serviceNames } from '../src/service-access.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

function databaseOf(service: ServiceName): string {
  const access = databaseAccess[service];
  if (access === undefined) return 'none';
  const limit = access.privileges.includes('update') ? '' : `, ${access.privileges.join(' and ')} only`;
  return `\`${access.schema}\`${limit}`;
}

function brokerOf(service: ServiceName): string {
  const access = brokerAccess[service];
  if (access === undefined) return 'none';
  const queues = access.consumes.map((name) => `\`${name}\``).join(', ');
  const consumes = queues === '' ? '' : `; consumes ${queues} and writes dead letters`;
  return `publishes ${access.publishes.length} types${consumes}`;
}

describe('docs/threat-model.md, “What one broken service reaches”', () => {
  const [, reaches = ''] = read('docs/threat-model.md').split('\n## What one broken service reaches\n');
  const rows = new Map(
    [...reaches.matchAll(/^\| ([a-z-]+) \|(.*)\|$/gm)].map(([, service = '', cells = '']) => [
      service,
      cells.split('|').map((cell) => cell.trim()),
    ]),
  );

  it.each(serviceNames)('has what %s holds and may do, as the tables of the code have it', (service) => {
    expect(rows.get(service)?.slice(0, 4)).toEqual([
      purposesOf(service).join(', ') || 'none',
      databaseOf(service),
      redisAccess[service].map(({ does }) => does).join('; '),
      brokerOf(service),
    ]);
  });
});
