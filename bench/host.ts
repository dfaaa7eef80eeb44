import { join } from 'node:path';
import { createIds, secureRandom } from '../src/adapters/ids/ids.ts';
import { sha256 } from '../src/adapters/digest/sha256.ts';
import { createSystemClock } from '../src/adapters/clock/system.ts';
import { openSqlite } from '../src/adapters/store/sqlite/open.ts';
import { createEngine } from '../src/engine/create.ts';
import type { Engine } from '../src/engine/engine.ts';
import { LIMITS } from '../src/kernel/limits.ts';
import type { Principal } from '../src/kernel/principal.ts';
import type { Log } from '../src/ports/log.ts';
import type { Model } from '../src/ports/model.ts';
import type { Tools } from '../src/ports/tools.ts';

export const BENCH: Principal = { kind: 'key', id: 'bench', isAdmin: true };
const QUIET: Log = {
  debug() {},
  info() {},
  warn() {},
  error: (message, fields) => console.error(message, fields),
};

/** A host over SQLite on the disk, with a model and tools that answer at once. */
export async function benchHost(
  folder: string,
  parts: { readonly model: Model; readonly tools: Tools; readonly concurrent: number },
): Promise<Engine> {
  const clock = createSystemClock();
  const ids = createIds({ now: () => clock.now(), random: secureRandom });
  const { model, tools } = parts;
  const instructions = (): Promise<string> => Promise.resolve('You are measured.');
  const engine = createEngine({
    store: openSqlite({ path: join(folder, 'sekisho.db'), clock, ids }),
    clock,
    ids,
    digest: sha256,
    log: QUIET,
    agents: [{ name: 'main', instructions, tools, model, fallbacks: [] }],
    models: [model],
    classifier: model,
    assessment: model,
    summary: model,
    onStoreFailed: (reason) => {
      throw new Error(reason);
    },
    options: {
      pid: process.pid,
      locale: 'en',
      timeZone: 'UTC',
      concurrentConversations: parts.concurrent,
      deadlineMs: LIMITS.taskDeadlineMs,
      turnsLimit: LIMITS.turnsPerTask,
      tokensLimit: LIMITS.tokensPerTask,
      costLimitMicroUsd: LIMITS.costPerTaskMicroUsd,
      continuationsLimit: LIMITS.continuationsPerTask,
      whileBusy: 'steer',
      approvalMs: LIMITS.approvalMs,
      recovery: {
        safeMode: false,
        spacingMs: LIMITS.recoverySpacingMs,
        callMs: LIMITS.recoveryCallMs,
        diagnostics: false,
      },
      maintenance: {
        startAt: LIMITS.maintenanceStartAt,
        firstDelayMs: LIMITS.maintenanceFirstDelayMs,
        maxDelayMs: LIMITS.maintenanceMaxDelayMs,
      },
      leaseMs: LIMITS.leaseMs,
      leaseRenewMs: LIMITS.leaseRenewMs,
      tickMs: LIMITS.tickMsExclusive,
    },
  });
  await engine.start();
  return engine;
}
