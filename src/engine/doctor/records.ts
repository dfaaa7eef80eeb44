import type { ExecutionRecord } from '../../core/dispatch/record.ts';
import { mayHold } from '../../core/lease/record.ts';
import { stormEndsAt } from '../../core/recovery/storm.ts';
import type { TurnRecord } from '../../core/turn/record.ts';
import type { HostId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { DAY } from '../../kernel/time.ts';
import { verifyAudit } from '../audit/verify.ts';
import type { Finding } from '../engine.ts';
import { finding } from './findings.ts';
import type { Patient } from './patient.ts';

/** The log of admin actions, entry by entry. */
export async function findAudit({ parts }: Patient): Promise<readonly Finding[]> {
  const verdict = await verifyAudit(parts);
  if (verdict.kind === 'broken') {
    const { seq, what } = verdict;
    return [finding('audit_broken', { seq, what })];
  }
  const last = await parts.store.query('audit.last', {});
  return [finding('audit_whole', { entries: verdict.entries, lastHash: last?.hash ?? '' })];
}

/** Turns and workers of one kind that are named; a store with more has one trouble, not hundreds. */
const WORK_MAX = 50;
/** Stands in no record: nobody is left out. */
const NOBODY: HostId = 'host_none';

/** What says that it runs and has no living host; of a stopped host the next start takes it up. */
export async function findWork(patient: Patient): Promise<readonly Finding[]> {
  const { parts, health, deadBefore } = patient;
  const isStopped = health.state === 'stopped';
  const except = isStopped ? NOBODY : health.hostId;
  const limit = WORK_MAX;
  const turns = await parts.store.query('turn.openElsewhere', { except, deadBefore, limit });
  const workers = await workersWithout(patient, except);
  if (!isStopped) return [...turns.map(turnOf), ...workers.map(workerOf)];
  const cut = { turns: turns.length, workers: workers.length };
  return cut.turns + cut.workers === 0 ? [] : [finding('work_cut', cut)];
}

async function workersWithout(
  { parts, deadBefore }: Patient,
  except: HostId,
): Promise<readonly ExecutionRecord[]> {
  const { store } = parts;
  const running = await store.query('execution.runningElsewhere', { except, limit: WORK_MAX });
  const living = await Promise.all(
    running.map(async ({ hostId }) => {
      const host = hostId === null ? undefined : await store.query('host.byId', { id: hostId });
      return mayHold(host, deadBefore);
    }),
  );
  return running.filter((_, place) => living[place] !== true);
}

function turnOf({ id, taskId, hostId, startedAt }: TurnRecord): Finding {
  return finding('work_unowned', { kind: 'turn', taskId, hostId, since: startedAt }, id);
}

function workerOf({ id, taskId, hostId, changedAt }: ExecutionRecord): Finding {
  return finding('work_unowned', { kind: 'worker', taskId, hostId, since: changedAt }, id);
}

/** How long a storm that is over is worth a line. */
const STORM_TOLD_MS = 7 * DAY;

/** The last restart storm, and whether its safe mode is on. */
export async function findStorm({ parts, health }: Patient): Promise<readonly Finding[]> {
  const storm = health.safeMode ?? (await parts.store.query('storm.last', {}));
  if (storm === undefined) return [];
  const { id, since, endedAt, endedBy } = storm;
  if (endedAt === null) return [finding('safe_mode_on', { since, until: stormEndsAt(storm) }, id)];
  const isPast = endedAt + STORM_TOLD_MS < parts.clock.now();
  return isPast ? [] : [finding('storm_over', { since, endedAt, endedBy }, id)];
}

/** The last run of the historical boundary: whether it was finished, and whether it was told (B-10). */
export async function findBoundary({ parts }: Patient): Promise<readonly Finding[]> {
  const boundary = await parts.store.query('boundary.last', {});
  if (boundary === undefined) return [];
  const { id, startedAt: since, endedAt, toldAt, held, workersHeld } = boundary;
  if (endedAt === null) return [finding('boundary_unfinished', { since }, id)];
  if (toldAt !== null || held + workersHeld === 0) return [];
  const data: JsonObject = { held, workersHeld, since };
  return [finding('boundary_untold', data, id)];
}
