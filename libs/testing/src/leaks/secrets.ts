const longWords = /[\w-]{30,}/g;

/**
 * Returns what is long enough to be random, such as payload and signature of a JWT, but not its header and no
 * GUID: logs and events name launches by theirs.
 */
export function partsOf(text: string): string[] {
  return (text.match(longWords) ?? []).filter(
    (part) => !isGuid(part) && !(part.startsWith('eyJ') && isHeader(part)),
  );
}

const isGuid = (part: string) =>
  part.length === 36 && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(part);

const isHeader = (part: string) => Buffer.from(part, 'base64url').toString('latin1').startsWith('{"alg"');

/** The parameters of queries and forms whose values are secret. */
const secretParameters = new Set(
  `launchToken codeVerifier ticket launch code code_verifier client_secret client_assertion
  token access_token refresh_token id_token_hint`.split(/\s+/),
);

/** Returns the secrets in the headers of a request: tokens, the secrets of Basic credentials, and cookies. */
export function secretsOfHeaders(authorization: string, cookie: string): string[] {
  const basic = /^basic (.+)/i.exec(authorization)?.[1];
  const credentials = basic === undefined ? '' : Buffer.from(basic, 'base64').toString();
  const cookies = cookie.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1));
  return [authorization, credentials, ...cookies].flatMap(partsOf);
}

/** Returns the secrets in a query or a form. */
export function secretsOfForm(form: URLSearchParams): string[] {
  return [...form].flatMap(([name, value]) => (secretParameters.has(name) ? partsOf(value) : []));
}

/**
 * Returns a URL without the secrets that the protocols put there: a launch URL has two, however it is
 * misspelt, a launch identifier and a code have parameters of their own, and a host ends its launch by its
 * identifier. The sign-in of the demo's staff is a library's: its pages and its cookie have the same value.
 */
export function withoutOwnSecrets(path: string, query: URLSearchParams): string {
  const rest = [...query].filter(([name]) => name !== 'launch' && name !== 'code');
  const address = path.replace(/(?<=\/launches\/|\/demo\/staff\/(?:auth|sign-in)\/)[\w-]+$/, '');
  const url = `${address}?${rest.map(([name, value]) => `${name}=${value}`).join('&')}`;
  return /secureLaunch/i.test(path) ? url.replaceAll(longWords, '') : url;
}
