import { callbackAddressFault, partnerAddressFault } from '@clinical-launch/contracts/registered-address';
import { compileSchema } from '@clinical-launch/contracts/schema';
import type { TSchema } from '@clinical-launch/contracts/type';
import * as words from '@clinical-launch/contracts/words';
import type { Option } from '../command.ts';

type FaultOf = NonNullable<Option['faultOf']>;

/** Checks a value as the registry does. */
function asWord(schema: TSchema): FaultOf {
  const compiled = compileSchema(schema);
  return (value) => compiled.faultsOf(value)[0]?.message;
}

const mustMatch =
  (form: RegExp, fault: string): FaultOf =>
  (value) =>
    form.test(value) ? undefined : fault;

/** Checks both the rule for words in the registry and that the address is https. */
const httpsAddress: FaultOf = (value) =>
  asWord(words.httpAddress)(value) ?? (value.startsWith('https://') ? undefined : 'must be an https address');

const wholeNumber = mustMatch(/^[1-9]\d{0,8}$/, 'must be a whole number above zero');
const yesOrNo = mustMatch(/^(yes|no)$/, 'must be yes or no');
const practices = mustMatch(
  /^(any|(ods|local):\S{1,1024})$/,
  'must be any, or a code such as ods:B82017 or local:0042',
);
const realmOrIssuer: FaultOf = (value) =>
  asWord(value.includes('://') ? words.issuerUrl : words.realmName)(value);

/** Returns an option with a number of seconds; the registry checks the range. */
const seconds = (name: string, summary: string) =>
  ({ name, value: 'seconds', summary, isOptional: true, isUnasked: true, faultOf: wholeNumber }) as const;

/** Returns an option with yes or no; without it, each request decides. */
const choice = (name: string, summary: string) =>
  ({ name, value: 'yes|no', summary, isOptional: true, isUnasked: true, faultOf: yesOrNo }) as const;

