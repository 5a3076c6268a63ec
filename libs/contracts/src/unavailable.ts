/**
 * A dependency of the answer (Redis, the database) is unavailable, so nothing is known and nothing was
 * decided. The caller may try again: HTTP 503 with `Retry-After`.
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
