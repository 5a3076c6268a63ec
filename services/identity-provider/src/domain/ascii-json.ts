/**
 * Returns JSON in ASCII, with every other character as `\uXXXX`. Clients that decode a token's Base64URL with
 * `atob` read each byte of its UTF-8 as a character.
 */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
