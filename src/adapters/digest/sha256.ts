import { hash } from 'node:crypto';
import type { Digest } from '../../ports/digest.ts';

export const sha256: Digest = (text) => hash('sha256', text, 'hex');
