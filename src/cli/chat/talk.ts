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
    return this.#open.size > 0;
  }

  /** Whether this message was sent from here, and so stands on the screen already. */
  isOwn(messageId: string): boolean {
    return this.#said.has(messageId);
  }

  /** Sends a message; a lost connection is tried again, and the key keeps it from counting twice. */
  async say(text: string): Promise<void> {
    const messageId = await this.#post(text, randomUUID());
    this.#said.add(messageId);
    this.#open.add(messageId);
    // A quick answer may have come before we learned what it answers.
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
      // A notice is the host's last word until something changes; its message may wait for long.
      if (event.type === 'notice') this.#open.clear();
      if (isSpeech(event)) await this.#settle();
    }
  }

  /** Resolves once nothing that was said from here waits for an answer. */
  async idle(): Promise<void> {
    if (!this.isBusy) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    await promise;
  }

  async #settle(): Promise<void> {
    for (const id of this.#open) {
      const { state } = await this.#client.message(id);
      if (state === 'done') this.#open.delete(id);
    }
    if (!this.isBusy) this.#onIdle();
  }
}

function isSpeech(event: StreamEvent): boolean {
  return event.type === 'notice' || (event.type === 'message' && event.role === 'assistant');
}
