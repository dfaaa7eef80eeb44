// Which of the `sometimes` events a run reached, read off what was committed and when hosts died.
import type { StepRecord } from '../../src/core/turn/record.ts';
import type { Write } from '../../src/ports/store.ts';
import type { CommittedUnit } from './faulty-store.ts';
import type { Sometime } from './sometimes.ts';

export interface Notes {
  readonly reached: (name: Sometime) => void;
  /** Turns that are being stopped, with the host that runs them. */
  readonly openStops: Map<string, string>;
  /** The open step of each turn. */
  readonly steps: Map<string, StepRecord>;
  /** Hosts whose last claim has no finished step yet. */
  readonly freshClaims: Set<string>;
  readonly turnHosts: Map<string, string>;
  interrupts: number;
}

interface NotedHost {
  readonly epoch: { readonly name: string };
  readonly recovers: boolean;
  readonly state: string;
}

export function createNotes(reached: (name: Sometime) => void): Notes {
  return {
    reached,
    openStops: new Map(),
    steps: new Map(),
    freshClaims: new Set(),
    turnHosts: new Map(),
    interrupts: 0,
  };
}

export function noteCommit(
  notes: Notes,
  host: NotedHost,
  unit: CommittedUnit,
  shared: boolean,
): void {
  const name = host.epoch.name;
  // Steps first: what follows asks which step was open before this commit.
  for (const write of unit.writes) noteWrite(notes, write, { name, shared });
  for (const write of unit.writes) {
    if (write.write === 'step.insert') {
      notes.steps.set(write.row.turnId, write.row);
      if (write.row.ordinal === 1) notes.freshClaims.add(name);
    }
    if (write.write === 'step.finish') notes.freshClaims.delete(name);
  }
}

function noteWrite(notes: Notes, write: Write, by: { name: string; shared: boolean }): void {
  switch (write.write) {
    case 'turn.insert':
      notes.turnHosts.set(write.row.id, by.name);
      return;
    case 'turn.stopping':
      noteStop(notes, write.id);
      return;
    case 'turn.end':
      notes.openStops.delete(write.id);
      if (write.end === 'interrupted') noteInterrupt(notes, write.id, by);
      return;
    case 'step.finish':
      if (write.row.state === 'uncertain') notes.reached('interrupted_uncertain');
      if (write.row.state === 'cut') notes.reached('interrupted_cut');
      return;
    case 'task.save': {
      const isStopped = write.row.state === 'stopped' || write.row.state === 'cancelled';
      if (isStopped && write.row.turnsUsed === 0) notes.reached('stop_while_queued');
      return;
    }
    case 'event.insert':
      noteEvent(notes, write.row);
      return;
    case 'message.insert':
      if (write.row.kind === 'generated') notes.reached('corrective_turn');
      return;
    default:
  }
}

function noteStop(notes: Notes, turnId: string): void {
  notes.openStops.set(turnId, notes.turnHosts.get(turnId) ?? '');
  const step = notes.steps.get(turnId);
  if (step !== undefined)
    notes.reached(step.kind === 'tool' ? 'stop_during_tool' : 'stop_during_model');
}

function noteInterrupt(notes: Notes, turnId: string, by: { name: string; shared: boolean }): void {
  notes.interrupts += 1;
  if (notes.turnHosts.get(turnId) === by.name) notes.reached('cut_by_drain');
  else notes.reached(by.shared ? 'takeover_shared' : 'recovered_exclusive');
}

function noteEvent(
  notes: Notes,
  row: { readonly type: string; readonly reason: string | null },
): void {
  if (row.type === 'turn.continued') notes.reached('run_message_joined');
  if (row.type === 'command.answered') notes.reached('command_answered');
  if (row.type !== 'task.moved') return;
  if (row.reason === 'no_outcome') notes.reached('no_outcome');
  if (row.reason === 'model_refused') notes.reached('model_refused');
  if (row.reason === 'model_unavailable') notes.reached('model_unavailable');
}

export function noteCrash(
  notes: Notes,
  host: NotedHost,
  at: { readonly label: string; readonly tools: number },
): void {
  const { reached } = notes;
  const name = host.epoch.name;
  reached('crash');
  if (at.label.startsWith('store.commit')) reached('crash_before_commit');
  if (at.label.startsWith('store.learn')) reached('crash_after_commit');
  if (at.tools > 0) reached('crash_in_tool');
  if (host.recovers && host.state === 'starting') reached('crash_in_recovery');
  if (notes.freshClaims.has(name)) reached('crash_after_claim');
  if ([...notes.openStops.values()].includes(name)) reached('stop_then_crash');
}
