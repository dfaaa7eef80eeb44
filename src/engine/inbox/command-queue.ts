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

/** Answers commands on their own path beside the turns (W-3), each once at a time. */
export class CommandQueue {
  readonly #host: QueueHost;
  readonly #answering = new Set<MessageId>();

  constructor(host: QueueHost) {
    this.#host = host;
  }

  /** Never rejects: one that cannot be answered now is found again by `answerOpen`. */
  async answer(messageId: MessageId): Promise<void> {
    if (this.#answering.has(messageId)) return;
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
      for (const { id } of open) await this.answer(id);
      // One that cannot be answered now is asked for again at the next tick, not at once.
      if (open.length < COMMANDS_MAX || open[0]?.id === last) return;
      last = open[0]?.id;
    }
  }
}
