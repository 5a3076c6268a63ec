import type { Argument, Command, Group, Option, Tool } from './command.ts';

const program = 'npm run ops --';
const exitCodes =
  'Exits with 0 on success, 1 if it failed or found a problem, 2 if it was called incorrectly.';
const everywhere: readonly Option[] = [
  { name: 'json', summary: 'Prints the result as one JSON value' },
  { name: 'help', summary: 'Prints this text' },
];

/** Returns the output of `npm run ops -- --help`. */
export function usageOfAll(tools: Readonly<Record<string, Tool>>): string {
  return text(
    `Usage: ${program} <tool> [<command>] [--json]`,
    section(
      'Tools',
      Object.entries(tools).map(([name, { summary }]) => [name, summary]),
    ),
    `\`${program} <tool> --help\` describes a tool.\n${exitCodes}`,
  );
}

/** Returns the error for an unknown word. @param path the words before the unknown word */
export function unknownWord(word: string, known: readonly string[], path = ''): string {
  const kind = path === '' ? 'tool' : 'command';
  const [nearest] = known
    .map((name) => ({ name, distance: name.startsWith(word) ? 1 : editDistance(word, name) }))
    .filter(({ name, distance }) => distance <= Math.ceil(Math.min(name.length, word.length) / 3))
    .toSorted((one, other) => one.distance - other.distance);
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest.name}"?`;
  const help = [program, path, '--help'].filter(Boolean).join(' ');
  return `Unknown ${kind} "${word}".${hint} \`${help}\` lists the ${kind}s.`;
}

/** Returns the Levenshtein distance of two words. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [index, letter] of one.split('').entries()) {
    const next = [index + 1];
    for (const [at, wanted] of other.split('').entries()) {
      const replaced = (row[at] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Returns the output of `--help` for a tool with several commands. */
export function usageOfGroup(name: string, { summary, commands }: Group): string {
  return text(
    `Usage: ${program} ${name} <command> [--json]`,
    summary,
    section(
      'Commands',
      Object.entries(commands).map(([command, { summary: does }]) => [command, does]),
    ),
    `\`${program} ${name} <command> --help\` describes a command.\n${exitCodes}`,
  );
}

/** Returns the output of `--help` for a command. @param path `registry add-pms` */
export function usageOfCommand(path: string, command: Command): string {
  const { summary, details, arguments: positionals = [], options = [], settings = [] } = command;
  return text(
    usageLine(path, command),
    summary,
    details,
    section(
      'Arguments',
      positionals.map((argument) => [`<${argument.name}>`, argument.summary]),
    ),
    section(
      'Options',
      [...options, ...everywhere].map((option) => [`--${option.name}${valueOf(option)}`, option.summary]),
    ),
    section(
      'Settings',
      settings.map((setting) => [setting.name, setting.summary]),
    ),
    exitCodes,
  );
}

/** Returns the line with the usage of a command. */
export function usageLine(path: string, { arguments: positionals = [], options = [] }: Command): string {
  const words = [...positionals.map(shapeOfArgument), ...options.map(shapeOfOption), '[--json]'];
  return `Usage: ${[program, path, ...words].join(' ')}`;
}

function shapeOfArgument({ name, isOptional, isRepeatable }: Argument): string {
  const shape = `<${name}>${isRepeatable ? ' ...' : ''}`;
  return isOptional ? `[${shape}]` : shape;
}

function shapeOfOption(option: Option): string {
  const shape = `--${option.name}${valueOf(option)}${option.isRepeatable ? ' ...' : ''}`;
  return option.isOptional || option.value === undefined ? `[${shape}]` : shape;
}

const valueOf = ({ value }: Option) => (value === undefined ? '' : ` <${value}>`);

/** Returns a heading with a table of two columns, or undefined without rows. */
function section(heading: string, rows: readonly (readonly [string, string])[]): string | undefined {
  if (rows.length === 0) return undefined;
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${heading}:`, ...rows.map(([name, does]) => `  ${name.padEnd(width)}  ${does}`)].join('\n');
}

const text = (...parts: readonly (string | undefined)[]) =>
  parts.filter((part) => part !== undefined).join('\n\n');
