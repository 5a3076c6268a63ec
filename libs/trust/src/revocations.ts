/** The revoked access tokens that a verifying process knows. */
export type Revocations = {
  /**
   * Returns whether a token is revoked, from memory.
   * @throws ServiceError 503 when the last read of the list is too old to decide
   */
  has(tokenId: string): boolean;
};
