import { BlockList, isIP } from 'node:net';

/** Decides to which IP addresses outgoing requests may go. */
export type NetworkGuard = {
  /** Returns true if the address is in a network that the operator allows (`OUTBOUND_ALLOWED_NETWORKS`). */
  isAllowed(address: string): boolean;
  /** Returns true if the address is a unicast address of the public internet. */
  isPublic(address: string): boolean;
};

/**
 * IPv4 networks outside the public internet: the special-purpose addresses that IANA registers (RFC 6890),
 * and multicast addresses.
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
 * IPv6 addresses are public if they are in `globalUnicast` but not in `specialIpv6`, which contains special
 * ranges and ranges with embedded IPv4 addresses (Teredo, 6to4). This excludes loopback, unspecified,
 * IPv4-mapped, NAT64, unique local, link-local and multicast addresses.
 */
const globalUnicast = ['2000::/3'];
const specialIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/**
 * Creates a network guard.
 * @throws TypeError if a network is not in CIDR notation
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

/** Returns true if the text is a network in CIDR notation, such as `10.1.0.0/16` or `fd00::/8`. */
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
 * Returns true if a list contains an address. An IPv4-mapped address (`::ffff:10.0.0.1`) also matches IPv4
 * networks.
 */
const holds = (list: BlockList, address: string) =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
