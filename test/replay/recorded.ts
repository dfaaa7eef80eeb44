// An installation whose store is a file, so that what happens in it can be replayed from there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds } from '../../src/adapters/ids/ids.ts';
import { sha256 } from '../../src/adapters/digest/sha256.ts';
import { sqliteSnapshots } from '../../src/adapters/store/archive-sqlite.ts';
import { openSqlite } from '../../src/adapters/store/sqlite/open.ts';
import type { Engine, EngineParts } from '../../src/engine/engine.ts';
import { ReplayClock } from '../../src/engine/replay/clock.ts';
import type { Replayed, ReplayEnd } from '../../src/engine/replay/conduct.ts';
import {
  RECORDED_KINDS,
  RecordingGatherer,
  type Recording,
} from '../../src/engine/replay/recording.ts';
import { replay } from '../../src/engine/replay/replay.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import type { Store } from '../../src/ports/store.ts';
import { atRest } from '../../src/testing/scheduler.ts';
import { ANNA, Installation, OPTIONS } from '../support/host.ts';

export class RecordedInstallation extends Installation {
  readonly folder = mkdtempSync(join(tmpdir(), 'sekisho-replay-'));
  readonly path = join(this.folder, 'sekisho.db');
  readonly #file = openSqlite({
    path: this.path,
    clock: this.clock,
    ids: this.ids,
    exclusive: false,
    // What is tested here is what was written, and no crash of the machine.
    pragmas: ['synchronous = off'],
  });
  override readonly store: Store = {
    traits: { exclusive: true, description: 'a file' },
    commit: (unit) => this.#file.commit(unit),
    query: (read, args) => this.#file.query(read, args),
    close: () => this.#file.close(),
  };

  override async rows(table: string): Promise<readonly Record<string, unknown>[]> {
    return this.#file.inspect(`select * from "${table}"`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async recording(conversationId: ConversationId): Promise<Recording> {
    const snapshot = await sqliteSnapshots(this.path)();
    const gatherer = new RecordingGatherer(conversationId);
    for (const kind of RECORDED_KINDS)
      for await (const page of snapshot.records(kind)) gatherer.takeAll(page);
    await snapshot.close();
    const recording = gatherer.recording();
    if (recording === undefined) throw new Error(`no ${conversationId}`);
    return recording;
  }
}

export async function openFor(engine: Engine): Promise<ConversationId> {
  return engine.openConversation({ channel: 'api', principal: ANNA });
}

export interface Played {
  readonly end: ReplayEnd;
  readonly decisions: readonly Replayed[];
}

/** Replays a recording in a store of its own; `change` plants another version. */
export async function play(
  recording: Recording,
  options: {
    readonly window?: number;
    readonly change?: (parts: EngineParts) => EngineParts;
    readonly options?: Partial<EngineParts['options']>;
  } = {},
): Promise<Played> {
  const clock = new ReplayClock(recording.conversation.createdAt, atRest);
  const ids = createIds({ now: () => clock.now(), random: () => 7 });
  const store = openSqlite({ path: ':memory:', clock, ids });
  const decisions: Replayed[] = [];
  const end = await replay(
    {
      store,
      ids,
      digest: sha256,
      clock,
      atRest,
      options: { ...OPTIONS, ...options.options },
      window: options.window ?? 128_000,
      change: options.change,
      onDecision: (decision) => decisions.push(decision),
    },
    recording,
  );
  await store.close();
  return { end, decisions };
}
