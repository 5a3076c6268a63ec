/** What an access token of a desktop launch says beside its rights (RFC 9068, and our own claims). */
export type LaunchOfToken = {
  /** The launch that the token comes from: revoked with it, filed under it. */
  readonly correlationId: string;
  readonly tokenId: string;
  /** Permissions of the user, for instance `clinical-cr.read`. */
  readonly authorizations: readonly string[];
  readonly sealedContext: string;
};

/** Who and whom the launch is about, as the host application said it. */
export type TokenContext = { readonly user: object; readonly organisation: object; readonly patient: object };

/** A protected resource, and what its reader must be allowed to. */
export type Resource = {
  readonly name: string;
  /**
   * A permission that the user must hold. The scopes of the token decide nothing: it comes from a launch, which does.
   */
  readonly permission?: string;
  represent(context: TokenContext, launch: LaunchOfToken): object;
};

/** What can be read, below `/resource/`. */
export const resources: readonly Resource[] = [
  {
    name: 'me',
    represent: ({ user, organisation }, { authorizations }) => ({ user, organisation, authorizations }),
  },
  { name: 'patient', permission: 'clinical-cr.read', represent: ({ patient }) => patient },
];
