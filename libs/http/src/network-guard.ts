import { BlockList, isIP } from 'node:net';

/** The addresses that outgoing requests may use. */
export type NetworkGuard = {
  /** Returns whether it is in a network that the operator allows (`OUTBOUND_ALLOWED_NETWORKS`). */
  isAllowed(address: string): boolean;
  /** Returns whether it is a unicast address of the public internet. */
  isPublic(address: string): boolean;
};

/**
 * IPv4 outside the public internet: the IANA registry of special-purpose addresses (RFC 6890), and multicast.
 */
const specialIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/**
 * Global unicast IPv6, without its special ranges and those that contain an IPv4 address (Teredo, 6to4).
 * Everything else is excluded: loopback, unspecified, IPv4-mapped, NAT64, unique local, link-local,
 * multicast.
 */
const globalUnicast = ['2000::/3'];
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/**
 * Creates the guard of these networks and the public internet. @throws TypeError for a network that is not a
 * CIDR
 */
export function createNetworkGuard(allowedNetworks: readonly string[]): NetworkGuard {
  const allowed = listOf(allowedNetworks);
  const special = listOf([...specialIpv4, ...specialIpv6]);
  const global = listOf(globalUnicast);
  return {
    isAllowed: (address) => holds(allowed, address),
    isPublic: (address) =>
      !holds(special, address) && (isIP(address) === 4 || (isIP(address) === 6 && holds(global, address))),
  };
}

/** Returns whether it is an address with the length of its network: `10.1.0.0/16`, `fd00::/8`. */
export function isCidr(network: string): boolean {
  const [address = '', length = '', ...more] = network.split('/');
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  return more.length === 0 && bits !== undefined && /^\d{1,3}$/.test(length) && Number(length) <= bits;
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    if (!isCidr(network)) throw new TypeError('A network must be an address and a length: 10.1.0.0/16');
    const [address = '', length = ''] = network.split('/');
    list.addSubnet(address, Number(length), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/**
 * Returns whether a list contains an address. An IPv4 address in IPv6 (`::ffff:10.0.0.1`) also matches the
 * networks of that IPv4 address.
 */
const holds = (list: BlockList, address: string) =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
