/** The arguments or the settings are invalid. The command exits with 2, and has changed nothing. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The arguments are invalid: the usage is printed with the errors. */
export class ArgumentsError extends UsageError {
  override name = 'ArgumentsError';
}
