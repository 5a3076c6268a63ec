import { parseArgs } from 'node:util';
import {
  type Answers,
  type Argument,
  ArgumentsError,
  type Command,
  type Option,
  UsageError,
} from './command.ts';

/** Asks a person a question, and resolves with the answer. */
export type Ask = (question: string) => Promise<string>;

type ReadArguments = {
  readonly arguments: readonly string[];
  readonly options: Answers;
  readonly isJson: boolean;
};

/**
 * Reads the arguments of a command according to its description. If the command is interactive, asks for
 * missing options at a terminal.
 * @throws UsageError that lists every missing or invalid argument and option
 */
export async function readArguments(
  command: Command,
  args: readonly string[],
  ask?: Ask,
): Promise<ReadArguments> {
  const { positionals, options, isJson } = parse(command, args);
  const questioner = command.isInteractive ? ask : undefined;
  const declared = command.options ?? [];
  const misplaced = faultsOfArguments(command.arguments ?? [], positionals);
  const faults = declared.flatMap((option) => faultsOfOption(option, options.get(option.name), questioner));
  const message = [...misplaced, ...faults].join('\n');
  if (misplaced.length > 0) throw new ArgumentsError(message);
  if (faults.length > 0) throw new UsageError(message);
  const answers = questioner === undefined ? options : await askForMissing(declared, options, questioner);
  return { arguments: positionals, options: answers, isJson };
}

function parse({ options = [], arguments: expected = [] }: Command, args: readonly string[]) {
  const ofCommand = options.map(
    ({ name, value }) =>
      [name, { type: value === undefined ? 'boolean' : 'string', multiple: true }] as const,
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(ofCommand), json: { type: 'boolean' } },
      allowPositionals: expected.length > 0,
    });
    const { json, ...others } = values;
    const given = Object.entries(others).flatMap(([name, value]) =>
      Array.isArray(value) ? [[name, value.filter((each) => typeof each === 'string')] as const] : [],
    );
    return { positionals, options: new Map(given), isJson: json === true };
  } catch (error) {
    throw new ArgumentsError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function faultsOfArguments(expected: readonly Argument[], given: readonly string[]): string[] {
  const missing = expected.slice(given.length).filter(({ isOptional }) => !isOptional);
  const isOpen = expected.at(-1)?.isRepeatable === true;
  const extra = isOpen ? [] : given.slice(expected.length);
  const wrong = given.flatMap((value, index) => {
    const argument = expected[Math.min(index, expected.length - 1)];
    const fault = argument?.faultOf?.(value);
    return fault === undefined ? [] : [`<${argument?.name}> ${fault}`];
  });
  return [
    ...missing.map(({ name }) => `<${name}> is missing`),
    ...(extra.length > 0 ? [`Too many arguments: ${extra.join(' ')}`] : wrong),
  ];
}

function faultsOfOption(
  option: Option,
  given: readonly string[] | undefined,
  ask: Ask | undefined,
): string[] {
  const { name, value, isOptional, isRepeatable } = option;
  if (value === undefined) return [];
  if (given === undefined) return ask === undefined && !isOptional ? [`--${name} is missing`] : [];
  if (!isRepeatable && given.length > 1) return [`--${name} can be given once`];
  return faultsOfValues(option, given).map((fault) => `--${name} ${fault}`);
}

const faultsOfValues = ({ faultOf }: Option, values: readonly string[]): string[] =>
  values.flatMap((value) => (value === '' ? 'must not be empty' : faultOf?.(value)) ?? []);

async function askForMissing(declared: readonly Option[], given: Answers, ask: Ask): Promise<Answers> {
  const answers = new Map(given);
  for (const option of declared) {
    if (answers.has(option.name) || option.isUnasked || option.value === undefined) continue;
    const answer = await askUntilUsable(option, ask);
    if (answer.length > 0) answers.set(option.name, answer);
  }
  return answers;
}

async function askUntilUsable(option: Option, ask: Ask): Promise<readonly string[]> {
  let hint = '';
  for (;;) {
    const said = (await ask(`${hint}${option.summary}: `)).trim();
    const answer = option.isRepeatable ? said.split(/\s+/).filter(Boolean) : said === '' ? [] : [said];
    if (answer.length === 0 && option.isOptional) return [];
    const faults = faultsOfValues(option, answer);
    if (answer.length > 0 && faults.length === 0) return answer;
    hint = `${faults[0] ?? 'An answer is required'}\n`;
  }
}
