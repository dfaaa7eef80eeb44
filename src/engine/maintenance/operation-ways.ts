import { waysOfOperation } from '../../core/maintenance/reasons.ts';
import type { OperationRecord } from '../../core/maintenance/record.ts';
import type { Catalogue } from '../../text/catalogue.ts';

/** The commands that leave a blocked operation, each with who may give it and what it does, in words. */
export function sayOperationWays(
  words: Catalogue,
  operation: OperationRecord,
): readonly { readonly command: string; readonly who: string; readonly effect: string }[] {
  return waysOfOperation(operation).map(({ command, who, effect }) => ({
    command,
    who: words.who[who],
    effect: words.effects[effect],
  }));
}
