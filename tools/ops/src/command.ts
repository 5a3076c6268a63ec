import type { Environment } from '@clinical-launch/runtime/environment';

/** A positional argument: `<event id>`. */
export type Argument = {
  readonly name: string;
  readonly summary: string;
  readonly isOptional?: true;
  /** Only the last argument can be repeated. */
  readonly isRepeatable?: true;
  /** Returns `must be …` for an invalid value, or else undefined. */
  readonly faultOf?: FaultOf;
};

/** An option, `--client-id <id>`, or a flag if it has no `value`. */
export type Option = {
  readonly name: string;
  /** The name of the value in the usage. Absent for a flag. */
  readonly value?: string;
  /** Explains the option. Also used as the question on a terminal. */
  readonly summary: string;
  readonly isOptional?: true;
  readonly isRepeatable?: true;
  /** Whether the command never asks for this option at a terminal. */
  readonly isUnasked?: true;
  /** Returns `must be …` for an invalid value, or else undefined. */
  readonly faultOf?: FaultOf;
};

type FaultOf = (value: string) => string | undefined;

export type Setting = { readonly name: string; readonly summary: string };

export type Input = {
  readonly arguments: readonly string[];
  /** The values of the given options, by name. Flags have no values. */
  readonly options: Answers;
  readonly environment: Environment;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether to print the result as one JSON value. */
  readonly isJson: boolean;
  /** Prints a line immediately, because the whole output of some commands does not fit in memory. */
  readonly print: (line: string) => Promise<void>;
};

/** The values of each option, by its name. An option that was not given is absent. */
export type Answers = ReadonlyMap<string, readonly string[]>;

export type Outcome = {
  readonly lines: readonly string[];
  /** The result for programs, printed as JSON with `--json`. */
  readonly result: unknown;
  /** The problems found. If there are any, the command exits with 1. */
  readonly problems?: readonly string[];
};

/** A command of a tool. Its usage, help and argument parsing follow from this description. */
export type Command = {
  /** A sentence that begins with a verb. */
  readonly summary: string;
  readonly details?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly settings?: readonly Setting[];
  /** Whether the command asks for missing options at a terminal. */
  readonly isInteractive?: true;
  /** @throws UsageError for invalid arguments or settings, and any other error if the command fails */
  run(input: Input): Promise<Outcome>;
};

export type Group = { readonly summary: string; readonly commands: Readonly<Record<string, Command>> };

/** The target of `npm run ops -- <name>`: a group of commands, or one command. */
export type Tool = Group | Command;

/** Returns the value of an option that a command requires. @throws TypeError if the option has no value */
export function requiredOption(answers: Answers, { name }: Pick<Option, 'name'>): string {
  const [answer] = answers.get(name) ?? [];
  if (answer === undefined) throw new TypeError(`--${name} has no value`);
  return answer;
}

/** Thrown if arguments or settings are invalid. The command exits with 2 and changes nothing. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Thrown if arguments are invalid. The usage is printed with the error. */
export class ArgumentsError extends UsageError {
  override name = 'ArgumentsError';
}
