import { catalogueOf } from '../text/reader.ts';
import { blockShown, inlineShown } from '../text/shown.ts';
import type { ShownShape } from '../wire/approval.ts';

/** The command line speaks English. */
const WORDS = catalogueOf('en');

/** Every byte of a call that a person is asked about, on lines of its own. */
export function callBlock(shown: ShownShape): string {
  return blockShown(WORDS, JSON.stringify(shown));
}

/** Its arguments on one line, for a table. */
export function callLine({ argv }: ShownShape): string {
  return inlineShown(WORDS, JSON.stringify({ argv }));
}
