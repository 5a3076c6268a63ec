/** Schemes that run what they carry, or that no application of a partner answers. */
const refusedSchemes = new Set([
  'javascript:',
  'data:',
  'vbscript:',
  'file:',
  'blob:',
  'about:',
  'ftp:',
  'ws:',
  'wss:',
  'mailto:',
]);

/**
 * What is wrong with a launchUrl or redirectUri that a partner registers; undefined when nothing is. `https`, an
 * application's own scheme (RFC 8252 section 7.1), or `http` to the user's own machine (section 7.3).
 */
export function partnerAddressFault(address: string): string | undefined {
  // Stands for the platform's own address, in the registry of its demo.
  const readable = address.replace(/^\$\{PUBLIC_URL\}(?=\/)/, 'https://platform.invalid');
  if (!/^[a-z][a-z0-9+.-]*:\/[!"$-~]+$/.test(readable) || !URL.canParse(readable)) {
    return 'must be an absolute address of printable ASCII without a fragment, its scheme in small letters';
  }
  const { protocol, username, password, hostname } = new URL(readable);
  if (refusedSchemes.has(protocol)) return `must not have the scheme ${protocol}`;
  if (username !== '' || password !== '') return 'must not name a user or a password';
  if (protocol === 'http:' && hostname !== '127.0.0.1' && hostname !== '[::1]') {
    return 'must be https; http only for 127.0.0.1 or [::1]';
  }
  return undefined;
}
