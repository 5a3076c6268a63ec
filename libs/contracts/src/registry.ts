import { clientCertificates, clientKeys } from './client-authentication.ts';
import { statedPracticesSchema, writtenPractice } from './coded-identifiers.ts';
import {
  claimName,
  clientId,
  httpAddress,
  issuerUrl,
  origin,
  partnerAddress,
  partnerProfile,
  realmName,
  requestLimit,
  scopeToken,
  signingAlgorithm,
} from './registry-values.ts';
import { statedErnsSchema } from './resource-names.ts';
import { acrValue } from './sign-in.ts';
import { optionalText, type Static, type TSchema, Type } from './type.ts';

/** Adds a title to a member. Editors show the title, and operator commands use it in help and prompts. */
const titled = <S extends TSchema>(title: string, schema: S): S => ({ ...schema, title });

const setting = <S extends TSchema>(title: string, schema: S) => Type.Optional(titled(title, schema));

/** Text that commands print, so that it must not control a terminal. */
const printed = { pattern: '^[^\\p{Cc}]+$', description: 'must be text without control characters' };

const name = titled('Display name', Type.String(printed));

/** The time (RFC 3339) after which the secret is no longer valid. */
const expires = optionalText({ format: 'full-date-time' });

/** The sealing purpose of callback secrets. */
export const callbackSecretPurpose = 'registry.callback.secret';

/**
 * The address to which the platform posts order documents, in addition to the result page. The secrets sign
 * these messages (Standard Webhooks).
 */
const callback = Type.Object(
  {
    url: httpAddress,
    /**
     * A client has at most two secrets, so that it can rotate its secret. Every unexpired secret signs each
     * message.
     */
    secrets: Type.Array(
      Type.Object(
        {
          /** A secret of the form `whsec_...`, encrypted for `callbackSecretPurpose`. */
          sealed: Type.String({
            pattern: '^[\\w-]+\\.[\\w-]{40,}$',
            description: 'must be a sealed secret, as the registry command writes it',
          }),
          expires,
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 2 },
    ),
  },
  { additionalProperties: false },
);

/** If true, services treat the client or partner as not registered. */
const suspended = Type.Optional(Type.Boolean());

const requestsPerSecond = setting('Limit of requests per second, to each endpoint', requestLimit);

/** The settings for the launches of a PMS, whether its issuer is a realm of the platform or external. */
const launchPolicy = {
  requestsPerSecond,
  frameAncestors: setting('Origins whose pages may frame the launched application', Type.Array(origin)),
  resultOrigin: setting('Origin to which the result page offers the order document', origin),
  launchErrorPage: setting('Page of the practice system for users whose launch was refused', httpAddress),
  /** The address to which order documents are posted, and the secrets that sign them. */
  callback: Type.Optional(callback),
  practices: setting(
    'Practices that it may launch for: any, or codes such as ods:B82017 local:0042 (production requires it)',
    statedPracticesSchema,
  ),
  directory: setting(
    'File with its agreed values, in the folder of the registry file (default: the shared file)',
    Type.String({
      pattern: '^(?!\\.{1,2}$)[^/\\\\\\p{Cc}]+$',
      description: 'must be the name of a file in the folder of the registry, without a path',
    }),
  ),
  requireNavigation: setting(
    'Whether its launch URLs open only for browsers that say that they navigate, and for forms (needs https)',
    Type.Boolean(),
  ),
  acrValues: setting(
    'Values of acr that it may send, such as AAL2 AAL3 (default: AAL1 AAL2 AAL3)',
    Type.Array(acrValue),
  ),
  sandbox: setting(
    'Whether it takes synthetic patients only, and may use the developer portal',
    Type.Boolean(),
  ),
};

const client = Type.Object(
  {
    clientId,
    name,
    /** SHA-256 hashes (hex) of at most two secrets, so that a client can rotate its secret. */
    secrets: Type.Array(
      Type.Object(
        {
          sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'must be 64 hexadecimal digits' }),
          expires,
        },
        { additionalProperties: false },
      ),
      { maxItems: 2 },
    ),
    /** Keys for `private_key_jwt` (RFC 7523), instead of secrets or in addition to secrets. */
    ...clientKeys,
    /** Certificates for mutual TLS (RFC 8705), instead of secrets or in addition to secrets. */
    ...clientCertificates,
    /** The rights that the client receives with the scope `<APP_ID_URI>/.default`. */
    scopes: titled('Rights, such as audit.read or token.introspect', Type.Array(scopeToken)),
    suspended,
    ...launchPolicy,
    erns: setting(
      'Prefixes of the userERN and orgERN that a host may name: any, or such as ern:demo-ehr (production requires it)',
      statedErnsSchema,
    ),
  },
  { additionalProperties: false },
);

