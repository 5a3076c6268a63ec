/**
 * Thrown if a dependency (Redis, the database) is unavailable, so that a request cannot be decided. Answered
 * with HTTP 503 and `Retry-After`, after which the caller may try again.
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
