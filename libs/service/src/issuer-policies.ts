import type { LaunchPolicy, Registry } from '@clinical-launch/contracts';
import type { IssuerPolicy } from './access-tokens.ts';

export type IssuerPoliciesOptions = {
  readonly publicUrl: string;
  /** Where the identity provider answers within the deployment: the address that the edge maps to `/idp`. */
  readonly identityProviderUrl: string;
  /** APP_ID_URI: the audience of the platform's APIs. */
  readonly audience: string;
};

const anyClaim = ['scope', 'scp', 'roles'] as const;

/** The issuer of a realm, written the one way that its tokens carry. */
export function issuerOf(publicUrl: string, realm: string): string {
  return `${publicUrl}/idp/${realm}/v2.0`;
}

/** The terms on which access tokens of clients are accepted: of every realm of ours, and of everyone whom the registry trusts. */
export function issuerPolicies(registry: Registry, options: IssuerPoliciesOptions): IssuerPolicy[] {
  const ours = registry.realms.map(({ realm, clients }) => policyOfRealm(realm, clients, options));
  const others = (registry.trustedIssuers ?? []).map(
    ({ issuer, jwksUri, audiences, rightClaims, clients }) => ({
      issuer,
      audiences: audiences ?? [options.audience],
      ...(jwksUri === undefined ? {} : { jwksUri }),
      rightClaims: rightClaims ?? anyClaim,
      requiresAccessTokenType: false,
      clients: new Map(clients.map((client) => [client.clientId, client])),
    }),
  );
  return [...ours, ...others];
}

/**
 * The terms on which the access tokens of a desktop launch are accepted: of our desktop realms and their partners
 * alone. Such a token speaks for a user, so no other API takes it, and none of a client is taken in its place.
 */
export function desktopIssuerPolicies(registry: Registry, options: IssuerPoliciesOptions): IssuerPolicy[] {
  return registry.realms.flatMap(({ realm, desktop }) =>
    desktop === undefined ? [] : [policyOfRealm(realm, desktop.partners, options)],
  );
}

function policyOfRealm(
  realm: string,
  callers: readonly (LaunchPolicy & { readonly clientId: string })[],
  { publicUrl, identityProviderUrl, audience }: IssuerPoliciesOptions,
): IssuerPolicy {
  return {
    issuer: issuerOf(publicUrl, realm),
    audiences: [audience],
    jwksUri: `${identityProviderUrl}/${realm}/discovery/v2.0/keys`,
    rightClaims: anyClaim,
    requiresAccessTokenType: true,
    clients: new Map(callers.map((caller) => [caller.clientId, caller])),
  };
}
