import { order } from '../connect.ts';
import type { ReadOptions } from '../program.ts';

/** `chat`: the chat of the terminal on a running host. */
export async function chat(options: ReadOptions): Promise<void> {
  await order(options, async ({ client }) => {
    const over = new AbortController();
    process.once('SIGTERM', () => over.abort());
    if (process.stdin.isTTY) {
      const { chatAtTerminal } = await import('../chat/terminal.ts');
      await chatAtTerminal(client, { signal: over.signal });
    } else {
      const { chatFromPipe } = await import('../chat/pipe.ts');
      await chatFromPipe(client, { signal: over.signal });
    }
  });
}
