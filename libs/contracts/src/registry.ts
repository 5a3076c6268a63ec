import { clientCertificates } from './client-certificates.ts';
import { clientKeys } from './client-keys.ts';
import type { FileFault } from './fault.ts';
import { statedPracticesSchema } from './practice-binding.ts';
import { contradictionsIn } from './registry-contradictions.ts';
import { compileSchema } from './schema.ts';
import { type Static, Type } from './type.ts';
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
} from './words.ts';

/** RFC 3339; the secret is refused from then on. */
const expires = Type.Optional(Type.String({ format: 'full-date-time' }));

/** The purpose of the seal of a callback's secret. */
export const callbackSecretPurpose = 'registry.callback.secret';

/**
 * The address to which the order document is posted, in addition to the page, and the secrets that sign it
 * (Standard Webhooks).
 */
const callback = Type.Object(
  {
    url: httpAddress,
    /** At most two, so that a client can rotate one while the other works: both sign while both are live. */
    secrets: Type.Array(
      Type.Object(
        {
          /** `whsec_...`, sealed by the platform's sealer for `callbackSecretPurpose`. */
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

/** Whether the entry counts as not registered. It is otherwise unchanged until the client is resumed. */
const suspended = Type.Optional(Type.Boolean());

/** The registration of a PMS for its launches; the same for every issuer of its tokens. */
const launchPolicy = {
  /** Requests in any one second to each endpoint, for this client; no limit when absent. */
  requestsPerSecond: Type.Optional(requestLimit),
  /** Origins whose pages may frame the launched application. */
  frameAncestors: Type.Optional(Type.Array(origin)),
  /** Origin that is offered the order document by postMessage. */
  resultOrigin: Type.Optional(origin),
  /** The page of the PMS for users whose launch was refused. */
  launchErrorPage: Type.Optional(httpAddress),
  /** Where the order document is posted to. */
  callback: Type.Optional(callback),
  /** The practices that its payloads may name; any when absent, which production refuses. */
  practices: Type.Optional(statedPracticesSchema),
  /**
   * The file of the values that were agreed with it, relative to the registry file; the shared file when
   * absent.
   */
  directory: Type.Optional(Type.String({ minLength: 1 })),
};

const client = Type.Object(
  {
    clientId,
    name: Type.String({ minLength: 1 }),
    /**
     * SHA-256 (hex) of the live secrets; at most two, so that a client can rotate one while the other works.
     */
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
    /** Keys for `private_key_jwt` (RFC 7523), instead of secrets or in addition to them. */
    ...clientKeys,
    /** Certificates for mutual TLS (RFC 8705), instead of secrets or in addition to them. */
    ...clientCertificates,
    /** The rights that `<APP_ID_URI>/.default` grants. */
    scopes: Type.Array(scopeToken),
    suspended,
    ...launchPolicy,
  },
  { additionalProperties: false },
);

/**
 * A partner application of the desktop launch: a public client (RFC 6749 section 2.1), identified by its PKCE
 * verifier, unless it registers its own keys.
 */
const partner = Type.Object(
  {
    clientId,
    name: Type.String({ minLength: 1 }),
    profile: Type.Optional(partnerProfile),
    /** Compared exactly; `http://127.0.0.1` and `http://[::1]` match any port (RFC 8252 section 7.3). */
    redirectUris: Type.Array(partnerAddress, { minItems: 1 }),
    launchUrl: partnerAddress,
    /**
     * The scopes that it may request: `openid`, `profile`, `email`, `offline_access`, `launch`, and the
     * realm's API scopes.
     */
    scopes: Type.Array(scopeToken),
    suspended,
    requestsPerSecond: Type.Optional(requestLimit),
    /**
     * Whether its access tokens must be bound to its own key by DPoP (RFC 9449); a choice per request when
     * absent.
     */
    dpopBoundAccessTokens: Type.Optional(Type.Boolean()),
    /**
     * Whether it must push its authorization requests (RFC 9126 section 6); a choice per request when absent.
     */
    requirePushedAuthorizationRequests: Type.Optional(Type.Boolean()),
    /**
     * The address that receives logout tokens of revoked launches (OpenID Connect Back-Channel Logout 1.0
     * section 2.2).
     */
    backchannelLogoutUri: Type.Optional(httpAddress),
    /** Keys for `private_key_jwt` (RFC 7523): a partner that registers them must authenticate with them. */
    ...clientKeys,
    /**
     * Certificates for mutual TLS (RFC 8705): a partner that registers them must authenticate with keys or
     * with them.
     */
    ...clientCertificates,
  },
  { additionalProperties: false },
);

/** The settings of a realm with desktop launches; lifetimes in seconds. */
const desktop = Type.Object(
  {
    launchIdentifierSeconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 3600 })),
    authorizationCodeSeconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 600 })),
    /** Idle time of a refresh token; each refresh restarts it. */
    refreshTokenSeconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 2_592_000 })),
    /** Absolute lifetime, from the launch identifier on: no ticket or token of the launch outlives it. */
    sessionSeconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 2_592_000 })),
    /** Whether the authorization response contains `iss` (RFC 9207); true when absent. */
    sendsIssuer: Type.Optional(Type.Boolean()),
    partners: Type.Array(partner),
  },
  { additionalProperties: false },
);

