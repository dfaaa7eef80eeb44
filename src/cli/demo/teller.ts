import { setTimeout as pause } from 'node:timers/promises';
import { paintFor, type Paint } from '../paint.ts';
import { printText } from '../print.ts';

/** How long a person gets for a line; a pipe needs no time. */
const READ_MS = 900;

/** Says what happens, in lines that are told apart without colours. */
export class Teller {
  readonly #paint: Paint = paintFor(process.stdout, process.env);
  readonly #readMs = process.stdout.isTTY ? READ_MS : 0;

  /** What happens, in a plain sentence. */
  async says(sentence: string): Promise<void> {
    printText(`\n${sentence}`);
    await pause(this.#readMs);
  }

  /** What is typed in a shell. */
  async types(command: string): Promise<void> {
    this.#print(this.#paint.bold(`  $ ${command}`));
    await pause(this.#readMs);
  }

  /** What is typed in the chat. */
  async writes(text: string): Promise<void> {
    this.#print(this.#paint.bold(`  > ${text}`));
    await pause(this.#readMs);
  }

  /** What the product says, exactly. */
  async shows(text: string): Promise<void> {
    for (const line of text.split('\n')) printText(`  | ${line}`);
    await pause(this.#readMs);
  }

  // Colours would not survive the check of what is printed; the words have passed it already.
  #print(line: string): void {
    process.stdout.write(`${line}\n`);
  }
}
