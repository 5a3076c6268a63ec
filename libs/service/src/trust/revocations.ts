/** The revoked access tokens as a process that verifies tokens knows them. */
export type Revocations = {
  /**
   * Returns whether a token is revoked, from memory.
   * @throws ServiceError 503 when the list was not read for so long that nothing can be said
   */
  has(tokenId: string): boolean;
};
