import { createHash } from 'node:crypto';
import type { RunningDigest } from '../../ports/archive.ts';

/** SHA-256 of what is added, piece by piece. */
export function runningSha256(): RunningDigest {
  const hash = createHash('sha256');
  return {
    add: (bytes) => void hash.update(bytes),
    hex: () => hash.copy().digest('hex'),
  };
}
