import {
  issuerOf,
  keysPath,
  type LaunchPolicy,
  type Registry,
  type TrustedIssuer,
} from '@clinical-launch/contracts';

/** One identity provider whose access tokens are accepted, and on what terms. */
export type IssuerPolicy = {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /**
   * Its published keys. When absent, its discovery document (OpenID Connect Discovery 1.0) says where they are, on the
   * issuer's own origin.
   */
  readonly jwksUri?: string;
  /** Whether the operator configured `jwksUri`, as for our realms: it may then be within the deployment, by http. */
  readonly isConfigured: boolean;
  readonly rightClaims: readonly ('scope' | 'scp' | 'roles')[];
  /** Whether tokens must name themselves access tokens (RFC 9068 section 4). Never accepts ID tokens. */
  readonly requiresAccessTokenType: boolean;
  /** The claims that may carry the client: the first that is a text is it. */
  readonly clientIdClaims: readonly string[];
  /**
   * Whether tokens must name their key. Without `kid` one is accepted while a single published key fits its
   * algorithm.
   */
  readonly requiresKeyId: boolean;
  /** The clients that may call. */
  readonly clients: ReadonlyMap<string, AcceptedClient>;
};

/** A registered client. */
export type AcceptedClient = {
  /** The rights that its tokens may carry. Others in a token count for nothing. */
  readonly grants: readonly string[];
  readonly policy: LaunchPolicy;
};

export type IssuerPoliciesOptions = {
  readonly publicUrl: string;
  /** Where the identity provider answers within the deployment: the address that the edge maps to `/idp`. */
  readonly identityProviderUrl: string;
  /** APP_ID_URI: the audience of the platform's APIs. */
  readonly audience: string;
};

const anyClaim = ['scope', 'scp', 'roles'] as const;

/** RFC 9068 section 2.2; OpenID Connect Core 1.0 section 2; Microsoft Entra ID. */
const usualClientIdClaims = ['client_id', 'azp', 'appid'];

/** The rights that a trusted issuer grants when its entry names none. */
const foreignGrants: readonly string[] = ['ocs-launch.write'];

/** The terms on which access tokens of clients are accepted: of our realms, and of issuers that the registry trusts. */
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
    ...(jwksUri === undefined ? {} : { jwksUri }),
    isConfigured: false,
    rightClaims: rightClaims ?? anyClaim,
    requiresAccessTokenType: !acceptsAnyTokenType,
    clientIdClaims: clientIdClaim === undefined ? usualClientIdClaims : [clientIdClaim],
    requiresKeyId: !acceptsMissingKeyId,
    clients: new Map(clients.map((policy) => [policy.clientId, { policy, grants }])),
  };
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
