import { randomUUID } from 'node:crypto';
import { ApiProblem, type Client } from '../../client/client.ts';
import type { StreamEvent } from '../../wire/stream.ts';

/** The one conversation of the terminal, whoever opens it and however often. */
const PLACE = { channel: 'terminal', address: 'terminal' } as const;
const TRIES = 3;

/** One side of the terminal's conversation: what was said from here, and whether it was answered. */
export class Talk {
  readonly #client: Client;
  readonly #id: string;
  readonly #after: string | undefined;
  /** Messages that wait for their answer. */
  readonly #open = new Set<string>();
  readonly #said = new Set<string>();
  /** What was shown and is not yet known to answer something from here. */
  readonly #heard: string[] = [];
  /** Messages on their way to the host, whose ids are not known yet. */
  #posting = 0;
  #onIdle: () => void = () => {};

  private constructor(client: Client, id: string, after: string | undefined) {
    this.#client = client;
    this.#id = id;
    this.#after = after;
  }

  /** Opens the terminal's conversation from now on: what was said before is not told again. */
  static async open(client: Client): Promise<Talk> {
    const { id } = await client.openConversation(PLACE);
    const { lastEventId } = await client.conversation(id);
    return new Talk(client, id, lastEventId ?? undefined);
  }

  get isBusy(): boolean {
    return this.#open.size + this.#posting > 0;
  }

  /** Whether this message was sent from here, and so stands on the screen already. */
  isOwn(messageId: string): boolean {
    return this.#said.has(messageId);
  }

  /** Sends a message; a lost connection is tried again, and the key keeps it from counting twice. */
  async say(text: string): Promise<void> {
    this.#posting += 1;
    try {
      const messageId = await this.#post(text, randomUUID());
      this.#said.add(messageId);
      this.#open.add(messageId);
    } finally {
      this.#posting -= 1;
    }
    // A quick answer may have been shown before we learned what it answers.
    await this.#settle();
  }

  async #post(text: string, idempotencyKey: string): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      try {
        const { messageId } = await this.#client.postMessage(
          this.#id,
          { text },
          { idempotencyKey },
        );
        return messageId;
      } catch (error) {
        if (error instanceof ApiProblem || tries === TRIES) throw error;
      }
    }
  }

  /** Tells every event until `signal` aborts; `show` has it before the talk counts it as an answer. */
  async follow(show: (event: StreamEvent) => void, signal: AbortSignal): Promise<void> {
    const after = this.#after === undefined ? {} : { after: this.#after };
    for await (const event of this.#client.conversationEvents(this.#id, { ...after, signal })) {
      show(event);
      if (event.type === 'notice') {
        // The host's last word until something changes; what it is about may wait for long.
        this.#open.clear();
        this.#onIdle();
      } else if (event.type === 'message' && event.role === 'assistant') {
        this.#heard.push(event.text);
        await this.#settle();
      }
    }
  }

  /** Resolves once nothing that was said from here waits for an answer. */
  async idle(): Promise<void> {
    if (!this.isBusy) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    await promise;
  }

  /** A message counts as answered once its answer was shown, not when it was only given. */
  async #settle(): Promise<void> {
    for (const id of this.#open) {
      const { state, answer } = await this.#client.message(id);
      const heardAt = answer === null ? -1 : this.#heard.indexOf(answer);
      if (state !== 'done' || (answer !== null && heardAt === -1)) continue;
      if (heardAt >= 0) this.#heard.splice(heardAt, 1);
      this.#open.delete(id);
    }
    if (!this.isBusy) {
      this.#heard.length = 0;
      this.#onIdle();
    }
  }
}
