import { refusedSchemes } from './words.ts';

const placeholder = '${PUBLIC_URL}';
/** An address for a registry that is read away from its platform. */
export const anyPublicUrl = 'https://platform.invalid';

/** Writes the platform's address wherever a registry has `${PUBLIC_URL}`. */
export const withPublicUrl = (text: string, publicUrl: string): string =>
  text.replaceAll(placeholder, publicUrl);

/**
 * Returns what is wrong with a launchUrl or redirectUri; undefined if a partner may register it. That is
 * `https`, an application's own scheme (RFC 8252 section 7.1), or `http` to the user's own machine (section
 * 7.3).
 */
export function partnerAddressFault(address: string): string | undefined {
  const url = readable(address, /^[a-z][a-z0-9+.-]*:\/[!"$-~]+$/);
  if (url === undefined) {
    return 'must be an absolute address of printable ASCII without a fragment, its scheme in small letters';
  }
  if (refusedSchemes.some((scheme) => url.protocol === `${scheme}:`)) {
    return `must not have the scheme ${url.protocol}`;
  }
  if (namesUser(url)) return 'must not name a user or a password';
  if (url.protocol === 'http:' && url.hostname !== '127.0.0.1' && url.hostname !== '[::1]') {
    return 'must be https; http only for 127.0.0.1 or [::1]';
  }
  return undefined;
}

/** Returns what is wrong with an address for callbacks; undefined if a client may register it. */
export function callbackAddressFault(address: string): string | undefined {
  const url = readable(address, /^https?:\/\/[!"$-~]+$/);
  if (url === undefined) return 'must be an absolute https address of printable ASCII without a fragment';
  if (namesUser(url)) return 'must not name a user or a password';
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return undefined;
  return 'must be https; http only for this machine, outside production';
}

/** Returns whether a host is the machine itself: where a PMS is developed, and never in production. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);

function readable(address: string, form: RegExp): URL | undefined {
  const url = address.startsWith(`${placeholder}/`) ? withPublicUrl(address, anyPublicUrl) : address;
  return form.test(url) && URL.canParse(url) ? new URL(url) : undefined;
}

const namesUser = ({ username, password }: URL) => username !== '' || password !== '';
