import { withParameters } from '@clinical-launch/contracts/addresses';
import { isCodeChallenge } from '@clinical-launch/contracts/formats';
import type { RegisteredPartner } from '@clinical-launch/contracts/registry';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { isRegisteredRedirect } from './addresses.ts';
import { ticketOfRequestUri } from './pushed-request.ts';
import type { DesktopIssuingRealm } from './realms.ts';

/**
 * The error codes of an authorization request (RFC 6749 section 4.1.2.1, RFC 9101 section 7, OpenID Connect
 * Core 1.0 section 3.1.2.6).
 */
type AuthorizeErrorCode =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'login_required'
  | 'request_not_supported'
  | 'registration_not_supported'
  | 'invalid_request_uri';

/** An invalid parameter and the reason. Never contains the sent value. */
export type ParameterFault = {
  readonly name: string;
  readonly code: AuthorizeErrorCode;
  readonly message: string;
};

/**
 * An authorization request with valid parameters. The launch identifier is checked only when it is redeemed.
 */
export type AuthorizationRequest = {
  readonly partner: RegisteredPartner;
  readonly redirectUri: string;
  readonly scope: string;
  readonly codeChallenge: string;
  readonly state?: string;
  readonly launch: string;
  readonly nonce?: string;
  /** The thumbprint of the key that must redeem the code (RFC 9449 section 10). */
  readonly dpopKey?: string;
  /** The maximum number of seconds since the user signed in (`max_age`). */
  readonly maxAgeSeconds?: number;
  /** The requested `acr` values: required or preferred, depending on the registry. */
  readonly acrValues?: readonly string[];
};

type Rule = {
  readonly name: string;
  readonly code: AuthorizeErrorCode | ((value: string) => AuthorizeErrorCode);
  /** The error message when `fits` returns false. */
  readonly message: string;
  /** Returns a hint about a frequent mistake, which is appended to the message. */
  readonly hint?: (value: string, partner: RegisteredPartner | undefined) => string;
  /**
   * Returns whether a value is valid. If the partner is unknown, skips the checks that depend on the partner.
   */
  fits(value: string, partner: RegisteredPartner | undefined, realm: DesktopIssuingRealm): boolean;
  /** Returns whether the parameter may be omitted. If this function is absent, the parameter is required. */
  readonly isOptional?: (partner: RegisteredPartner | undefined) => boolean;
};

/** A published rule. The message completes a sentence that starts with the parameter's name. */
type AuthorizationRule = Pick<Rule, 'name' | 'message'> & { readonly isOptional: boolean };

const invalid = 'invalid_request' as const;
const stateBytes = 2048;

const isLocalhost = (address: string) => /^http:\/\/localhost[:/]/.test(address);

/** Says how an address differs from a registered address, if they differ little. */
function redirectHint(value: string, { redirectUris = [] }: Partial<RegisteredPartner> = {}): string {
  const isNear = (change: (address: string) => string) =>
    redirectUris.some((registered) => change(registered) === change(value));
  if (isNear((address) => address.replace(/\/$/, ''))) return '. It differs only by the slash at its end';
  if (isNear((address) => address.toLowerCase())) return '. It differs only by letter case';
  // The name localhost may resolve to another machine (RFC 8252 section 8.3).
  return isLocalhost(value) && !redirectUris.some(isLocalhost) ? ' (use 127.0.0.1, not localhost)' : '';
}

const isStandard = (partner: RegisteredPartner | undefined) => partner?.profile === 'standard';

const clientRule: Rule = {
  name: 'client_id',
  code: 'unauthorized_client',
  message: 'is not the client id of a partner application of this realm',
  fits: (_value, partner) => partner !== undefined,
};

/**
 * The rules of the specification's table (Desktop: Authorization request form fields), of `nonce`, `max_age`,
 * `acr_values` and `prompt` in OpenID Connect Core 1.0 section 3.1.2.1, of `dpop_jkt` in RFC 9449, and of
 * `aud` in SMART App Launch 2.2.
 */
