import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostName, principalName } from './principal.ts';

test('X-4 a record names each principal by its kind and its verified identity', () => {
  for (const kind of ['admin', 'member', 'guest', 'key', 'host', 'model'] as const)
    assert.equal(principalName({ kind, id: 'anna', isAdmin: false }), `${kind}:anna`);
  assert.equal(principalName({ kind: 'key', id: 'anna', isAdmin: true }), 'key:anna');
  assert.equal(hostName('host_1'), 'host:host_1');
});
