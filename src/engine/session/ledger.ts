import type { ConversationRecord, FenceState } from '../../core/session/record.ts';
import type { EventType } from '../../kernel/event.ts';
import type { OperationId, TurnId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { At, Write } from '../../ports/store.ts';

export interface EventSubject {
  readonly taskId?: string | null;
  readonly turnId?: string | null;
  readonly runId?: string | null;
  readonly from?: string | null;
  readonly to?: string;
  readonly reason?: string | null;
  readonly data?: JsonObject;
}

/**
 * What one decision writes into one conversation: it hands out sequence numbers and tokens and closes
 * with the guarded advance of the conversation, which is the lock of the whole unit.
 */
export class Ledger {
  readonly at: At;
  readonly #conversation: ConversationRecord;
  readonly #by: string;
  readonly #writes: Write[] = [];
  #seq: number;
  #token: number;
  #turnId: string | null;
  #fence: FenceState;

  constructor(conversation: ConversationRecord, at: At, by: string) {
    this.at = at;
    this.#conversation = conversation;
    this.#by = by;
    this.#seq = conversation.seq;
    this.#token = conversation.token;
    this.#turnId = conversation.turnId;
    this.#fence = conversation.fence;
  }

  takeSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  /** The next token: whoever held the last one loses its right to write (design principle 8). */
  takeToken(): number {
    this.#token += 1;
    return this.#token;
  }

  hold(turnId: TurnId | null): void {
    this.#turnId = turnId;
  }

  /** A turn was completed: what a maintenance operation has done holds, and the next is another one (M-19). */
  passFence(): void {
    if (this.#fence === 'passed') this.fence('none', null);
  }

  /** Whether turns may begin in the conversation from here on (M-8). */
  fence(fence: FenceState, operationId: OperationId | null): void {
    const { id } = this.#conversation;
    const before = this.#fence;
    this.#fence = fence;
    this.#writes.push({ write: 'conversation.fence', id, fence, operationId });
    this.event('conversation.fence', { from: before, to: fence, data: { operationId } });
  }

  add(...writes: readonly Write[]): void {
    this.#writes.push(...writes);
  }

  /** Appends an event and gives its place. */
  event(
    type: EventType,
    subject: EventSubject = {},
  ): { readonly id: string; readonly seq: number } {
    const id = this.at.ids.next('event');
    const seq = this.takeSeq();
    this.#writes.push({
      write: 'event.insert',
      row: {
        conversationId: this.#conversation.id,
        seq,
        id,
        type,
        at: this.at.now,
        by: this.#by,
        taskId: subject.taskId ?? null,
        turnId: subject.turnId ?? null,
        runId: subject.runId ?? null,
        fromState: subject.from ?? null,
        toState: subject.to ?? null,
        reason: subject.reason ?? null,
        data: subject.data === undefined ? null : JSON.stringify(subject.data),
      },
    });
    return { id, seq };
  }

  /** The writes of the decision, the conversation's advance first: a lost race writes nothing else. */
  close(): readonly Write[] {
    const advance: Write = {
      write: 'conversation.advance',
      id: this.#conversation.id,
      expectedSeq: this.#conversation.seq,
      seq: this.#seq,
      token: this.#token,
      turnId: this.#turnId,
    };
    return [advance, ...this.#writes];
  }
}