const all = {
  file: {
    name: 'file',
    value: 'path',
    summary: 'The registry file; REGISTRY_FILE if it is not given',
    isOptional: true,
    isUnasked: true,
  },
  realm: {
    name: 'realm',
    value: 'realm',
    summary: 'Realm, one or two path segments',
    faultOf: asWord(words.realmName),
  },
  desktopRealm: {
    name: 'realm',
    value: 'realm',
    summary: 'Realm, two path segments',
    faultOf: (value) =>
      asWord(words.realmName)(value) ??
      (value.includes('/') ? undefined : 'must be two segments of a-z, 0-9 and -, such as north/desktop'),
  },
  /** The owner of a client: one of our realms, or an identity provider that we trust. */
  owner: {
    name: 'realm',
    value: 'realm',
    summary: 'Realm, or the issuer of a trusted identity provider',
    faultOf: realmOrIssuer,
  },
  issuer: {
    name: 'issuer',
    value: 'url',
    summary: 'Issuer of the identity provider, exactly as in its tokens',
    faultOf: asWord(words.issuerUrl),
  },
  clientId: {
    name: 'client-id',
    value: 'id',
    summary: 'Client id: 1 to 200 letters, digits, . _ ~ or -',
    faultOf: asWord(words.clientId),
  },
  /** The id of a client of an external identity provider, which chose it. */
  foreignClientId: { name: 'client-id', value: 'id', summary: 'Client id, exactly as in the tokens' },
  name: { name: 'name', value: 'name', summary: 'Name, for people' },
  requestsPerSecond: {
    name: 'requests-per-second',
    value: 'number',
    summary: 'Limit of requests per second',
    isOptional: true,
    faultOf: wholeNumber,
  },
  frameAncestors: {
    name: 'frame-ancestor',
    value: 'origin',
    summary: 'Origins whose pages may frame the launched application',
    isOptional: true,
    isRepeatable: true,
    faultOf: asWord(words.origin),
  },
  resultOrigin: {
    name: 'result-origin',
    value: 'origin',
    summary: 'Origin that is offered the order document',
    isOptional: true,
    faultOf: asWord(words.origin),
  },
  launchErrorPage: {
    name: 'launch-error-page',
    value: 'url',
    summary: 'Page of the practice system for users whose launch was refused',
    isOptional: true,
    isUnasked: true,
    faultOf: callbackAddressFault,
  },
  practices: {
    name: 'practices',
    value: 'code',
    summary:
      'Practices that it may launch for: any, or codes such as ods:B82017 local:0042 (production requires it)',
    isOptional: true,
    isRepeatable: true,
    faultOf: practices,
  },
  boundPractices: {
    name: 'practices',
    value: 'code',
    summary: 'Practices that it may launch for: any, or codes such as ods:B82017 local:0042',
    isRepeatable: true,
    faultOf: practices,
  },
  directory: {
    name: 'directory',
    value: 'path',
    summary: 'File of the values that were agreed with it, relative to the registry file',
    isOptional: true,
    isUnasked: true,
  },
  rights: {
    name: 'right',
    value: 'right',
    summary: 'Rights, such as audit.read or token.introspect',
    isRepeatable: true,
    faultOf: asWord(words.scopeToken),
  },
  jwks: {
    name: 'jwks',
    value: 'path',
    summary: 'File with the public keys of the client, instead of a secret (JWK Set)',
    isOptional: true,
    isUnasked: true,
  },
  jwksUri: {
    name: 'jwks-uri',
    value: 'url',
    summary: 'Address where the keys are published',
    isOptional: true,
    isUnasked: true,
    faultOf: httpsAddress,
  },
  tlsSanDns: {
    name: 'tls-san-dns',
    value: 'host',
    summary: 'Host name in its TLS certificates, instead of a secret (tls_client_auth)',
    isOptional: true,
    isUnasked: true,
    faultOf: asWord(words.hostName),
  },
  tlsThumbprints: {
    name: 'tls-thumbprint',
    value: 'x5t#S256',
    summary: 'SHA-256 of its TLS certificates, instead of a secret (self_signed_tls_client_auth)',
    isOptional: true,
    isUnasked: true,
    isRepeatable: true,
    faultOf: asWord(words.certificateThumbprint),
  },
  certificateBound: choice(
    'certificate-bound-access-tokens',
    'Whether its access tokens are bound to its certificate (RFC 8705)',
  ),
  dpopBound: choice('dpop-bound-access-tokens', 'Whether its access tokens must be bound by DPoP (RFC 9449)'),
  requirePar: choice(
    'require-pushed-authorization-requests',
    'Whether it must push its authorization requests (RFC 9126)',
  ),
  launchUrl: {
    name: 'launch-url',
    value: 'address',
    summary: 'launchUrl: the address of the launch handler',
    faultOf: partnerAddressFault,
  },
  redirectUris: {
    name: 'redirect-uri',
    value: 'address',
    summary: 'redirectUri: the address of the auth handler',
    isRepeatable: true,
    faultOf: partnerAddressFault,
  },
  backchannelLogoutUri: {
    name: 'backchannel-logout-uri',
    value: 'url',
    summary: 'backchannelLogoutUri: where the application is notified of launches that were revoked',
    isOptional: true,
    isUnasked: true,
    faultOf: callbackAddressFault,
  },
  profile: {
    name: 'profile',
    value: 'profile',
    summary: 'Profile, strict or standard (empty: strict)',
    isOptional: true,
    faultOf: asWord(words.partnerProfile),
  },
  scopes: {
    name: 'scope',
    value: 'scope',
    summary: 'Scopes (empty: openid profile email offline_access launch resource.read)',
    isOptional: true,
    isRepeatable: true,
    faultOf: asWord(words.scopeToken),
  },
  desktop: { name: 'desktop', summary: 'Makes it a realm of the desktop launch' },
  signingAlgorithm: {
    name: 'signing-algorithm',
    value: 'algorithm',
    summary: 'RS256 (the default), ES256 or EdDSA',
    isOptional: true,
    isUnasked: true,
    faultOf: asWord(words.signingAlgorithm),
  },
  accessTokenSeconds: seconds('access-token-seconds', 'Lifetime of access tokens'),
  launchIdentifierSeconds: seconds('launch-identifier-seconds', 'Lifetime of launch identifiers'),
  authorizationCodeSeconds: seconds('authorization-code-seconds', 'Lifetime of authorization codes'),
  refreshTokenSeconds: seconds('refresh-token-seconds', 'Idle time of refresh tokens'),
  sessionSeconds: seconds('session-seconds', 'Absolute lifetime of a launch'),
  sendsIssuer: choice('sends-issuer', 'Whether the authorization response carries iss (RFC 9207)'),
  audiences: {
    name: 'audience',
    value: 'audience',
    summary: "Audiences that its tokens may have, if they are not the platform's own",
    isOptional: true,
    isRepeatable: true,
  },
  rightClaims: {
    name: 'right-claim',
    value: 'claim',
    summary: 'The claims that may contain the right: scope, scp, roles (empty: all three)',
    isOptional: true,
    isUnasked: true,
    isRepeatable: true,
    faultOf: mustMatch(/^(scope|scp|roles)$/, 'must be scope, scp or roles'),
  },
  clientIdClaim: {
    name: 'client-id-claim',
    value: 'claim',
    summary: 'The claim that contains the client, if it is not client_id, azp or appid',
    isOptional: true,
    isUnasked: true,
    faultOf: asWord(words.claimName),
  },
  grants: {
    name: 'grant',
    value: 'right',
    summary: 'The rights that its tokens may grant (empty: ocs-launch.write)',
    isOptional: true,
    isUnasked: true,
    isRepeatable: true,
    faultOf: mustMatch(/^ocs-launch\.write$/, 'must be ocs-launch.write'),
  },
  acceptsAnyTokenType: choice(
    'accepts-any-token-type',
    'Whether its access tokens do not name their type, such as those of Microsoft Entra ID',
  ),
  acceptsMissingKeyId: choice('accepts-missing-key-id', 'Whether its tokens may omit kid'),
  callbackUrl: {
    name: 'url',
    value: 'url',
    summary: 'Address to which the order document is posted',
    faultOf: callbackAddressFault,
  },
  keepOldHours: {
    name: 'keep-old-hours',
    value: 'hours',
    summary: 'Hours that the old secret remains valid (empty: 24)',
    isOptional: true,
    faultOf: mustMatch(/^\d{1,4}$/, 'must be a number of hours'),
  },
  clear: {
    name: 'clear',
    value: 'option',
    summary: 'Option whose value is removed, without its dashes: requests-per-second',
    isOptional: true,
    isUnasked: true,
    isRepeatable: true,
  },
} as const satisfies Record<string, Option>;

/** Every option of the registry commands. */
export const options: { readonly [Name in keyof typeof all]: Option } = all;
