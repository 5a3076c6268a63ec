/** Slows down callers that repeatedly fail to authenticate. */
export type Attempts = {
  /** Throws ServiceError 429 with `Retry-After` while the key has to wait. Costs no round trip. */
  assertMayTry(key: string): void;
  /** Counts a failed attempt. Throws ServiceError 429 if another replica makes the key wait. */
  failed(key: string): Promise<void>;
  /** Deletes the failed attempts that this process knows. */
  succeeded(key: string): Promise<void>;
};