/**
 * A partner application of desktop launches. Without registered keys or certificates, it is a public client
 * (RFC 6749 section 2.1).
 */
const partner = Type.Object(
  {
    clientId,
    name,
    launchUrl: titled('launchUrl: the address of the launch handler', partnerAddress),
    /**
     * Redirect URIs are compared exactly, except that `http://127.0.0.1` and `http://[::1]` match any port
     * (RFC 8252 section 7.3).
     */
    redirectUris: titled(
      'redirectUri: the address of the auth handler',
      Type.Array(partnerAddress, { minItems: 1 }),
    ),
    /** See OpenID Connect Back-Channel Logout 1.0 section 2.2. */
    backchannelLogoutUri: setting(
      'backchannelLogoutUri: the address that is notified of revoked launches',
      httpAddress,
    ),
    profile: setting('Profile, strict or standard (empty: strict)', partnerProfile),
    scopes: titled(
      'Scopes (empty: openid profile email offline_access launch resource.read)',
      Type.Array(scopeToken),
    ),
    suspended,
    requestsPerSecond,
    /**
     * If `dpopBoundAccessTokens` or `requirePushedAuthorizationRequests` is absent, the partner decides for
     * each request.
     */
    dpopBoundAccessTokens: setting(
      'Whether its access tokens must be bound by DPoP (RFC 9449)',
      Type.Boolean(),
    ),
    requirePushedAuthorizationRequests: setting(
      'Whether it must push its authorization requests (RFC 9126)',
      Type.Boolean(),
    ),
    /** By default, `acr_values` states only a preference (OpenID Connect Core 1.0 section 3.1.2.1). */
    requireAcrValues: setting(
      'Whether its launch is refused unless acr is one of the acr_values that it requests',
      Type.Boolean(),
    ),
    /** Keys for `private_key_jwt` (RFC 7523). A partner that registers keys must authenticate with a key. */
    ...clientKeys,
    /**
     * Certificates for mutual TLS (RFC 8705). A partner that registers certificates must authenticate with a
     * certificate or a key.
     */
    ...clientCertificates,
  },
  { additionalProperties: false },
);

/** The longest lifetime that a realm may give its desktop launches: thirty days. */
export const longestDesktopLaunchSeconds = 30 * 86_400;

/** The settings of a realm with desktop launches. Lifetimes are in seconds. */
const desktop = Type.Object(
  {
    launchIdentifierSeconds: setting(
      'Lifetime of launch identifiers',
      Type.Integer({ minimum: 10, maximum: 3600 }),
    ),
    authorizationCodeSeconds: setting(
      'Lifetime of authorization codes',
      Type.Integer({ minimum: 10, maximum: 600 }),
    ),
    refreshTokenSeconds: setting(
      'Idle time of refresh tokens, which each refresh restarts',
      Type.Integer({ minimum: 60, maximum: 2_592_000 }),
    ),
    /**
     * A launch begins when its identifier is issued. When the launch ends, all its tickets and tokens become
     * invalid.
     */
    sessionSeconds: setting(
      'Absolute lifetime of a launch',
      Type.Integer({ minimum: 60, maximum: longestDesktopLaunchSeconds }),
    ),
    sendsIssuer: setting(
      'Whether the authorization response contains iss (RFC 9207) (default: true)',
      Type.Boolean(),
    ),
    partners: Type.Array(partner),
  },
  { additionalProperties: false },
);

