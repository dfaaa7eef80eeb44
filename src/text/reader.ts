import type { Catalogue, Locale } from './catalogue.ts';
import { DE } from './de.ts';
import { EN } from './en.ts';

/** Who reads: the language, the zone of the times, and the host's zone if the two may differ. */
export interface Reader {
  readonly locale: Locale;
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
  readonly hostTimeZone?: string;
}

const CATALOGUES: Readonly<Record<Locale, Catalogue>> = { en: EN, de: DE };

export function catalogueOf(locale: Locale): Catalogue {
  return CATALOGUES[locale];
}
