// What a turn can meet, noted from what was committed: waits, approvals, limits, orders, words.
import type { EventRecord } from '../../src/core/session/record.ts';
import type { Write } from '../../src/ports/store.ts';
import type { CommittedUnit } from './faulty-store.ts';
import type { Notes } from './notes.ts';
import { dataOf } from './dump.ts';
import { noteRecovery, noteRecoveryWrite } from './notes-recovery.ts';
import { noteUpkeep } from './notes-upkeep.ts';
import type { Sometime, StoodReason } from './sometimes.ts';

type Reached = Notes['reached'];

export function noteMeeting({ reached }: Notes, unit: CommittedUnit): void {
  noteUpkeep(reached, unit);
  for (const write of unit.writes) {
    if (write.write === 'event.insert') noteEvent(reached, write.row, unit);
    else NOTED[write.write]?.(reached, write as never, unit);
    noteRecoveryWrite(reached, write, unit);
  }
}

function noteEvent(reached: Reached, event: EventRecord, unit: CommittedUnit): void {
  noteReason(reached, event);
  const name = BY_EVENT[event.type];
  if (name !== undefined) reached(name);
  if (event.type === 'turn.continued')
    reached(event.runId === null ? 'steered' : 'run_message_joined');
  if (event.type === 'turn.started' && (dataOf(event)['messageIds'] as unknown[]).length > 1)
    reached('collected');
  if (event.type === 'task.moved') noteMove(reached, event, unit);
  noteRecovery(reached, event, unit);
}

function noteReason(reached: Reached, { type, reason }: EventRecord): void {
  if (reason !== null && type.startsWith('task.')) reached(`stood_${reason as StoodReason}`);
}

const BY_EVENT: Readonly<Record<string, Sometime>> = {
  'command.answered': 'command_answered',
  'model.retried': 'retried',
  'conversation.model': 'model_chosen',
  'task.extended': 'extended',
};

function noteMove(reached: Reached, event: EventRecord, unit: CommittedUnit): void {
  const name = BY_UNIT[unit.unit];
  if (name !== undefined) reached(name);
  const { fromState, toState } = event;
  const isBack = fromState !== 'active' && toState === 'active';
  if (isBack && unit.unit === 'turn.claim') reached('joined_by_word');
  if (unit.unit === 'task.due') noteDue(reached, event, unit);
  const { writes } = unit;
  const fences = writes.find((write) => write.write === 'conversation.advance');
  const isHeld = fences?.write === 'conversation.advance' && fences.turnId !== null;
  if (toState === 'paused' && isHeld) reached('paused_running');
}

const BY_UNIT: Readonly<Record<string, Sometime>> = {
  'task.resume': 'resumed',
};

function noteDue(reached: Reached, event: EventRecord, { writes }: CommittedUnit): void {
  if (event.toState === 'active') reached(wokenBy(writes));
  if (event.reason === 'interrupted') reached('wait_interrupted');
  const stops = writes.some(({ write }) => write === 'turn.stopping');
  if (event.toState === 'expired' && stops) reached('expired_running');
}

/** A quota and an outage wake with a word, an instant with the request. */
function wokenBy(writes: readonly Write[]): Sometime {
  const input = writes.find((write) => write.write === 'message.insert');
  const isSilent = input?.write === 'message.insert' && input.row.text === '';
  return isSilent ? 'woken_quota' : 'woken_instant';
}

type Noted = {
  readonly [N in Write['write']]?: (
    reached: Reached,
    write: Extract<Write, { write: N }>,
    unit: CommittedUnit,
  ) => void;
};

const NOTED: Noted & Readonly<Record<string, undefined | ((...args: never[]) => void)>> = {
  'turn.end': (reached, { end }) => {
    reached(`turn_${end}`);
    if (end === 'yielded') reached('interrupted_by_words');
  },
  'message.insert': (reached, { row }) => {
    if (row.channel === 'host') reached('corrective_turn');
  },
  'outbox.insert': (reached, { row }) => {
    if (row.code === 'kept' || row.code === 'kept_for_interrupted') reached('kept');
    if (row.code === 'clock_distrusted') reached('clock_told');
    if (row.code === 'goes_on') reached('woken_provider');
  },
  'step.finish': (reached, { row }) => {
    if (row.model === 'two' || row.model === 'three') reached('fallback');
  },
  'step.retry': (reached, { tries }) => {
    if (tries >= 6) reached('tries_used_up');
  },
  'approval.insert': (reached, { row }) => {
    if (row.kind === 'uncertain') reached('uncertain_asked');
  },
  'approval.decide': (reached, { row }) => {
    const isByHost = row.decidedBy?.startsWith('host:') === true;
    if (row.state === 'expired') reached('approval_expired');
    else if (isByHost) reached('approval_withdrawn');
    else if (row.state === 'denied')
      reached(row.kind === 'uncertain' ? 'uncertain_denied' : 'approval_denied');
    else if (row.approver === 'other') reached('approval_other');
  },
  'limiter.insert': (reached, { row }) => reached(`limiter_${limited(row.state)}`),
  'limiter.save': (reached, { row }) => {
    reached(`limiter_${limited(row.state)}`);
    if (row.state === 'limited' && row.isNamed === 'yes') reached('quota_named');
  },
};

function limited(state: string): 'limited' | 'down' | 'refused' | 'opened' {
  return state === 'open' ? 'opened' : (state as 'limited');
}

/** Words with less authority than the running turn, and approvals that outlive the host that asked. */
export function noteAuthority(notes: Notes, { writes, host }: CommittedUnit): void {
  for (const write of writes) {
    noteTurns(notes, write);
    if (write.write === 'approval.insert') notes.askers.set(write.row.id, host);
    const isGiven = write.write === 'approval.decide' && write.row.state === 'approved';
    if (isGiven && notes.askers.get(write.row.id) !== host) notes.reached('approval_over_restart');
  }
}

function noteTurns({ adminTurns, waiting, reached }: Notes, write: Write): void {
  if (write.write === 'turn.insert') {
    const { conversationId, id, authority } = write.row;
    // Whoever had the conversation before has it no longer.
    if (authority === 'admin') adminTurns.set(conversationId, id);
    else adminTurns.delete(conversationId);
  }
  if (write.write === 'message.insert' && write.row.kind === 'genuine') {
    const { conversationId, id, authority } = write.row;
    const turn = adminTurns.get(conversationId);
    if (turn !== undefined && authority === 'own') waiting.set(id, turn);
  }
  if (write.write !== 'message.claim') return;
  if ((waiting.get(write.id) ?? write.turnId) !== write.turnId) reached('guest_waited');
}
