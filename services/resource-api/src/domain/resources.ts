import type { LaunchOfToken, TokenContext } from './launch-of-token.ts';

/** A protected resource, and what its reader must be allowed to. */
export type Resource = {
  readonly name: string;
  /** A permission of the user, beside the scope that every reader needs. */
  readonly permission?: string;
  represent(context: TokenContext, launch: LaunchOfToken): object;
};

/** The scope of the access token that opens every resource here. */
export const requiredScope = 'resource.read';

/** What can be read, below `/resource/`. */
export const resources: readonly Resource[] = [
  {
    name: 'me',
    represent: ({ user, organisation }, { authorizations }) => ({ user, organisation, authorizations }),
  },
  { name: 'patient', permission: 'clinical-cr.read', represent: ({ patient }) => patient },
];
