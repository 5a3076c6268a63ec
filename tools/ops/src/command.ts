import type { Answers, Description, Given, Option, Progress } from '@clinical-launch/process/command-line';
import type { Environment } from '@clinical-launch/runtime/environment';

export type Input = Given & {
  readonly environment: Environment;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly isJson: boolean;
  /** Prints a line immediately, because the whole output of some commands does not fit in memory. */
  readonly print: (line: string) => Promise<void>;
  readonly progress: Progress;
};

export type Outcome = {
  readonly lines: readonly string[];
  /** The result for programs, printed as JSON with `--json`. */
  readonly result: unknown;
  /** Lines about the result for people, printed to the errors. */
  readonly notes?: readonly string[];
  /** The problems found. If there are any, the command exits with 1. */
  readonly problems?: readonly string[];
};

export type Command = Description & {
  /** @throws UsageError for invalid arguments or settings, and any other error if the command fails */
  run(input: Input): Promise<Outcome>;
};

export type Group = { readonly commands: Readonly<Record<string, Command>> };

/** A tool with one command. `tools.ts` contains its summary. */
export type ToolCommand = Omit<Command, 'summary'>;

export type Tool = Group | ToolCommand;

/** Tools by name. A command loads only its own tool, because loading all tools takes a second. */
export type Tools = Readonly<
  Record<string, { readonly summary: string; readonly load: () => Promise<Tool> }>
>;

/** Returns the check that a value is one of these. */
export const oneOf = (values: readonly string[]) => (value: string) =>
  values.includes(value) ? undefined : `must be one of ${values.join(', ')}`;

/** Returns the value of an option that a command requires. @throws TypeError if the option has no value */
export function requiredOption(answers: Answers, { name }: Pick<Option, 'name'>): string {
  const [answer] = answers.get(name) ?? [];
  if (answer === undefined) throw new TypeError(`--${name} has no value`);
  return answer;
}
