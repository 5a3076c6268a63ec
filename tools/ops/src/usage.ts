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

/** Returns a heading with a table of two columns; undefined without rows. */
function section(heading: string, rows: readonly (readonly [string, string])[]): string | undefined {
  if (rows.length === 0) return undefined;
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${heading}:`, ...rows.map(([name, does]) => `  ${name.padEnd(width)}  ${does}`)].join('\n');
}

const text = (...parts: readonly (string | undefined)[]) =>
  parts.filter((part) => part !== undefined).join('\n\n');
