import { order } from '../connect.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';

/** `safe-mode off`: lets the running host start work by itself again. */
export async function safeModeOff(options: ReadOptions): Promise<void> {
  await order(options, async ({ client }) => {
    const now = await client.endSafeMode();
    if (options.json === true) printJson(now);
    else printText('Safe mode is over: what had to wait begins by itself again.');
  });
}
