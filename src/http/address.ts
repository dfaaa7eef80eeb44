import { isIPv4, isIPv6 } from 'node:net';

/** This machine, whichever of its many loopback addresses was used. */
const LOOPBACK = 'loopback';

/**
 * One name for one caller: `::ffff:192.0.2.1` is `192.0.2.1`, an IPv6 address is its /64, since whoever
 * has one has all of them, and every loopback address is the same machine. Brackets, a port and a zone
 * are left out. Undefined for what is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^(\d[\d.]*):\d+$/, '$1')
    .replace(/%.*/s, '');
  if (isIPv4(bare)) return nameOf4(bare);
  return isIPv6(bare) ? nameOf6(groupsOf(bare)) : undefined;
}

function nameOf4(address: string): string {
  return address.startsWith('127.') ? LOOPBACK : address;
}

function nameOf6(groups: readonly number[]): string {
  const [seventh = 0, eighth = 0] = groups.slice(6);
  const isLow = groups.slice(0, 5).every((group) => group === 0);
  if (isLow && groups[5] === 0xffff) {
    return nameOf4([seventh >> 8, seventh & 0xff, eighth >> 8, eighth & 0xff].join('.'));
  }
  if (isLow && groups[5] === 0 && seventh === 0 && eighth === 1) return LOOPBACK;
  const prefix = groups.slice(0, 4).map((group) => group.toString(16));
  return `${prefix.join(':')}::/64`;
}

/** The eight groups of a valid address; the URL parser has turned a dotted end into two of them. */
function groupsOf(address: string): readonly number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail] = canonical.split('::').map((part) => part.split(':').filter(Boolean));
  const gap = tail === undefined ? 0 : 8 - head.length - tail.length;
  const texts = [...head, ...Array.from({ length: gap }, () => '0'), ...(tail ?? [])];
  return texts.map((group) => Number.parseInt(group, 16));
}
