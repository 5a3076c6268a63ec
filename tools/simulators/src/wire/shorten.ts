/** The names of query parameters and form fields with secret values. */
const secretParameters = [
  'access_token',
  'client_assertion',
  'client_secret',
  'code',
  'code_verifier',
  'codeVerifier',
  'launch',
  'launchToken',
  'refresh_token',
  'request_uri',
  'token',
].join('|');

/** Patterns of the secrets in an HTTP message. The second group matches the secret. */
const secrets = [
  new RegExp(`(\\b(?:${secretParameters})=)([^&\\s"'<>]+)`, 'g'),
  /("(?:access_token|id_token|launch|refresh_token)":\s*")([^"]+)/g,
  /^(Authorization: \w+ )(\S+)/gim,
  /^(Set-Cookie: [^=]+=)([^;\n]+)/gim,
];

/** Returns the beginning of a secret, and its length. */
export const shortened = (secret: string): string =>
  `${secret.slice(0, Math.min(8, secret.length / 2))}… (${secret.length} characters)`;

/** Returns an HTTP message, as `messageText` writes it, with only the beginning of each secret. */
export function shortenSecrets(message: string): string {
  const withCookies = message.replace(/^(Cookie: )(.+)$/gim, (_line, name: string, pairs: string) =>
    name.concat(pairs.replace(/=([^;]+)/g, (_pair, value: string) => `=${shortened(value)}`)),
  );
  return secrets.reduce(
    (text, pattern) =>
      text.replace(pattern, (_match, name: string, secret: string) => name + shortened(secret)),
    withCookies,
  );
}
