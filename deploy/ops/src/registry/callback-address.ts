/** What is wrong with an address that a client registers for its callbacks; undefined when nothing is. */
export function callbackAddressFault(address: string): string | undefined {
  // Stands for the platform's own address, in the registry of its demo.
  const readable = address.replace(/^\$\{PUBLIC_URL\}(?=\/)/, 'https://platform.invalid');
  if (!/^https?:\/\/[!"$-~]+$/.test(readable) || !URL.canParse(readable)) {
    return 'must be an absolute https address of printable ASCII without a fragment';
  }
  const { protocol, username, password, hostname } = new URL(readable);
  if (username !== '' || password !== '') return 'must not name a user or a password';
  if (protocol === 'https:' || isLoopback(hostname)) return undefined;
  return 'must be https; http only for this machine, outside production';
}

/** Whether it is the machine itself: where a PMS is developed, and never in production. */
export const isLoopback = (hostname: string) =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
