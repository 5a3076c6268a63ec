/**
 * A part that the answer needs (Redis, the database) cannot be asked now; nothing is known and nothing was decided.
 * The caller may come again, which HTTP says with 503 and `Retry-After`.
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
