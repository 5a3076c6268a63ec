/** The arguments or the settings cannot be used. The command exits with 2, and has changed nothing. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The arguments cannot be used: how the command is called is printed beside what is wrong. */
export class ArgumentsError extends UsageError {
  override name = 'ArgumentsError';
}
