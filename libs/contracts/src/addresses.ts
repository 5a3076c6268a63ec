import { refusedSchemes } from './registry-values.ts';

const placeholder = '${PUBLIC_URL}';
/**
 * The value for `${PUBLIC_URL}` in programs that do not know the platform's address, such as the operator's
 * tool.
 */
export const anyPublicUrl = 'https://platform.invalid';

/** Replaces `${PUBLIC_URL}` in the text of a registry with the address of the platform. */
export const withPublicUrl = (text: string, publicUrl: string): string =>
  text.replaceAll(placeholder, publicUrl);

/**
 * Returns the error of a launchUrl or redirectUri, or undefined if a partner may register the address. The
 * scheme may be `https`, the private-use scheme of an application (RFC 8252 section 7.1), or `http` with a
 * loopback address (section 7.3). Outside production, the host may also be `localhost`, where developers run
 * their applications. This name may resolve to another machine (section 8.3).
 */
export function partnerAddressFault(
  address: string,
  { isProduction }: { readonly isProduction: boolean },
): string | undefined {
  const url = readable(address, /^[a-z][a-z0-9+.-]*:\/[!"$-~]+$/);
  if (url === undefined) {
    return 'must be an absolute address of printable ASCII without a fragment, with a scheme in lower case';
  }
  if (refusedSchemes.some((scheme) => url.protocol === `${scheme}:`)) {
    return `must not use the scheme ${url.protocol}`;
  }
  if (namesUser(url)) return 'must not contain a user or a password';
  const hosts = ['127.0.0.1', '[::1]', ...(isProduction ? [] : ['localhost'])];
  if (url.protocol === 'http:' && !hosts.includes(url.hostname)) {
    return `must be https, or http with ${hosts.join(' or ')}`;
  }
  return undefined;
}

/** Returns the error of a callback address, or undefined if a client may register the address. */
export function callbackAddressFault(address: string): string | undefined {
  const url = readable(address, /^https?:\/\/[!"$-~]+$/);
  if (url === undefined) return 'must be an absolute https address of printable ASCII without a fragment';
  if (namesUser(url)) return 'must not contain a user or a password';
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return undefined;
  return 'must be https; http is allowed only for this machine, outside production';
}

/** Adds query parameters to an address. Leaves the rest of the address unchanged, including its query. */
export function withParameters(address: string, parameters: Readonly<Record<string, string>>): string {
  const query = Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  if (!address.includes('?')) return `${address}?${query}`;
  return /[?&]$/.test(address) ? `${address}${query}` : `${address}&${query}`;
}

/**
 * Returns true if a host name is `localhost` or a loopback address. Developers of a PMS use these hosts.
 * Production refuses them.
 */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);

function readable(address: string, form: RegExp): URL | undefined {
  const url = address.startsWith(`${placeholder}/`) ? withPublicUrl(address, anyPublicUrl) : address;
  return form.test(url) && URL.canParse(url) ? new URL(url) : undefined;
}

const namesUser = ({ username, password }: URL) => username !== '' || password !== '';

/**
 * Returns the base URL of the endpoints of a realm.
 * @param publicUrl the origin of the platform
 */
export function realmUrl(publicUrl: string, realm: string): string {
  return `${publicUrl}/idp/${realm}`;
}

/** Returns the issuer of a realm, exactly as the claim `iss` of its tokens contains it. */
export function issuerOf(publicUrl: string, realm: string): string {
  return `${realmUrl(publicUrl, realm)}/v2.0`;
}

/** The path of the public keys of a realm (JWK Set, RFC 7517 section 5), relative to `realmUrl`. */
export const keysPath = '/discovery/v2.0/keys';
