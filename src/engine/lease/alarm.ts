import type { StoreAlarm } from '../../ports/store.ts';
import type { Catalogue } from '../../text/catalogue.ts';
import { sayMegabytes } from '../../text/number.ts';

/** What a person should look at in the store. */
export function sayStoreAlarm(words: Catalogue, alarm: StoreAlarm): string {
  if (alarm.code === 'disk_full') return words.answers.storeDiskFull();
  return words.answers.storeLogLarge(sayMegabytes(words, alarm.bytes));
}
