import type { LaunchOfToken, TokenContext } from './launch-of-token.ts';

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
