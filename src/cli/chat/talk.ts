import { randomUUID } from 'node:crypto';
import { ApiProblem, type Client } from '../../client/client.ts';
import type { ApprovalReply } from '../../wire/approval.ts';
import type { ConversationReply, MessageReply } from '../../wire/conversation.ts';
import type { OutboxReply } from '../../wire/status.ts';
import type { StreamEvent } from '../../wire/stream.ts';
import { readGreeting, type Greeting } from './greeting.ts';

/** The one conversation of the terminal, whoever opens it and however often. */
const PLACE = { channel: 'terminal', address: 'terminal' } as const;
const TRIES = 3;
/** As a command begins; what looks so and is none only goes without the line about queued messages. */
const COMMAND = /^\/[a-z]/i;

/** Of a message that a paused conversation keeps. */
export const KEPT =
  'kept: this conversation is paused; it is answered once an admin lets that go on, /status says how';

/** A message that no host is known to have taken. */
class NotSent extends Error {
  override readonly name = 'NotSent';
}

/** What a message waits for that was just sent: a turn that runs, or an admin of a paused conversation. */
interface Said {
  readonly isQueued: boolean;
  readonly isKept: boolean;
}

/** One side of the terminal's conversation: what was said from here, and whether it was answered. */
export class Talk {
  readonly #client: Client;
  readonly #id: string;
  readonly #after: string | undefined;
  /** Whether the conversation began with this talk. */
  readonly #isNew: boolean;
  /** Messages that wait for their answer, each with whether it reads as a command. */
  readonly #open = new Map<string, boolean>();
  readonly #said = new Set<string>();
  /** The answers that were shown since something waits, by id; one can answer several messages. */
  readonly #heard = new Set<string>();
  /** Notices that were shown, by what they say: one answers too, as that of a stop does. */
  readonly #notices = new Set<string>();
  /** Messages on their way to the host, whose ids are not known yet. */
  #posting = 0;
  /** What a greeting told already and the stream may tell again. */
  #greeted: readonly OutboxReply[] = [];
  #waiting: readonly string[] = [];
  readonly #onIdle = new Set<() => void>();

  private constructor(
    client: Client,
    id: string,
    { after, isNew }: { readonly after: string | undefined; readonly isNew: boolean },
  ) {
    this.#client = client;
    this.#id = id;
    this.#after = after;
    this.#isNew = isNew;
  }

  /** Opens the terminal's conversation from now on: what was said before is not told again. */
  static async open(client: Client): Promise<Talk> {
    const openedAt = Date.now();
    const { id } = await client.openConversation(PLACE);
    const { lastEventId, createdAt } = await client.conversation(id);
    const isNew = Date.parse(createdAt) >= openedAt;
    return new Talk(client, id, { after: lastEventId ?? undefined, isNew });
  }

  /** What came since `since`, a time of this machine, and what waits. Ask before `follow`. */
  async greeting(since?: number): Promise<Greeting> {
    const greeting = await readGreeting(this.#client, this.#id, { since, isNew: this.#isNew });
    this.#greeted = greeting.missed;
    this.#waiting = greeting.waiting;
    return greeting;
  }

  /** The open approvals of the conversation that may be answered from here, oldest first. */
  async openApprovals(): Promise<readonly ApprovalReply[]> {
    const { items } = await this.#client.approvals({ state: 'open', conversation: this.#id });
    return items.filter(({ mayAnswer }) => mayAnswer).toReversed();
  }

  /** One approval, as it is now. */
  async approval(id: string): Promise<ApprovalReply> {
    return this.#client.approval(id);
  }

  /** Whether a turn runs in the conversation, whoever caused it; false when nobody answers. */
  async isRunning(): Promise<boolean> {
    return (await this.#now())?.state === 'running';
  }

  /** The conversation as it is now; undefined when nobody answers. */
  async #now(): Promise<ConversationReply | undefined> {
    return this.#client.conversation(this.#id).catch(() => undefined);
  }

  get isBusy(): boolean {
    return this.#open.size + this.#posting > 0;
  }

  /** Whether this message was sent from here, and so stands on the screen already. */
  isOwn(messageId: string): boolean {
    return this.#said.has(messageId);
  }

  /**
   * Sends a message; a lost connection is tried again, and the key keeps it from counting twice. Tells
   * what it waits for. Throws `NotSent` when nobody took it, `ApiProblem` for a no.
   */
  async say(text: string): Promise<Said> {
    this.#posting += 1;
    const isCommand = COMMAND.test(text);
    let messageId: string;
    try {
      messageId = await this.#post(text, randomUUID());
      this.#said.add(messageId);
      this.#open.set(messageId, isCommand);
    } finally {
      this.#posting -= 1;
    }
    // A quick answer may have been shown before we learned what it answers.
    await this.#settle();
    if (isCommand) return { isQueued: false, isKept: false };
    return this.#waitsFor(messageId);
  }

  async #waitsFor(messageId: string): Promise<Said> {
    const { state, fence } = (await this.#now()) ?? {};
    const isPaused = fence === 'blocked';
    const waits = (state === 'running' || isPaused) && (await this.#isUnclaimed(messageId));
    return { isQueued: waits && !isPaused, isKept: waits && isPaused };
  }

  async #isUnclaimed(messageId: string): Promise<boolean> {
    return this.#client.message(messageId).then(
      ({ state }) => state === 'unclaimed',
      () => false,
    );
  }

