import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { run } from './run-command.ts';

const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-bench-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Figure = {
  readonly name: string;
  readonly unit: string;
  readonly values: number[];
  readonly goal?: object;
};

async function bench(...names: string[]): Promise<Figure[]> {
  const file = join(directory, `${names.join('-')}.json`);
  const command = run('npm', ['run', 'bench', '--', '--short', '--json', file, ...names]);
  expect([await command.exited, command.output()]).toEqual([0, expect.stringContaining('goal')]);
  const { short, figures } = JSON.parse(readFileSync(file, 'utf8'));
  expect(short).toBe(true);
  return figures;
}

describe('npm run bench, in its short form', () => {
  it('measures the launch path and tokens beside others, and reports without judging', async () => {
    const figures = await bench('launch', 'tokens');
    expect(figures.flatMap(({ values }) => values).every((value) => value > 0)).toBe(true);
    expect(figures.filter(({ goal }) => goal !== undefined).map(({ name }) => name)).toEqual([
      'RequestLaunchUrl: bare, the same work ÷ ours',
      'RequestLaunchUrl: bare, neither checks nor seal ÷ ours',
      'secureLaunch: bare, seal and page ÷ ours',
      'secureLaunch: bare, hash and script ÷ ours',
      'RequestLaunchUrl, 1000/s offered, p99',
      'RequestLaunchUrl, 2000/s offered, p99',
      'token RS256: oidc-provider ÷ ours',
      'token ES256: oidc-provider ÷ ours',
      'token EdDSA: oidc-provider ÷ ours',
    ]);
  });

  it('measures the way of an event', async () => {
    const figures = await bench('events');
    expect(figures.filter(({ goal }) => goal !== undefined).map(({ name }) => name)).toEqual([
      'outbox to audit row, drain',
      'outbox to audit row at 2500/s, p50',
      'outbox to audit row at 2500/s, p99',
    ]);
  });

  it('says which benches there are, and refuses another', async () => {
    const command = run('npm', ['run', 'bench', '--', 'lunch']);
    expect(await command.exited).toBe(1);
    expect(command.output()).toContain('There is no bench lunch.');
    expect(command.output()).toMatch(/launch, .*tokens, events/);
  });
});
