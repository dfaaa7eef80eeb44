import { SECOND } from '../../kernel/time.ts';
import type { StoreAlarm } from '../../ports/store.ts';
import type { Finding } from '../engine.ts';
import { findAccounts, findModels } from './models.ts';
import type { Patient } from './patient.ts';
import { findPremises } from './premises.ts';
import { findAudit, findBoundary, findStorm, findWork } from './records.ts';
import { CHECKS, finding, type CheckName } from './findings.ts';
import { findTasks, findUntold } from './tasks.ts';
import { findUpkeep } from './upkeep.ts';

/** Longer than any of them takes on records of an ordinary size. */
const CHECK_MS = 60 * SECOND;

/** These look at the machine and at this process; they need no records. */
const WITHOUT_RECORDS: readonly CheckName[] = ['host', 'clock', 'premises', 'models', 'accounts'];

/**
 * What is wrong with an installation, in the order of `FINDINGS` (G-3). It changes nothing and never
 * rejects: a check that fails is a finding itself. Records that are damaged are not read any further.
 */
export async function examine(patient: Patient): Promise<readonly Finding[]> {
  const store = await guarded(patient, 'store');
  const isSound = store.every(({ level }) => level !== 'problem');
  const others = CHECKS.filter((name) => name !== 'store').filter(
    (name) => isSound || WITHOUT_RECORDS.includes(name),
  );
  const found = new Map<CheckName, readonly Finding[]>([['store', store]]);
  await Promise.all(others.map(async (name) => void found.set(name, await guarded(patient, name))));
  return CHECKS.flatMap((name) => found.get(name) ?? []);
}

const FINDS: Readonly<Record<CheckName, (patient: Patient) => Promise<readonly Finding[]>>> = {
  host: findHolder,
  store: findStore,
  audit: findAudit,
  tasks: findTasks,
  notices: findUntold,
  upkeep: findUpkeep,
  work: findWork,
  storm: findStorm,
  boundary: findBoundary,
  clock: findClock,
  premises: findPremises,
  models: findModels,
  accounts: findAccounts,
};

async function guarded(patient: Patient, check: CheckName): Promise<readonly Finding[]> {
  const over = new AbortController();
  const late = patient.parts.clock
    .sleep(CHECK_MS, over.signal)
    .then(() => [finding('check_failed', { check, detail: 'timeout' })]);
  try {
    return await Promise.race([FINDS[check](patient), late]);
  } catch (error) {
    return [finding('check_failed', { check, detail: wordsOf(error) })];
  } finally {
    over.abort();
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function findHolder({ holder }: Patient): Promise<readonly Finding[]> {
  if (holder === undefined) return Promise.resolve([]);
  const { pid, startedAt: since } = holder;
  return Promise.resolve([finding('host_unresponsive', { pid, since })]);
}

async function findStore({ parts }: Patient): Promise<readonly Finding[]> {
  const { store, clock } = parts;
  const { description } = store.traits;
  const began = clock.uptime();
  try {
    const check = await store.check?.();
    const tookMs = Math.round(clock.uptime() - began);
    const [first, ...rest] = check?.damage ?? [];
    if (first !== undefined)
      return [finding('store_damaged', { description, detail: first, more: rest.length })];
    const code = check?.depth === 'answers' ? 'store_answers' : 'store_whole';
    const whole = check === undefined ? [] : [finding(code, { description, tookMs })];
    return [...whole, ...findLog(store.alarm)];
  } catch (error) {
    return [finding('store_unreachable', { description, detail: wordsOf(error) })];
  }
}

function findLog(alarm: StoreAlarm | null | undefined): readonly Finding[] {
  if (alarm?.code !== 'log_large') return [];
  return [finding('store_log_large', { bytes: alarm.bytes, since: alarm.since })];
}

function findClock({ health }: Patient): Promise<readonly Finding[]> {
  // Nobody watches the clock of a stopped host.
  if (health.state === 'stopped') return Promise.resolve([]);
  const { isTrusted, driftMs, until } = health.clock;
  const found = isTrusted
    ? finding('clock_believed', {})
    : finding('clock_distrusted', { driftMs, until });
  return Promise.resolve([found]);
}
