import { createReadStream } from 'node:fs';
import { sha256 } from '../adapters/digest/sha256.ts';
import { runningSha256 } from '../adapters/digest/running.ts';
import { createIds } from '../adapters/ids/ids.ts';
import { openSqlite } from '../adapters/store/sqlite/open.ts';
import { BrokenLine } from '../engine/archive/lines.ts';
import { readArchive } from '../engine/replay/archive.ts';
import { ReplayClock } from '../engine/replay/clock.ts';
import type { Replayed, ReplayEnd } from '../engine/replay/conduct.ts';
import { RECORDED_KINDS, RecordingGatherer, type Recording } from '../engine/replay/recording.ts';
import { replay } from '../engine/replay/replay.ts';
import type { ConversationId } from '../kernel/ids.ts';
import { snapshotsOf } from './archive.ts';
import type { Config } from './config/load.ts';
import { engineOptions } from './options.ts';

/** A decision that was made as it is recorded. */
export type ReplayedDecision = Replayed;
/** How a replay ended. */
export type ReplayOutcome =
  | (ReplayEnd & { readonly events: number })
  | { readonly kind: 'unknown' }
  /** `problem` is a sentence about the archive. */
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Where the record of a conversation is. */
export interface ReplaySource {
  readonly conversationId: string;
  /** An export; without one the configured store is read. */
  readonly archive?: string | undefined;
}

/**
 * Runs this version along the record of a conversation, in a store in memory: the installation is read once and
 * not changed, no model is asked, no tool runs and no secret is needed. Rejects with the store's `Fault`.
 */
export async function replayConversation(
  config: Config,
  source: ReplaySource,
  onDecision: (decision: ReplayedDecision) => void,
): Promise<ReplayOutcome> {
  const gatherer = new RecordingGatherer(source.conversationId as ConversationId);
  const problem =
    source.archive === undefined
      ? await fromStore(config, gatherer)
      : await fromArchive(source.archive, gatherer);
  if (problem !== undefined) return { kind: 'unreadable', problem };
  const recording = gatherer.recording();
  if (recording === undefined) return { kind: 'unknown' };
  const end = await inMemory(config, recording, onDecision);
  return { ...end, events: recording.conversation.seq };
}

async function fromStore(config: Config, gatherer: RecordingGatherer): Promise<undefined> {
  const snapshot = await (await snapshotsOf(config))();
  try {
    for (const kind of RECORDED_KINDS)
      for await (const page of snapshot.records(kind)) gatherer.takeAll(page);
  } finally {
    await snapshot.close();
  }
}

async function fromArchive(path: string, gatherer: RecordingGatherer): Promise<string | undefined> {
  try {
    const bytes = createReadStream(path);
    return await readArchive(bytes, runningSha256(), (record) => gatherer.take(record));
  } catch (error) {
    if (error instanceof BrokenLine) return `line ${error.line} cannot be read (${error.fault}).`;
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    return code === 'ENOENT' ? 'it does not exist.' : `it cannot be read (${code}).`;
  }
}

async function inMemory(
  config: Config,
  recording: Recording,
  onDecision: (decision: ReplayedDecision) => void,
): Promise<ReplayEnd> {
  const clock = new ReplayClock(recording.conversation.createdAt, atRest);
  const ids = createIds({ now: () => clock.now(), random: () => 0 });
  const store = openSqlite({ path: ':memory:', clock, ids });
  const { traits } = store;
  try {
    return await replay(
      {
        store,
        ids,
        digest: sha256,
        clock,
        atRest,
        options: engineOptions(config.values, { ...traits, exclusive: true }, process.pid),
        window: config.values['model.contextWindow'],
        onDecision,
      },
      recording,
    );
  } finally {
    await store.close();
  }
}

function atRest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
