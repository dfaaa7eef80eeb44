import type { Instant } from '../../kernel/time.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { catalogueOf, type Reader } from '../../text/reader.ts';
import type { EngineParts } from '../engine.ts';

/** What a speaker of the host's own language and zone reads with. */
export interface Speaking {
  readonly words: Catalogue;
  readonly reader: Reader;
  readonly now: Instant;
}

export function speak({ options }: Pick<EngineParts, 'options'>, now: Instant): Speaking {
  const { locale, timeZone } = options;
  return { words: catalogueOf(locale), reader: { locale, timeZone }, now };
}
