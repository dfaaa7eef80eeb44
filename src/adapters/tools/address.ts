import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Ranges of IPv4 that are nobody's public address (IANA's registry of special purposes). */
const IPV4: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // A cloud's own services answer here, for its machines alone.
  '168.63.129.16/32',
];

/**
 * Within 2000::/3, which alone is routed: protocols of their own with Teredo, documentation, 6to4.
 * Mapped, compatible and translated IPv4 (::/96, ::ffff:0:0/96, 64:ff9b::/96) lie outside of it.
 */
const IPV6: readonly string[] = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
];

const special = blockList([...IPV4, ...IPV6]);
const routed = blockList(['2000::/3']);

/**
 * True for an address of the public net that is not this machine's own. Whatever carries an IPv4
 * address within itself, or is no plain address at all, is not public.
 */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes('%') || isOwn(address)) return false;
  if (version === 4) return !special.check(address, 'ipv4');
  return routed.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** What listens here for others may trust whoever comes from here. */
function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((one) => one.address === address),
  );
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = '', prefix] = range.split('/');
    list.addSubnet(net, Number(prefix), isIP(net) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}
