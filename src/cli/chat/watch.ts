import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';

const LOOK_MS = 1_000;

/** Looks whether the host answers until `signal` aborts; `tell` hears of each change alone. */
export async function watchHost(
  client: Pick<Client, 'ready'>,
  tell: (isThere: boolean) => void,
  { signal, everyMs = LOOK_MS }: { readonly signal: AbortSignal; readonly everyMs?: number },
): Promise<void> {
  let wasThere = true;
  while (!signal.aborted) {
    const isThere = await client.ready().then(
      () => true,
      () => false,
    );
    if (isThere !== wasThere && !signal.aborted) tell(isThere);
    wasThere = isThere;
    await pause(everyMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
