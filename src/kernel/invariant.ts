/** A state that must not exist. It is thrown and stays on in production: a wrong state must not go on. */
export class InvariantBroken extends Error {
  override readonly name = 'InvariantBroken';
}

/** Throws `InvariantBroken` unless `condition` holds; `why` names what must hold. */
export function invariant(condition: boolean, why: string): asserts condition {
  if (!condition) throw new InvariantBroken(why);
}