const realm = Type.Object(
  {
    realm: realmName,
    signingAlgorithm: Type.Optional(signingAlgorithm),
    accessTokenSeconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 86_400 })),
    clients: Type.Array(client),
    desktop: Type.Optional(desktop),
  },
  { additionalProperties: false },
);

/**
 * The rights that an external identity provider may grant. Every other right of the platform gives power over
 * the launches and records of others, so only our own realms grant it.
 */
const grantableRight = Type.Enum(['ocs-launch.write']);

const trustedIssuer = Type.Object(
  {
    issuer: issuerUrl,
    /** The address of its keys, if its discovery document is not used. */
    jwksUri: Type.Optional(Type.String({ pattern: '^https?://' })),
    /** Audiences that its tokens may have; the platform's own when absent. */
    audiences: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    /** The claims that may contain the right; all three when absent. */
    rightClaims: Type.Optional(Type.Array(Type.Enum(['scope', 'scp', 'roles']), { minItems: 1 })),
    /**
     * The claim that contains the client, as `cid`; the first of `client_id`, `azp` and `appid` when absent.
     */
    clientIdClaim: Type.Optional(claimName),
    /** The rights that its tokens may grant; `ocs-launch.write` when absent. */
    grants: Type.Optional(Type.Array(grantableRight)),
    /**
     * Whether its access tokens do not name their type (`typ` of RFC 9068 section 2.1), as those of Microsoft
     * Entra ID. ID tokens are refused nevertheless.
     */
    acceptsAnyTokenType: Type.Optional(Type.Boolean()),
    /** Whether its tokens may omit `kid` (RFC 7515 section 4.1.4), as those of an issuer with one key. */
    acceptsMissingKeyId: Type.Optional(Type.Boolean()),
    /** The clients that may call, and their registrations. */
    clients: Type.Array(
      Type.Object(
        { clientId: Type.String({ minLength: 1 }), suspended, ...launchPolicy },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/**
 * The declarative registry: our realms with their clients, and the external identity providers that we trust.
 */
export const registrySchema = Type.Object(
  { realms: Type.Array(realm), trustedIssuers: Type.Optional(Type.Array(trustedIssuer)) },
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
  readonly directory?: string;
};

const compiled = compileSchema(registrySchema);

type ParseOptions = {
  /** The platform's own address, below which are the issuers of its realms. */
  readonly publicUrl?: string;
};

/**
 * Checks the content of a registry file: its form, that nothing is registered twice, and that no entry
 * contradicts another.
 * @throws TypeError that lists every error by its path, without the hashes of secrets
 */
export function parseRegistry(candidate: unknown, { publicUrl }: ParseOptions = {}): Registry {
  const contradictions = contradictionsIn(candidate, publicUrl);
  if (contradictions.length === 0 && compiled.is(candidate)) return candidate;
  throw registryError([...compiled.faultsOf(candidate), ...contradictions]);
}

/** Returns the registry without its suspended clients and partners, as the services use it. */
export function activeRegistry({ realms, trustedIssuers, ...others }: Registry): Registry {
  return {
    ...others,
    realms: realms.map(({ desktop, ...realm }) => ({
      ...realm,
      clients: realm.clients.filter(isActive),
      ...(desktop === undefined
        ? {}
        : { desktop: { ...desktop, partners: desktop.partners.filter(isActive) } }),
    })),
    ...(trustedIssuers === undefined
      ? {}
      : {
          trustedIssuers: trustedIssuers.map((trusted) => ({
            ...trusted,
            clients: trusted.clients.filter(isActive),
          })),
        }),
  };
}

const isActive = ({ suspended: isSuspended = false }: { readonly suspended?: boolean }) => !isSuspended;

function registryError(faults: readonly FileFault[]): TypeError {
  const said = faults.map(({ path, message }) => `${path} ${message}`);
  return new TypeError(`The registry is invalid:\n  ${said.join('\n  ')}`);
}
