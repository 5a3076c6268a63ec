/**
 * The error that is thrown if a request cannot be decided because a dependency (Redis or the database) is
 * unavailable. The answer is HTTP 503 with `Retry-After`, after which the caller may try again.
 */
export class Unavailable extends Error {
  readonly retryAfterSeconds: number;

  constructor(
    message: string,
    { retryAfterSeconds = 1, cause }: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'Unavailable';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
