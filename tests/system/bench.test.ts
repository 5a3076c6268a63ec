import { describe, expect, it } from '@jest/globals';
import { run } from './run-command.ts';

describe('npm run bench', () => {
  it('rejects an unknown bench, and lists the existing benches', async () => {
    const command = run('npm', ['run', 'bench', '--', 'lunch']);
    expect(await command.exited).toBe(1);
    expect(command.output()).toContain('Unknown bench: lunch.');
    expect(command.output()).toMatch(/launch, .*tokens, events/);
  });
});
