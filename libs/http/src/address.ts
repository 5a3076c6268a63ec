import { isIPv6 } from 'node:net';

/** The maximum length of an address as text (RFC 4291 section 2.2). */
const longest = 45;

/**
 * Returns an address as it is audited: an IPv4 address that was mapped into IPv6 (RFC 4291 section 2.5.5.2)
 * as IPv4.
 */
export function plainAddress(address: string | undefined): string {
  return (address ?? 'unknown').replace(/^::ffff:(?=\d+\.)/i, '').slice(0, longest);
}

/**
 * Returns the unit that counts as one address: an IPv4 address, or a /64, which is one IPv6 subscriber (RFC
 * 6177).
 */
export function networkOf(address: string): string {
  const [ip = ''] = address.split('%', 1);
  if (!isIPv6(ip)) return address;
  const [head = '', tail] = ip.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  // An IPv4 address at the end counts as two groups.
  const groupsAfter = after.length + (ip.includes('.') ? 1 : 0);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - groupsAfter);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
