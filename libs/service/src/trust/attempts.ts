/** Slows down callers that fail to authenticate again and again. */
export type Attempts = {
  /** Throws ServiceError 429 with `Retry-After` while the key has to wait. Costs no round trip. */
  assertMayTry(key: string): void;
  /** Counts a failed attempt. Throws ServiceError 429 if another replica has let the key wait. */
  failed(key: string): Promise<void>;
  /** Forgets the failed attempts that this process knows of. */
  succeeded(key: string): Promise<void>;
};
