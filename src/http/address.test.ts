import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalAddress } from './address.ts';

/** Each address with the one name that its caller is counted under. */
const NAMES: readonly (readonly [text: string, name: string | undefined])[] = [
  ['192.0.2.1', '192.0.2.1'],
  [' 192.0.2.1 ', '192.0.2.1'],
  ['192.0.2.1:80', '192.0.2.1'],
  ['192.0.2.1:8443', '192.0.2.1'],
  ['192.0.2.1:80x', undefined],
  ['x192.0.2.1:80', undefined],
  ['127.0.0.1', 'loopback'],
  ['127.9.8.7', 'loopback'],
  ['128.0.0.1', '128.0.0.1'],
  ['12.7.0.1', '12.7.0.1'],
  ['::1', 'loopback'],
  ['[::1]', 'loopback'],
  ['[::1]:8787', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f01:203', 'loopback'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['::ffff:0:c000:201', '0:0:0:0::/64'],
  ['::192.0.2.1', '0:0:0:0::/64'],
  ['::1:1', '0:0:0:0::/64'],
  ['::2', '0:0:0:0::/64'],
  ['::1:0:0:1', '0:0:0:0::/64'],
  ['::1:0:1', '0:0:0:0::/64'],
  ['1::1', '1:0:0:0::/64'],
  ['1::ffff:127.0.0.1', '1:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::6', '2001:db8:1:2::/64'],
  ['1::2:3:4:5:6', '1:0:0:2::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['[2001:db8:1:2::6]:443', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['fe80::1%two\nlines', 'fe80:0:0:0::/64'],
  ['[fe80::1', undefined],
  ['[::1]x', undefined],
  ['x[::1]', undefined],
  ['a[bc::1]', undefined],
  ['[abc::1]2', undefined],
  ['192.0.2:1.5', undefined],
  ['[::1]:', undefined],
  ['::1]', undefined],
  ['localhost', undefined],
  ['', undefined],
];

for (const [text, name] of NAMES)
  test(`X-3: ${JSON.stringify(text)} is counted as ${name ?? 'no address'}`, () => {
    assert.equal(canonicalAddress(text), name);
  });
