import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { Command } from '../src/command.ts';
import { runOps } from '../src/run.ts';
import { tools } from '../src/tools.ts';

/** Every command, by the words that call it. */
const commands: readonly (readonly [string, Command])[] = Object.entries(tools).flatMap(([name, tool]) =>
  'run' in tool
    ? [[name, tool] as const]
    : Object.entries(tool.commands).map(([command, described]) => [`${name} ${command}`, described] as const),
);

/** Runs a command line in this process, without settings. */
async function run(...args: string[]) {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const code = await runOps({ args, environment: {}, terminal: { output, errors }, now: 0 });
  return { code, output: String(output.read() ?? ''), errors: String(errors.read() ?? '') };
}

describe('npm run ops', () => {
  it('contains all tools of the operator', () => {
    expect(Object.keys(tools)).toEqual([
      'registry',
      'deliveries',
      'dead-letters',
      'launches',
      'audit',
      'conformance',
      'catalogue',
      'migrate',
      'secrets',
      'deploy',
      'access',
    ]);
  });

  it('prints help for itself and each tool with --help', async () => {
    const { code, output } = await run('--help');
    expect(code).toBe(0);
    for (const [name, { summary }] of Object.entries(tools)) {
      expect(output).toContain(`  ${name} `);
      expect(await run(name, '--help')).toEqual({
        code: 0,
        output: expect.stringContaining(summary),
        errors: '',
      });
    }
  });

  it.each([[[]], [['registry']], [['registry', '--all']]])(
    'prints the usage and exits with 2 for %j',
    async (args) => {
      expect(await run(...args)).toEqual({
        code: 2,
        output: '',
        errors: expect.stringMatching(/^Usage: npm run ops -- /),
      });
    },
  );

  it.each([
    [['nothing'], 'Unknown tool "nothing". `npm run ops -- --help` lists the tools.'],
    [['constructor'], 'Unknown tool "constructor". `npm run ops -- --help` lists the tools.'],
    [
      ['regsitry', 'list'],
      'Unknown tool "regsitry". Did you mean "registry"? `npm run ops -- --help` lists the tools.',
    ],
    [
      ['registry', 'addpms'],
      'Unknown command "addpms". Did you mean "add-pms"? `npm run ops -- registry --help` lists the commands.',
    ],
    [
      ['registry', 'rol'],
      'Unknown command "rol". Did you mean "roll-secret"? `npm run ops -- registry --help` lists the commands.',
    ],
    [
      ['dead-letters', 'toString'],
      'Unknown command "toString". `npm run ops -- dead-letters --help` lists the commands.',
    ],
  ])('prints one line and exits with 2 for %j', async (args, line) => {
    expect(await run(...args)).toEqual({ code: 2, output: '', errors: `${line}\n` });
  });
});

describe.each(commands)(
  'npm run ops -- %s',
  (path, { summary, options = [], arguments: positionals = [] }) => {
    it('describes its purpose, arguments and exit codes with --help', async () => {
      const { code, output, errors } = await run(...path.split(' '), '--help');
      expect([code, errors]).toEqual([0, '']);
      expect(output).toContain(`Usage: npm run ops -- ${path}`);
      for (const text of [summary, '--json', 'Exits with 0']) expect(output).toContain(text);
      for (const { name } of options) expect(output).toContain(`\n  --${name}`);
      for (const { name } of positionals) expect(output).toContain(`\n  <${name}>`);
      expect(summary).toMatch(/^[A-Z][a-z]+s .*\.$/);
    });

    it('prints the usage and exits with 2 for an unknown option', async () => {
      const { code, output, errors } = await run(...path.split(' '), '--nonsense');
      expect([code, output]).toEqual([2, '']);
      expect(errors).toContain('--nonsense');
      expect(errors).toContain(`Usage: npm run ops -- ${path}`);
    });

    it('has options with distinct names, and at most its last argument is repeatable', () => {
      const names = [...options.map(({ name }) => name), 'json', 'help'];
      expect(names).toHaveLength(new Set(names).size);
      expect(positionals.slice(0, -1).some(({ isRepeatable }) => isRepeatable)).toBe(false);
    });
  },
);
