/*
 * The schemas of single values in the registry. The registry schema and the operator's commands use them.
 */
import { Type } from './type.ts';

export const clientId = Type.String({
  // A client of `.` or `..` would have no address of its own.
  pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._~-]{1,200}$',
  description: 'must be 1 to 200 letters, digits or the characters . _ ~ -, but not . or ..',
});

/**
 * One or two path segments, such as `demo/desktop`, in lower case. Requests may use any case. `tfp` is ignored
 * at the start of a realm in addresses, and the other excluded names are paths of the identity provider.
 */
export const realmName = Type.String({
  pattern: '^(?!(?:tfp|assets|launches)(?:/|$))[a-z0-9-]+(?:/(?!launches$)[a-z0-9-]+)?$',
  description:
    'must be one or two path segments of a-z, 0-9 and -, not beginning with tfp, assets or launches, or ending with launches',
});

/** A scope token (RFC 6749 section 3.3). */
export const scopeToken = Type.String({
  pattern: '^[!#-\\[\\]-~]+$',
  description: 'must be an OAuth scope token',
});

/** The pattern of an origin: scheme, host and port (RFC 6454), in ASCII, because headers contain it. */
export const originPattern = '^https?://[!"$-.0->@-~]+$';

export const origin = Type.String({
  pattern: originPattern,
  description: 'must be an origin: scheme, host and port, without a path, in ASCII',
});

/** An address to which the platform sends requests, such as a callback or the keys of a client. */
export const httpAddress = Type.String({
  pattern: '^https?://[^/?#@\\s]+([/?][!"$-~]*)?$',
  description: 'must be an absolute http or https address without user, password or fragment',
});

/**
 * Schemes that partner addresses must not use. Browsers execute the content of some schemes. No partner
 * application handles the remaining schemes.
 */
export const refusedSchemes = [
  'javascript',
  'data',
  'vbscript',
  'file',
  'blob',
  'about',
  'ftp',
  'ws',
  'wss',
  'mailto',
] as const;

/**
 * A launchUrl or redirectUri: a scheme and a host or path, such as `https://partner.example/launch`,
 * `partnerapp://auth`, `com.example.app:/auth` or `http://127.0.0.1/callback`. It must be printable ASCII,
 * because the platform writes it into a header unchanged.
 */
export const partnerAddress = Type.String({
  pattern: `^(?!(${refusedSchemes.join('|')}):)[a-z][a-z0-9+.-]*:/[!"$-~]+$`,
  description: 'must be an absolute address without a fragment',
});

/** The issuer of an external identity provider, exactly as its tokens contain it. */
export const issuerUrl = Type.String({
  pattern: '^https?://[^?#\\s]+$',
  description: 'must be the issuer URL exactly as in its tokens',
});

export const claimName = Type.String({
  pattern: '^[!-~]{1,200}$',
  description: 'must be the name of a claim',
});

/** A host name, such as a SAN dNSName of a certificate (RFC 8705 section 2.1.2). */
export const hostName = Type.String({
  pattern:
    '^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$',
  description: 'must be a host name, such as client.example.org',
});

/** The thumbprint `x5t#S256` of a certificate (RFC 8705 section 3.1). */
export const certificateThumbprint = Type.String({
  pattern: '^[A-Za-z0-9_-]{43}$',
  description: 'must be the SHA-256 of a certificate in Base64URL, 43 characters without padding',
});

/** The maximum number of requests that a client may send to each endpoint in any second. */
export const requestLimit = Type.Integer({ minimum: 1 });

/**
 * `strict` requires every field that the specification requires. `standard` accepts the requests of standard
 * OAuth clients.
 */
export const partnerProfile = Type.Enum(['strict', 'standard']);

export const signingAlgorithm = Type.Enum(['RS256', 'ES256', 'EdDSA']);
