// All proofs, in the order in which they run: the quickest to say no come first.
import type { Proof } from './proof.ts';

export const PROOFS: readonly Proof[] = [];
