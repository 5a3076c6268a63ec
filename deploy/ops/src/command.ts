import type { Environment } from '@clinical-launch/service';

/** One argument that is given by its place: `<event id>`. */
export type Argument = {
  /** As the usage shows it. */
  readonly name: string;
  readonly summary: string;
  readonly isOptional?: true;
  /** Only the last argument can be given several times. */
  readonly isRepeatable?: true;
  /** Returns what is wrong with a value: `must be …`. */
  readonly faultOf?: FaultOf;
};

/** One option, `--client-id <id>`; a flag if it has no `value`. */
export type Option = {
  readonly name: string;
  /** The word for its value in the usage; absent for a flag. */
  readonly value?: string;
  /** Explains the option, and asks for it on a terminal. */
  readonly summary: string;
  /** Flags are optional. */
  readonly isOptional?: true;
  readonly isRepeatable?: true;
  /** A person at a terminal is not asked for it. */
  readonly isUnasked?: true;
  /** Returns what is wrong with a value: `must be …`. */
  readonly faultOf?: FaultOf;
};

type FaultOf = (value: string) => string | undefined;

/** An environment variable that a command reads. */
export type Setting = { readonly name: string; readonly summary: string };

/** What a command is called with. */
export type Input = {
  readonly arguments: readonly string[];
  /** The values of the options that were given, by name; of a flag, none. */
  readonly options: Answers;
  readonly environment: Environment;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** The values of options by their name. Optional ones may be missing. */
export type Answers = ReadonlyMap<string, readonly string[]>;

/** What a command did. */
export type Outcome = {
  /** For a person, a line each. */
  readonly lines: readonly string[];
  /** For a program: printed as JSON with `--json`. */
  readonly result: unknown;
  /** What was found to be wrong: the command exits with 1 if there is any. */
  readonly problems?: readonly string[];
};

/** One command of a tool: usage, help and the parsing of its arguments follow from this description. */
export type Command = {
  /** What it does, as a sentence that begins with a verb. */
  readonly summary: string;
  readonly details?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly settings?: readonly Setting[];
  /** Whether a person at a terminal is asked for the options that are missing. */
  readonly isInteractive?: true;
  /**
   * @throws UsageError for arguments or settings that cannot be used, and any other error if it did not work.
   */
  run(input: Input): Promise<Outcome>;
};

/** Several commands on one subject. */
export type Group = { readonly summary: string; readonly commands: Readonly<Record<string, Command>> };

/** What `npm run ops -- <name>` runs: a group of commands, or one command. */
export type Tool = Group | Command;

/** Returns the value of an option that a command requires. @throws TypeError if it has none */
export function one(answers: Answers, { name }: Pick<Option, 'name'>): string {
  const [answer] = answers.get(name) ?? [];
  if (answer === undefined) throw new TypeError(`--${name} has no value`);
  return answer;
}