  async #post(text: string, idempotencyKey: string): Promise<string> {
    let isRefused = true;
    for (let tries = 1; ; tries += 1) {
      try {
        const { messageId } = await this.#client.postMessage(
          this.#id,
          { text },
          { idempotencyKey },
        );
        return messageId;
      } catch (error) {
        if (error instanceof ApiProblem) throw error;
        isRefused &&= causeOf(error) === 'ECONNREFUSED';
        if (tries === TRIES) throw notSent(error, isRefused);
      }
    }
  }

  /** Tells every event until `signal` aborts; `show` has it before the talk counts it as an answer. */
  async follow(show: (event: StreamEvent) => void, signal: AbortSignal): Promise<void> {
    const after = this.#after === undefined ? {} : { after: this.#after };
    for await (const event of this.#client.conversationEvents(this.#id, { ...after, signal })) {
      if (!this.#wasGreeted(event)) show(event);
      if (event.type === 'notice') {
        this.#notices.add(event.sentence);
        await this.#settle(true);
      } else if (event.type === 'message' && event.role === 'assistant') {
        this.#heard.add(event.messageId);
        await this.#settle();
      }
    }
  }

  #wasGreeted(event: StreamEvent): boolean {
    if (event.type === 'notice' && this.#waiting.includes(event.sentence)) return true;
    const found = this.#greeted.find((entry) =>
      event.type === 'notice'
        ? entry.kind === 'notice' && entry.text === event.sentence
        : event.type === 'message' && entry.id === event.messageId,
    );
    if (found !== undefined) this.#greeted = this.#greeted.filter((entry) => entry !== found);
    return found !== undefined;
  }

  /** Resolves once nothing that was said from here waits for an answer. */
  async idle(): Promise<void> {
    if (!this.isBusy) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle.add(resolve);
    await promise;
  }

  /**
   * A message counts as answered once its answer was shown, not when it was only given. After a notice
   * nothing may follow until something changes: what was taken up and runs no more is not waited for. Nor is
   * what a paused conversation keeps until an admin lets it go on; commands are answered there too.
   */
  async #settle(isNotice = false): Promise<void> {
    const isAtRest = isNotice && !(await this.isRunning());
    for (const [id, isCommand] of this.#open) {
      const message = await this.#lookUp(id);
      if (message === undefined) continue;
      const isKept = !isCommand && (await this.#isKept(message));
      if (isKept || this.#isOver(message, isAtRest)) this.#open.delete(id);
    }
    if (this.isBusy) return;
    this.#heard.clear();
    this.#notices.clear();
    for (const resolve of this.#onIdle) resolve();
    this.#onIdle.clear();
  }

  async #isKept({ state }: MessageReply): Promise<boolean> {
    return state === 'unclaimed' && (await this.#now())?.fence === 'blocked';
  }

  #isOver({ state, answer, answerId }: MessageReply, isAtRest: boolean): boolean {
    const isHeard = answerId !== null && this.#heard.has(answerId);
    const isShown = answer === null || isHeard || this.#notices.has(answer);
    return (state === 'done' && isShown) || (isAtRest && state !== 'unclaimed');
  }

  /** Undefined when nobody answers: what the stream tells next asks again. */
  async #lookUp(id: string): Promise<MessageReply | undefined> {
    try {
      return await this.#client.message(id);
    } catch (error) {
      if (error instanceof ApiProblem) throw error;
      return undefined;
    }
  }
}

/** The code of what broke a connection, as `fetch` hides it. */
function causeOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error instanceof Error ? error.message : String(error);
}

function notSent(error: unknown, isRefused: boolean): NotSent {
  const why = causeOf(error);
  return new NotSent(
    isRefused
      ? `Not sent: no host answers (${why}).`
      : `Perhaps not sent: the connection was lost (${why}). /tasks shows what was taken.`,
    { cause: error },
  );
}
