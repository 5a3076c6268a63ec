/** An option of a command: `--port <number>`. */
export type Option = {
  readonly value: string;
  readonly summary: string;
};

export type OptionValues = Readonly<Record<string, string | undefined>>;

/** A command of the twin. Its help and the parsing of its arguments follow from this description. */
export type Command = {
  /** A sentence that begins with a verb. */
  readonly summary: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Resolves when the command is done. @returns the exit code, or undefined if the process keeps running */
  run(given: OptionValues, words: readonly string[]): Promise<number | undefined>;
  /** The description of the words after `--`. Absent if the command accepts no such words. */
  readonly rest?: string;
};

/** Thrown if a command was called incorrectly. */
export class UsageError extends Error {}