const realm = Type.Object(
  {
    realm: realmName,
    signingAlgorithm: setting('RS256 (the default), ES256 or EdDSA', signingAlgorithm),
    accessTokenSeconds: setting('Lifetime of access tokens', Type.Integer({ minimum: 60, maximum: 86_400 })),
    clients: Type.Array(client),
    desktop: Type.Optional(desktop),
  },
  { additionalProperties: false },
);

/**
 * The rights that an external identity provider may grant. Other rights give access to launches and records
 * of other clients, so only realms of the platform may grant them.
 */
const grantableRight = Type.Enum(['ocs-launch.write']);

const trustedIssuer = Type.Object(
  {
    issuer: issuerUrl,
    jwksUri: setting('Address of its keys, if its discovery document is not used', httpAddress),
    audiences: setting(
      "Audiences that its tokens may have, if they are not the platform's own",
      Type.Array(Type.String(), { minItems: 1 }),
    ),
    rightClaims: setting(
      'The claims that may contain the right: scope, scp, roles (empty: all three)',
      Type.Array(Type.Enum(['scope', 'scp', 'roles']), { minItems: 1 }),
    ),
    clientIdClaim: setting(
      'The claim that contains the client, if it is not client_id, azp or appid',
      claimName,
    ),
    grants: setting(
      'The rights that its tokens may grant (empty: ocs-launch.write)',
      Type.Array(grantableRight),
    ),
    /**
     * The type of a token is its header `typ` (RFC 9068 section 2.1). ID tokens are refused even if this
     * setting is true.
     */
    acceptsAnyTokenType: setting(
      'Whether its access tokens may omit their type, such as those of Microsoft Entra ID',
      Type.Boolean(),
    ),
    /** `kid` is defined in RFC 7515 section 4.1.4. */
    acceptsMissingKeyId: setting('Whether its tokens may omit kid', Type.Boolean()),
    clients: Type.Array(
      Type.Object(
        { clientId: Type.String(printed), suspended, ...launchPolicy },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/** A practice that had other codes earlier, for instance because practices merged. */
const succeedingPractice = Type.Object(
  {
    ...writtenPractice.properties,
    /** The client for which the entry is valid. Required with a local code, which is valid within a client. */
    issuer: Type.Optional(issuerUrl),
    clientId: optionalText({ minLength: 1 }),
    formerly: Type.Array(writtenPractice, { minItems: 1, maxItems: 100 }),
  },
  { additionalProperties: false },
);

/**
 * The registry: the realms of the platform with their clients, and the trusted external identity providers.
 * The operator's commands derive an option from each member, and print the schema for editors.
 */
export const registrySchema = Type.Object(
  {
    /** The address of this schema, from which editors load it. */
    $schema: optionalText(),
    realms: Type.Array(realm),
    trustedIssuers: Type.Optional(Type.Array(trustedIssuer)),
    practices: Type.Optional(Type.Array(succeedingPractice, { maxItems: 1000 })),
  },
  { additionalProperties: false },
);

export type Registry = Static<typeof registrySchema>;
export type Realm = Static<typeof realm>;
export type DesktopRealm = Static<typeof desktop>;
export type RegisteredPartner = Static<typeof partner>;
export type RegisteredClient = Static<typeof client>;
export type TrustedIssuer = Static<typeof trustedIssuer>;
export type RegisteredCallback = Static<typeof callback>;
export type LaunchPolicy = {
  readonly requestsPerSecond?: number;
  readonly frameAncestors?: readonly string[];
  readonly resultOrigin?: string;
  readonly launchErrorPage?: string;
  readonly callback?: RegisteredCallback;
  readonly practices?: Static<typeof statedPracticesSchema>;
  readonly erns?: Static<typeof statedErnsSchema>;
  readonly directory?: string;
  readonly requireNavigation?: boolean;
  readonly acrValues?: readonly string[];
  readonly sandbox?: boolean;
};
