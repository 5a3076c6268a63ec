import type { TokenContext } from '@clinical-launch/contracts/token-context';

/** The claims of a desktop launch in an access token (RFC 9068, and our own claims). */
export type LaunchOfToken = {
  /** The GUID of the launch. Revoking the launch revokes the token, and events are stored under this GUID. */
  readonly correlationId: string;
  readonly tokenId: string;
  /** The permissions of the user, such as `clinical-cr.read`. */
  readonly authorizations: readonly string[];
  readonly sealedContext: string;
};

/** A protected resource, and the permission to read it. */
export type Resource = {
  readonly name: string;
  /**
   * The permission that the user must have. The scopes of the token do not matter, because the launch
   * determines the access.
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
