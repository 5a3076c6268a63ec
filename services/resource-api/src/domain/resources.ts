/** The claims of an access token of a desktop launch, without its rights (RFC 9068, and our own claims). */
export type LaunchOfToken = {
  /** The launch of the token: revoking it revokes the token, and events are stored under it. */
  readonly correlationId: string;
  readonly tokenId: string;
  /** Permissions of the user, for instance `clinical-cr.read`. */
  readonly authorizations: readonly string[];
  readonly sealedContext: string;
};

/** The user, organisation and patient of the launch, as the host application sent them. */
export type TokenContext = { readonly user: object; readonly organisation: object; readonly patient: object };

/** A protected resource, and the permission to read it. */
export type Resource = {
  readonly name: string;
  /**
   * A permission that the user must have. The scopes of the token do not matter, because a launch determines
   * the access.
   */
  readonly permission?: string;
  represent(context: TokenContext, launch: LaunchOfToken): object;
};

/** The resources below `/resource/`. */
export const resources: readonly Resource[] = [
  {
    name: 'me',
    represent: ({ user, organisation }, { authorizations }) => ({ user, organisation, authorizations }),
  },
  { name: 'patient', permission: 'clinical-cr.read', represent: ({ patient }) => patient },
];
