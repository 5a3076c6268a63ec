/** Thrown if arguments or settings are invalid. The command exits with 2 and changes nothing. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Thrown if arguments are invalid. The usage is printed with the error. */
export class ArgumentsError extends UsageError {
  override name = 'ArgumentsError';
}
