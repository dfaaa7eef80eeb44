// Which of the `sometimes` events a run reached, read off what was committed and when hosts died.
import type { StepRecord } from '../../src/core/turn/record.ts';
import type { CommittedUnit } from './faulty-store.ts';
import { noteAuthority, noteMeeting } from './notes-meetings.ts';
import type { Write } from '../../src/ports/store.ts';
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
  /** The turn that each host claimed last in each conversation, by both. */
  readonly ownTurns: Map<string, string>;
  /** The turn that runs in each conversation for an admin, and messages with less that came meanwhile. */
  readonly adminTurns: Map<string, string>;
  readonly waiting: Map<string, string>;
  /** The host that asked about each approval. */
  readonly askers: Map<string, string>;
  interrupts: number;
  /** The highest id of a turn. */
  newestTurn: string;
  /** When a stopped turn has to have ended (virtual); forgotten when its host is disturbed (W-1). */
  readonly stopsDue: Map<string, number>;
}

interface NotedHost {
  readonly epoch: { readonly name: string };
  readonly recovers: boolean;
  readonly state: string;
  readonly lastUnit: string;
}

export function createNotes(reached: (name: Sometime) => void): Notes {
  return {
    reached,
    openStops: new Map(),
    steps: new Map(),
    freshClaims: new Set(),
    turnHosts: new Map(),
    ownTurns: new Map(),
    adminTurns: new Map(),
    waiting: new Map(),
    askers: new Map(),
    interrupts: 0,
    newestTurn: '',
    stopsDue: new Map(),
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
  noteMeeting(notes, unit);
  noteAuthority(notes, unit);
  for (const write of unit.writes) {
    if (write.write === 'step.insert') {
      notes.steps.set(write.row.turnId, write.row);
      if (write.row.ordinal === 1) notes.freshClaims.add(name);
    }
    if (write.write === 'step.finish') notes.freshClaims.delete(name);
  }
}

type Noted = {
  readonly [N in Write['write']]?: (
    write: Extract<Write, { write: N }>,
    notes: Notes,
    by: By,
  ) => void;
};
interface By {
  readonly name: string;
  readonly shared: boolean;
}

const NOTED: Noted = {
  'turn.insert': ({ row }, notes, by) => {
    if (row.id < notes.newestTurn) notes.reached('ids_behind');
    else notes.newestTurn = row.id;
    notes.turnHosts.set(row.id, by.name);
    notes.ownTurns.set(`${by.name} ${row.conversationId}`, row.id);
  },
  'turn.stopping': ({ id }, notes) => noteStop(notes, id),
  'turn.end': ({ id, end }, notes, by) => {
    notes.openStops.delete(id);
    if (end === 'interrupted') noteInterrupt(notes, id, by);
  },
  'step.finish': ({ row }, { reached }) => {
    if (row.state === 'uncertain') reached('interrupted_uncertain');
    if (row.state === 'cut') reached('interrupted_cut');
  },
  'task.save': ({ row }, { reached }) => {
    const isStopped = row.state === 'stopped' || row.state === 'cancelled';
    if (isStopped && row.turnsUsed === 0) reached('stop_while_queued');
  },
};

function noteWrite(notes: Notes, write: Write, by: By): void {
  const note = NOTED[write.write] as ((write: Write, notes: Notes, by: By) => void) | undefined;
  note?.(write, notes, by);
}

function noteStop(notes: Notes, turnId: string): void {
  notes.openStops.set(turnId, notes.turnHosts.get(turnId) ?? '');
  const step = notes.steps.get(turnId);
  if (step !== undefined)
    notes.reached(step.kind === 'tool' ? 'stop_during_tool' : 'stop_during_model');
}

function noteInterrupt(notes: Notes, turnId: string, by: By): void {
  notes.interrupts += 1;
  if (notes.turnHosts.get(turnId) === by.name) notes.reached('cut_by_drain');
  else notes.reached(by.shared ? 'takeover_shared' : 'recovered_exclusive');
}

/** What is measured on a host is void once it died, slept or was asked to stop. */
export function voidStops(notes: Notes, host: string): void {
  for (const turnId of notes.stopsDue.keys()) {
    if (notes.turnHosts.get(turnId) === host) notes.stopsDue.delete(turnId);
  }
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
  if (host.state === 'starting' && host.lastUnit.startsWith('boundary.')) reached('boundary_crash');
  if (notes.freshClaims.has(name)) reached('crash_after_claim');
  if ([...notes.openStops.values()].includes(name)) reached('stop_then_crash');
}
