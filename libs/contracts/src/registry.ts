import { type Static, Type } from 'typebox';
import { clientCertificates } from './client-certificates.ts';
import { clientKeys } from './client-keys.ts';
import type { FileFault } from './fault.ts';
import { statedPracticesSchema } from './practice-binding.ts';
import { contradictionsIn } from './registry-contradictions.ts';
import { compileSchema } from './schema.ts';
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

/** RFC 3339; from then on a secret counts no more. */
const expires = Type.Optional(Type.String({ format: 'full-date-time' }));

/** What the seal of a callback's secret is bound to. */
export const callbackSecretPurpose = 'registry.callback.secret';

/** Where the order document is posted beside the page, and what signs it (Standard Webhooks). */
const callback = Type.Object(
  {
    url: httpAddress,
    /** Two at most, so that one can be rolled while the other works: as long as both live, both sign. */
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

/** Whether the entry counts as one that is not registered. It keeps what it says until the client is resumed. */
const suspended = Type.Optional(Type.Boolean());

/** What a PMS registered for its launches; the same whoever issued its tokens. */
const launchPolicy = {
  /** Requests in any one second to each endpoint, for this client; no limit when absent. */
  requestsPerSecond: Type.Optional(requestLimit),
  /** Origins whose pages may frame the launched application. */
  frameAncestors: Type.Optional(Type.Array(origin)),
  /** Origin that is offered the order document by postMessage. */
  resultOrigin: Type.Optional(origin),
  /** Where the order document is posted to. */
  callback: Type.Optional(callback),
  /** The practices that its payloads may name; any when absent, which production refuses. */
  practices: Type.Optional(statedPracticesSchema),
  /** The file of the values that were agreed with it, relative to the registry file; the shared one when absent. */
  directory: Type.Optional(Type.String({ minLength: 1 })),
};

const client = Type.Object(
  {
    clientId,
    name: Type.String({ minLength: 1 }),
    /** SHA-256 (hex) of the live secrets; two at most, so that one can be rolled while the other works. */
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
    /** Keys for `private_key_jwt` (RFC 7523), in place of secrets or beside them. */
    ...clientKeys,
    /** Certificates for mutual TLS (RFC 8705), in place of secrets or beside them. */
    ...clientCertificates,
    /** The rights that `<APP_ID_URI>/.default` stands for. */
    scopes: Type.Array(scopeToken),
    suspended,
    ...launchPolicy,
  },
  { additionalProperties: false },
);

/**
 * A partner application of the desktop launch: a public client (RFC 6749 section 2.1), known by its PKCE verifier,
 * unless it registers keys of its own.
 */
const partner = Type.Object(
  {
    clientId,
    name: Type.String({ minLength: 1 }),
    profile: Type.Optional(partnerProfile),
    /** Compared exactly; of `http://127.0.0.1` and `http://[::1]` any port fits (RFC 8252 section 7.3). */
    redirectUris: Type.Array(partnerAddress, { minItems: 1 }),
    launchUrl: partnerAddress,
    /** What it may ask for: `openid`, `profile`, `email`, `offline_access`, `launch`, and the realm's API scopes. */
    scopes: Type.Array(scopeToken),
    suspended,
    requestsPerSecond: Type.Optional(requestLimit),
    /**
     * Whether its access tokens must be bound to a key of its own by DPoP (RFC 9449); a choice per request when
     * absent.
     */
    dpopBoundAccessTokens: Type.Optional(Type.Boolean()),
    /** Whether it must push its authorization requests (RFC 9126 section 6); a choice per request when absent. */
    requirePushedAuthorizationRequests: Type.Optional(Type.Boolean()),
    /** Where it is told of launches that were revoked (OpenID Connect Back-Channel Logout 1.0 section 2.2). */
    backchannelLogoutUri: Type.Optional(httpAddress),
    /** Keys for `private_key_jwt` (RFC 7523): a partner that registers them must authenticate with them. */
    ...clientKeys,
    /**
     * Certificates for mutual TLS (RFC 8705): a partner that registers them must authenticate with keys or with them.
     */
    ...clientCertificates,
  },
  { additionalProperties: false },
);

/** What makes a realm one of the desktop launch; lifetimes in seconds. */
const desktop = Type.Object(
  {
    launchIdentifierSeconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 3600 })),
    authorizationCodeSeconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 600 })),
    /** Idle time of a refresh token; each refresh starts it again. */
    refreshTokenSeconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 2_592_000 })),
    /** Absolute lifetime, from the launch identifier on: no ticket or token of the launch outlives it. */
    sessionSeconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 2_592_000 })),
    /** Whether the authorization response carries `iss` (RFC 9207); true when absent. */
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
 * The rights that the identity provider of somebody else may grant. Every other right of the platform is power over
 * others' launches and records, and comes from our own realms alone.
 */
const grantableRight = Type.Enum(['ocs-launch.write']);

const trustedIssuer = Type.Object(
  {
    issuer: issuerUrl,
    /** Where its keys are, when its discovery document is not to be asked. */
    jwksUri: Type.Optional(Type.String({ pattern: '^https?://' })),
    /** Audiences that its tokens may carry; the platform's own when absent. */
    audiences: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
    /** The claims that may carry the right; all three when absent. */
    rightClaims: Type.Optional(Type.Array(Type.Enum(['scope', 'scp', 'roles']), { minItems: 1 })),
    /** The claim that carries the client, as `cid`; the first of `client_id`, `azp` and `appid` when absent. */
    clientIdClaim: Type.Optional(claimName),
    /** The rights that its tokens may carry; `ocs-launch.write` when absent. */
    grants: Type.Optional(Type.Array(grantableRight)),
    /**
     * Whether its access tokens do not name their type (`typ` of RFC 9068 section 2.1), as those of Microsoft Entra ID.
     * ID tokens are refused nevertheless.
     */
    acceptsAnyTokenType: Type.Optional(Type.Boolean()),
    /** Whether its tokens may leave out `kid` (RFC 7515 section 4.1.4), as those of an issuer that has one key. */
    acceptsMissingKeyId: Type.Optional(Type.Boolean()),
    /** The clients that may call, and what each registered. */
    clients: Type.Array(
      Type.Object(
        { clientId: Type.String({ minLength: 1 }), suspended, ...launchPolicy },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/** The declarative registry: our realms with their clients, and the identity providers of others that we trust. */
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
 * Checks a registry file's content: its shape, that nothing is registered twice, and that no entry contradicts another.
 * @throws TypeError that lists every fault by its path; secrets' hashes are not in it.
 */
export function parseRegistry(candidate: unknown, { publicUrl }: ParseOptions = {}): Registry {
  const contradictions = contradictionsIn(candidate, publicUrl);
  if (contradictions.length === 0 && compiled.is(candidate)) return candidate;
  throw registryError([...compiled.faultsOf(candidate), ...contradictions]);
}

/** Returns the registry without its suspended clients and partners: what the services go by. */
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
  return new TypeError(`The registry cannot be used:\n  ${said.join('\n  ')}`);
}
