/** Seeded chance: equal seeds give equal draws, on every machine. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, below). */
  below(below: number): number;
  /** A whole number in [least, most]. */
  between(least: number, most: number): number;
  /** True with this probability; draws in any case, so that odds can change without a reshuffle. */
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/**
 * Makes the stream that `seed` and `name` select. Streams of one seed are independent of one another:
 * a further draw in one does not reshuffle the others.
 */
export function seededRandom(seed: number, name: string): Random {
  const mix = splitmix(hashText(`${seed}:${name}`));
  let [a, b, c, counter] = [mix(), mix(), mix(), 1];
  /** sfc32: 128 bits of state, passes PractRand, four lines. */
  const draw = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 0x1_0000_0000;
  };
  for (let round = 0; round < 12; round += 1) draw();
  const below = (limit: number): number => Math.floor(draw() * limit);
  return {
    next: draw,
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => draw() < probability,
    pick: <T>(list: readonly T[]): T => {
      const chosen = list[below(list.length)];
      if (chosen === undefined) throw new RangeError('nothing to pick from');
      return chosen;
    },
  };
}

/** 32-bit FNV-1a of a text, continued from `from`: a running hash of a trace. */
export function hashText(text: string, from = 0x811c9dc5): number {
  let hash = from;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

function splitmix(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
}
