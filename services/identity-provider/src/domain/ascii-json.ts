/**
 * JSON in ASCII alone, everything else as `\uXXXX`: clients that decode a token's Base64URL with `atob` read each
 * character of a name and not the bytes of its UTF-8.
 */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