const rules: readonly Rule[] = [
  clientRule,
  {
    name: 'response_type',
    code: 'unsupported_response_type',
    message: 'must be code',
    fits: (value) => value === 'code',
  },
  {
    name: 'redirect_uri',
    code: invalid,
    message: 'must be a registered redirect URI, with exactly the same characters',
    hint: redirectHint,
    fits: (value, partner) =>
      partner === undefined || partner.redirectUris.some((one) => isRegisteredRedirect(one, value)),
  },
  {
    name: 'response_mode',
    code: invalid,
    message: 'must be query',
    fits: (value) => value === 'query',
    isOptional: isStandard,
  },
  {
    name: 'scope',
    code: 'invalid_scope',
    message: 'may contain only scopes that the application is registered for, separated by single spaces',
    fits: (value, partner) => partner === undefined || narrowScope(value, partner.scopes) !== undefined,
  },
  {
    name: 'code_challenge',
    code: invalid,
    message: 'must be the Base64URL encoding of a SHA-256 hash, 43 characters without padding',
    fits: isCodeChallenge,
  },
  {
    name: 'code_challenge_method',
    code: invalid,
    message: 'must be S256',
    fits: (value) => value === 'S256',
  },
  {
    name: 'state',
    code: invalid,
    message: 'must be UTF-8 of at most 2,048 bytes, since it is returned unchanged',
    // The decoder replaces invalid bytes with U+FFFD, so the returned state would differ from the sent state.
    fits: (value) => !value.includes('\uFFFD') && Buffer.byteLength(value) <= stateBytes,
    // PKCE protects the redirect too, and some libraries then send no state (RFC 9700 section 4.7.1).
    isOptional: isStandard,
  },
  { name: 'launch', code: invalid, message: 'was not issued by this service', fits: () => true },
  {
    name: 'nonce',
    code: invalid,
    message: 'must be UTF-8, since it is returned unchanged',
    fits: (value) => !value.includes('\uFFFD'),
    isOptional: () => true,
  },
  {
    name: 'dpop_jkt',
    code: invalid,
    message:
      'must be the Base64URL encoding of a SHA-256 thumbprint (RFC 7638), 43 characters without padding',
    fits: (value) => /^[A-Za-z0-9_-]{43}$/.test(value),
    isOptional: () => true,
  },
  {
    name: 'max_age',
    code: invalid,
    message: 'must be a number of seconds, such as 900',
    fits: (value) => /^\d{1,9}$/.test(value),
    isOptional: () => true,
  },
  {
    name: 'acr_values',
    code: invalid,
    message: 'must be at most 500 visible ASCII characters, with single spaces between the values',
    fits: (value) => /^[!-~]+( [!-~]+)*$/.test(value) && value.length <= 500,
    isOptional: () => true,
  },
  {
    name: 'prompt',
    code: (value) => (isNoneWithMore(value) ? invalid : 'login_required'),
    message:
      'must not contain login, because only the host application can let the user sign in again. Nor may none have another value beside it',
    // Libraries send `consent` with the scope `offline_access`. The launch needs neither consent nor a choice.
    fits: (value) => !isNoneWithMore(value) && !value.split(' ').includes('login'),
    isOptional: () => true,
  },
  {
    name: 'aud',
    code: invalid,
    message: 'must be the issuer, which is the base address of the FHIR resources',
    fits: (value, _partner, { issuer }) => value.replace(/\/$/, '') === issuer,
    isOptional: () => true,
  },
];

const isNoneWithMore = (prompt: string) => prompt !== 'none' && prompt.split(' ').includes('none');

/** The parameters of OpenID Connect Core 1.0 sections 6 and 7 whose content must not be ignored. */
const unsupportedRules: readonly Rule[] = (['request', 'registration'] as const).map((name) => ({
  name,
  code: `${name}_not_supported`,
  message: 'is not supported: send each parameter by itself',
  fits: () => false,
  isOptional: () => true,
}));

/** The rules for an authorization request that refers to a pushed request (RFC 9126 section 4). */
const referenceRules: readonly Rule[] = [
  clientRule,
  {
    name: 'request_uri',
    code: 'invalid_request_uri',
    message: 'must be a value that the pushed authorization request endpoint returned',
    fits: (value) => ticketOfRequestUri(value) !== undefined,
  },
];

/**
 * The parameters of an authorization request with their rules. Some optional parameters may be omitted by
 * every partner application, others only by partners with the profile `standard`.
 */
export const authorizationRules: readonly AuthorizationRule[] = rules.map(
  ({ name, message, isOptional }) => ({
    name,
    message,
    isOptional: isOptional !== undefined,
  }),
);

/** The names of the parameters of an authorization request. Other parameters are ignored. */
export const authorizationParameters: readonly string[] = rules.map(({ name }) => name);

/**
 * Reads the reference to a pushed authorization request (RFC 9126 section 4): `client_id` and `request_uri`.
 * Ignores every other parameter, because the pushed parameters replace all of them (RFC 9101 section 6.3).
 */
