import type { MessageRecord } from '../../core/inbox/record.ts';
import type { MessageId } from '../../kernel/ids.ts';
import { handleCommand } from './commands.ts';
import type { CommandHost } from './order-host.ts';

export interface QueueHost {
  readonly commands: CommandHost;
  /** Called when a command was answered. */
  readonly onAnswered: (message: MessageRecord) => void;
  readonly onFault: (error: unknown, where: string) => void;
}

// Open commands that are read at once.
const COMMANDS_MAX = 64;
// Commands that are answered side by side; what comes above them waits in the store.
const TOGETHER_MAX = 64;

/** Answers commands on their own path beside the turns (W-3), each once at a time. */
export class CommandQueue {
  readonly #host: QueueHost;
  readonly #answering = new Set<MessageId>();
  /** Open commands that nobody answers yet may be in the store. */
  #mayHaveMore = false;
  #isSweeping = false;

  constructor(host: QueueHost) {
    this.#host = host;
  }

  /** Never rejects: one that cannot be answered now is found again by `answerOpen`. */
  async answer(messageId: MessageId): Promise<void> {
    if (this.#answering.has(messageId)) return;
    if (this.#answering.size >= TOGETHER_MAX) {
      this.#mayHaveMore = true;
      return;
    }
    await this.#answerOne(messageId);
    if (this.#mayHaveMore && this.#answering.size === 0) await this.#sweep();
  }

  /** Whoever ends last looks for what had to wait. */
  async #sweep(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    try {
      do {
        this.#mayHaveMore = false;
        await this.answerOpen();
      } while (this.#mayHaveMore && this.#answering.size === 0);
    } catch (error) {
      this.#host.onFault(error, 'command');
    } finally {
      this.#isSweeping = false;
    }
  }

  async #answerOne(messageId: MessageId): Promise<void> {
    this.#answering.add(messageId);
    try {
      const { commands, onAnswered } = this.#host;
      const message = await commands.parts.store.query('message.byId', { id: messageId });
      // A redelivery may look like a command and name a message that is none (I-1).
      if (message?.kind !== 'command' || message.state !== 'unclaimed') return;
      await handleCommand(commands, message);
      onAnswered(message);
    } catch (error) {
      this.#host.onFault(error, 'command');
    } finally {
      this.#answering.delete(messageId);
    }
  }

  /** Answers what a crash or a fault left open. */
  async answerOpen(): Promise<void> {
    const { store } = this.#host.commands.parts;
    let last: MessageId | undefined;
    for (;;) {
      const open = await store.query('message.openCommands', { limit: COMMANDS_MAX });
      for (const { id } of open) {
        // Behind those that are being answered there may be others.
        if (this.#answering.has(id)) this.#mayHaveMore = true;
        else await this.#answerOne(id);
      }
      // One that cannot be answered now is asked for again at the next tick, not at once.
      if (open.length < COMMANDS_MAX || open[0]?.id === last) return;
      last = open[0]?.id;
    }
  }
}
