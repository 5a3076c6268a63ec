import { execFileSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { Command } from '../src/command.ts';
import { runOps } from '../src/run.ts';
import { tools } from '../src/tools.ts';

/** Every command, by the words that call it. */
const commands = (
  await Promise.all(
    Object.entries(tools).map(async ([name, { summary, load }]): Promise<(readonly [string, Command])[]> => {
      const tool = await load();
      if ('run' in tool) return [[name, { summary, ...tool }]];
      return Object.entries(tool.commands).map(([own, command]) => [`${name} ${own}`, command]);
    }),
  )
).flat();

/** Runs a command line in this process, without settings. */
async function run(...args: string[]) {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const code = await runOps({ args, environment: {}, terminal: { output, errors }, now: 0 });
  return { code, output: String(output.read() ?? ''), errors: String(errors.read() ?? '') };
}

describe('clinical-launch', () => {
  it('contains all tools of the operator', () => {
    expect(Object.keys(tools)).toEqual([
      'start',
      'demo',
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
      'smoke',
      'completion',
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
        output: expect.stringContaining(summary.slice(0, 40)),
        errors: '',
      });
    }
  });

  it.each([[[]], [['registry']]])('prints the help to the errors and exits with 2 for %j', async (args) => {
    expect(await run(...args)).toEqual({
      code: 2,
      output: '',
      errors: expect.stringMatching(/^Usage: clinical-launch [^]*Commands:/),
    });
  });

  it.each([
    [['nothing'], "error: unknown command 'nothing'"],
    [['constructor'], "error: unknown command 'constructor'"],
    [['regsitry', 'list'], "error: unknown command 'regsitry' (Did you mean registry?)"],
    [['registry', 'addpms'], "error: unknown command 'addpms' (Did you mean add-pms?)"],
    [['registry', '--all'], "error: unknown option '--all'"],
    [['registry', 'list', '--jsn'], "error: unknown option '--jsn' (Did you mean --json?)"],
    [['dead-letters', 'toString'], "error: unknown command 'toString'"],
    [['migrate', 'extra'], "error: too many arguments for 'migrate'. Expected 0 arguments but got 1: extra."],
    [['registry', 'add-pms', '--realm'], "error: option '--realm <realm>' argument missing"],
    [['launches', 'end', '--user', 'a', '--by', ''], '--by must not be empty'],
  ])('prints one line and exits with 2 for %j', async (args, line) => {
    expect(await run(...args)).toEqual({ code: 2, output: '', errors: `${line}\n` });
  });

  it('prints its version, and the help of a command by the word help', async () => {
    expect(await run('--version')).toEqual({
      code: 0,
      output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      errors: '',
    });
    const { output } = await run('registry', 'add-pms', '-h');
    expect(output).toContain('--client-id <id>');
    expect(await run('registry', 'help', 'add-pms')).toEqual({ code: 0, output, errors: '' });
  });
});

describe('clinical-launch completion', () => {
  it.each([
    ['clinical-launch re', 'registry'],
    ['clinical-launch registry add-p', 'add-pms add-partner'],
    ['clinical-launch catalogue import tests.csv --i', '--into'],
    ['clinical-launch audit verify --checkpoints copy --f', '--from'],
    ['clinical-launch nothing ', ''],
  ])('completes %j in bash with %j', async (typed, completed) => {
    const { output } = await run('completion', 'bash');
    const words = typed.split(' ').map((word) => `'${word}'`);
    const script = `${output}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _clinical_launch; echo "\${COMPREPLY[*]}"`;
    expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' })).toBe(`${completed}\n`);
  });

  it('prints scripts for zsh and fish with every command, and refuses other shells', async () => {
    for (const shell of ['zsh', 'fish']) {
      const { output } = await run('completion', shell);
      for (const [path] of commands) expect(output).toContain(path.split(' ').at(-1));
    }
    expect(await run('completion', 'tcsh')).toMatchObject({
      code: 2,
      errors: '<shell> must be one of bash, zsh, fish\n',
    });
  });
});

describe.each(commands)(
  'clinical-launch %s',
  (path, { summary, example = '', options = [], arguments: positionals = [] }) => {
    it('describes its purpose, arguments and exit codes with --help', async () => {
      const { code, output, errors } = await run(...path.split(' '), '--help');
      expect([code, errors]).toEqual([0, '']);
      expect(output).toContain(`Usage: clinical-launch ${path}`);
      const oneLine = output.replaceAll(/\s+/g, ' ');
      for (const text of [summary, '--json', 'Exits with 0']) expect(oneLine).toContain(text);
      for (const { name } of options) expect(output).toContain(`\n  --${name}`);
      for (const { name } of positionals) expect(output).toContain(`\n  ${name} `);
      expect(output).toContain(`\nExample:\n  clinical-launch ${path}${example && ` ${example}`}\n`);
      expect(summary).toMatch(/^[A-Z][a-z]+s .*\.$/);
    });

    it('has an example with every argument and option that it requires, and no unknown option', () => {
      const given = [...example.matchAll(/--([\w-]+)/g)].map(([, name = '']) => name);
      // Commands of the registry ask for missing options.
      const required = path.startsWith('registry ')
        ? []
        : options.filter(({ value, isOptional }) => value !== undefined && !isOptional);
      const isMissing = !/^[^-]/.test(example) && positionals.some(({ isOptional }) => !isOptional);
      expect([...options.map(({ name }) => name), 'json']).toEqual(expect.arrayContaining(given));
      expect(given).toEqual(expect.arrayContaining(required.map(({ name }) => name)));
      expect(isMissing).toBe(false);
    });

    it('names an unknown option in one line and exits with 2', async () => {
      const { code, output, errors } = await run(...path.split(' '), '--nonsense');
      expect([code, output]).toEqual([2, '']);
      expect(errors).toMatch(/^error: unknown option '--nonsense'.*\n$/);
    });

    it('has options with distinct names, and at most its last argument is repeatable', () => {
      const names = [...options.map(({ name }) => name), 'json', 'help'];
      expect(names).toHaveLength(new Set(names).size);
      expect(positionals.slice(0, -1).some(({ isRepeatable }) => isRepeatable)).toBe(false);
    });
  },
);