export function readPushedReference(
  sent: URLSearchParams,
  realm: DesktopIssuingRealm,
): { readonly clientId: string; readonly ticket: string } | { readonly faults: readonly ParameterFault[] } {
  const clientId = sent.get('client_id') ?? '';
  const partner = realm.desktop.partners.get(clientId);
  const faults = referenceRules.flatMap((rule) => faultsOf(rule, { sent, partner, realm }));
  const ticket = ticketOfRequestUri(sent.get('request_uri') ?? '');
  return faults.length > 0 || ticket === undefined ? { faults } : { clientId, ticket };
}

/**
 * Checks an authorization request. Each parameter must be sent once, must follow its rule, and may only be
 * empty if it is optional. Ignores unknown parameters.
 */
export function readAuthorizationRequest(
  sent: URLSearchParams,
  realm: DesktopIssuingRealm,
): { readonly request: AuthorizationRequest } | { readonly faults: readonly ParameterFault[] } {
  const partner = realm.desktop.partners.get(sent.get('client_id') ?? '');
  const faults = [...unsupportedRules, ...rules].flatMap((rule) => faultsOf(rule, { sent, partner, realm }));
  if (faults.length > 0 || partner === undefined) return { faults };
  const value = (name: string) => sent.get(name) ?? '';
  const request = {
    partner,
    redirectUri: value('redirect_uri'),
    scope: narrowScope(value('scope'), partner.scopes)?.join(' ') ?? '',
    codeChallenge: value('code_challenge'),
    launch: value('launch'),
    ...(value('state') === '' ? {} : { state: value('state') }),
    ...(value('nonce') === '' ? {} : { nonce: value('nonce') }),
    ...(value('dpop_jkt') === '' ? {} : { dpopKey: value('dpop_jkt') }),
    ...(value('max_age') === '' ? {} : { maxAgeSeconds: Number(value('max_age')) }),
    ...(value('acr_values') === '' ? {} : { acrValues: value('acr_values').split(' ') }),
  };
  return opensWhole(request, realm) ? { request } : { faults: [addressFault] };
}

/**
 * Returns the address that brings an authorization code to the partner application (RFC 6749 section 4.1.2).
 */
export function redirectAddress(
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  { issuer, desktop }: DesktopIssuingRealm,
  code: string,
): string {
  const iss = desktop.sendsIssuer ? issuer : undefined;
  return withParameters(redirectUri, withoutUndefined({ code, state, iss }));
}

const addressFault: ParameterFault = {
  name: 'redirect_uri',
  code: invalid,
  message: 'is too long with code, state and iss: Windows passes at most 2,046 characters to an application',
};

/**
 * Returns whether Windows passes the whole address of the redirect to an application
 * (electron/electron#40776). A code is as long as a launch identifier, because both are tickets.
 */
const opensWhole = (request: AuthorizationRequest, realm: DesktopIssuingRealm): boolean =>
  /^https?:/.test(request.redirectUri) || redirectAddress(request, realm, request.launch).length <= 2046;

type SentParameters = {
  readonly sent: URLSearchParams;
  readonly partner: RegisteredPartner | undefined;
  readonly realm: DesktopIssuingRealm;
};

function faultsOf(rule: Rule, { sent, partner, realm }: SentParameters): ParameterFault[] {
  const { name } = rule;
  const [value = '', ...more] = sent.getAll(name);
  if (more.length > 0) return [{ name, code: invalid, message: 'must not be sent more than once' }];
  // A parameter without a value counts as omitted (RFC 6749 section 3.1).
  if (value === '') {
    if (rule.isOptional?.(partner) === true) return [];
    const hint = rule.isOptional === undefined ? '' : ' (only clients of the profile standard may omit it)';
    return [{ name, code: invalid, message: `is missing${hint}` }];
  }
  if (rule.fits(value, partner, realm)) return [];
  const code = typeof rule.code === 'function' ? rule.code(value) : rule.code;
  return [{ name, code, message: rule.message + (rule.hint?.(value, partner) ?? '') }];
}

const scopeForm = /^[!#-[\]-~]+( [!#-[\]-~]+)*$/;

/**
 * Returns the words of a scope, each once and in order (RFC 6749 section 3.3), or undefined if the scope is
 * malformed.
 */
function readScope(scope: string): readonly string[] | undefined {
  return scopeForm.test(scope) ? [...new Set(scope.split(' '))] : undefined;
}

/** Returns the words of the requested scope if all of them may be granted. Otherwise returns undefined. */
export function narrowScope(requested: string, mayBeGiven: readonly string[]): readonly string[] | undefined {
  const words = readScope(requested);
  return words?.every((word) => mayBeGiven.includes(word)) === true ? words : undefined;
}
