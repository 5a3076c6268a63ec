import { issuerOf, keysPath } from '@clinical-launch/contracts/addresses';
import type { LaunchPolicy, Registry, TrustedIssuer } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';

/** An identity provider whose access tokens are accepted, with its settings. */
export type IssuerPolicy = {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /**
   * The address of the issuer's published keys. If absent, the issuer's discovery document (OpenID Connect
   * Discovery 1.0) names the address, which must be on the issuer's own origin.
   */
  readonly jwksUri?: string;
  /**
   * Whether `jwksUri` comes from the settings, as for the platform's realms, and not from the registry. It
   * may then be an http address within the deployment.
   */
  readonly isConfigured: boolean;
  readonly rightClaims: readonly ('scope' | 'scp' | 'roles')[];
  /** Whether tokens must be marked as access tokens (RFC 9068 section 4). ID tokens are never accepted. */
  readonly requiresAccessTokenType: boolean;
  /** The claims that may contain the client id. The first claim that is a text is used. */
  readonly clientIdClaims: readonly string[];
  /**
   * Whether tokens must name their key. If false, a token without `kid` is tried with each published key that
   * fits.
   */
  readonly requiresKeyId: boolean;
  readonly clients: ReadonlyMap<string, AcceptedClient>;
};

export type AcceptedClient = {
  /** The rights that tokens of the client may grant. Other rights in a token are ignored. */
  readonly grants: readonly string[];
  readonly policy: LaunchPolicy;
};

export type IssuerPoliciesOptions = {
  readonly publicUrl: string;
  /** The address of the identity provider within the deployment. The edge maps `/idp` to this address. */
  readonly identityProviderUrl: string;
  /** The audience of the platform's APIs (`APP_ID_URI`). */
  readonly audience: string;
};

const anyClaim = ['scope', 'scp', 'roles'] as const;

/**
 * The claims of RFC 9068 section 2.2, OpenID Connect Core 1.0 section 2 and Microsoft Entra ID, in this
 * order.
 */
const usualClientIdClaims = ['client_id', 'azp', 'appid'];

/** The rights that tokens of a trusted issuer may grant if its registry entry names none. */
const foreignGrants: readonly string[] = ['ocs-launch.write'];

/**
 * Returns the policies for access tokens of clients: of the platform's realms, and of issuers that the
 * registry trusts.
 */
export function issuerPolicies(registry: Registry, options: IssuerPoliciesOptions): IssuerPolicy[] {
  const ours = registry.realms.map(({ realm, clients }) => policyOfRealm(realm, clients, options));
  const others = (registry.trustedIssuers ?? []).map((trusted) => policyOfTrusted(trusted, options));
  return [...ours, ...others];
}

function policyOfTrusted(
  { issuer, jwksUri, audiences, rightClaims, clientIdClaim, clients, ...terms }: TrustedIssuer,
  { audience }: IssuerPoliciesOptions,
): IssuerPolicy {
  const { grants = foreignGrants, acceptsAnyTokenType = false, acceptsMissingKeyId = false } = terms;
  return {
    issuer,
    audiences: audiences ?? [audience],
    ...withoutUndefined({ jwksUri }),
    isConfigured: false,
    rightClaims: rightClaims ?? anyClaim,
    requiresAccessTokenType: !acceptsAnyTokenType,
    clientIdClaims: clientIdClaim === undefined ? usualClientIdClaims : [clientIdClaim],
    requiresKeyId: !acceptsMissingKeyId,
    clients: new Map(clients.map((policy) => [policy.clientId, { policy, grants }])),
  };
}

/**
 * Returns the policies for access tokens of desktop launches, which only the platform's desktop realms issue
 * to their partners. Such a token acts for a user. So other APIs do not accept it, and the API for desktop
 * launches accepts no client's token.
 */
export function desktopIssuerPolicies(registry: Registry, options: IssuerPoliciesOptions): IssuerPolicy[] {
  return registry.realms.flatMap(({ realm, desktop }) =>
    desktop === undefined ? [] : [policyOfRealm(realm, desktop.partners, options)],
  );
}

type RegisteredCaller = LaunchPolicy & { readonly clientId: string; readonly scopes: readonly string[] };

function policyOfRealm(
  realm: string,
  callers: readonly RegisteredCaller[],
  { publicUrl, identityProviderUrl, audience }: IssuerPoliciesOptions,
): IssuerPolicy {
  return {
    issuer: issuerOf(publicUrl, realm),
    audiences: [audience],
    jwksUri: `${identityProviderUrl}/${realm}${keysPath}`,
    rightClaims: anyClaim,
    isConfigured: true,
    requiresAccessTokenType: true,
    clientIdClaims: usualClientIdClaims,
    requiresKeyId: true,
    clients: new Map(callers.map((policy) => [policy.clientId, { policy, grants: policy.scopes }])),
  };
}
