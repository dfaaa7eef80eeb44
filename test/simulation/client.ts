// The world outside: people and API callers that send, repeat, overtake, answer and give orders.
import type { ConversationId, RunId, TaskId } from '../../src/kernel/ids.ts';
import { principalName, type Principal } from '../../src/kernel/principal.ts';
import type { Epoch } from '../../src/testing/scheduler.ts';
import type { ApprovalRecord } from '../../src/core/approval/record.ts';
import type { Grant } from '../../src/core/budget/extend.ts';
import type { Admission, OrderKind } from './history.ts';
import type { SimulationOptions } from './options.ts';
import { Orders } from './orders.ts';
import { ADMIN, PERSON, someone } from './people.ts';
import { Sender, type Send, type SenderParts } from './sender.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import { UpkeepOrders } from './upkeep-orders.ts';

export interface ClientParts extends SenderParts {
  readonly options: SimulationOptions;
  readonly ledger: Ledger;
  /** Its own chance, so that upkeep does not reshuffle the other actions. */
  readonly upkeep: Random;
}

/** Looks until somebody who waits for something gives up. */
const PATIENCE = 300;

export class Client {
  readonly #parts: ClientParts;
  readonly #sender: Sender;
  readonly orders: Orders;
  readonly upkeep: UpkeepOrders;
  readonly #conversations: ConversationId[] = [];
  readonly #runs: { readonly runId: RunId; readonly taskId: TaskId }[] = [];

  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.#sender = new Sender(parts);
    this.orders = new Orders(parts, this.#sender, {
      conversations: () => this.#conversations.filter(Boolean),
      type: (text, conversationId, principal) => this.#command({ text, conversationId, principal }),
    });
    const { options, upkeep: random, look, reached, broken } = parts;
    this.upkeep = new UpkeepOrders({
      options,
      random,
      look,
      reached,
      broken,
      sender: this.#sender,
      orders: this.orders,
      conversations: () => this.#conversations.filter(Boolean),
      say: (of) => this.#message(of),
      type: (of) => this.#command(of),
      run: (principal, conversationId) => this.#run(principal, conversationId),
    });
  }

  get epoch(): Epoch {
    return this.#sender.epoch;
  }

  /** True once every action has come to its end. */
  get isDone(): boolean {
    return this.#sender.isDone;
  }

  /** Starts all actions of the seed, spread over its span. */
  start(): void {
    const { options, random } = this.#parts;
    this.openConversations(options.conversations);
    for (let index = 0; index < options.actions; index += 1) this.#plan(random, () => this.#act());
    const { upkeep } = this.#parts;
    for (let count = this.upkeep.actions; count > 0; count -= 1)
      this.#plan(upkeep, () => this.upkeep.act());
    if (options.upkeep.isOn) this.#plan(upkeep, () => this.upkeep.attend());
  }

  /** An action at some time of the run. */
  #plan(random: Random, act: () => Promise<void>): void {
    const at = Math.floor(random.next() * this.#parts.options.span);
    this.#sender.do(async () => {
      await this.#sender.pause('action', at);
      await this.#sender.waitFor(() => this.#conversations.length > 0);
      await act();
    });
  }

  /** Words of this length; for scenarios that are written by hand. */
  sayMuch(conversation: number, chars: number, principal = PERSON): void {
    this.#sender.do(async () => {
      await this.#sender.waitFor(() => this.#conversations.length > conversation);
      const conversationId = this.#conversations[conversation];
      const words = ` ${'so '.repeat(chars / 3)}`;
      if (conversationId !== undefined) await this.#message({ conversationId, principal, words });
    });
  }

  /** Sends one message now; for scenarios that are written by hand. */
  message(conversation: number, kind: 'message' | 'run' = 'message', principal = PERSON): void {
    this.#sender.do(async () => {
      await this.#sender.waitFor(() => this.#conversations.length > conversation);
      await (kind === 'run' ? this.#run(principal) : this.#plain(conversation, principal));
    });
  }

  /** A reply to a task, as a way out of how it stands. */
  reply(taskId: TaskId, conversationId: ConversationId, principal: Principal): void {
    this.#sender.do(() => this.#message({ conversationId, principal, replyTo: taskId }));
  }

  /** A message that is exactly this; for commands that notices name. */
  type(text: string, conversationId: ConversationId, principal: Principal): void {
    this.#sender.do(() => this.#command({ text, conversationId, principal }));
  }

  /** The same in a conversation by its number. */
  say(text: string, conversation: number, principal: Principal): void {
    const conversationId = this.#conversations[conversation];
    if (conversationId !== undefined) this.type(text, conversationId, principal);
  }

  /** Gives exactly this order; the answer tells of a refusal, once there is one. */
  exactly(
    kind: OrderKind,
    subject: { readonly id: string },
    by: { readonly principal: Principal; readonly grant?: Grant | undefined },
    command: string,
  ): () => string | undefined {
    let refused: string | undefined;
    this.#sender.do(async () => {
      const verdict = await this.orders.exactly(kind, subject, by);
      if (verdict.kind === 'refused')
        refused = `V8 ${command} by ${by.principal.id} was refused: ${verdict.code}`;
    });
    return () => refused;
  }

  /** Admits exactly this; the answer tells of a refusal, once there is one. */
  admit(operationId: string, admission: Admission, principal = ADMIN): () => string | undefined {
    let refused: string | undefined;
    this.#sender.do(async () => {
      const { verdict } = await this.orders.admit(operationId, admission, principal);
      if (verdict.kind === 'refused')
        refused = `V8 the admission of ${operationId} was refused: ${verdict.code}`;
    });
    return () => refused;
  }

  further(): void {
    this.#sender.do(async () => {
      await this.#sender.waitFor(() => this.#runs.length > 0);
      await this.#furtherMessage();
    });
  }

  /** An order about the host itself. */
  orderHost(name: 'end_safe_mode' | 'repair', principal = ADMIN): void {
    this.#sender.do(() => this.orders.hostOrder(name, principal));
  }

  stop(taskId: TaskId, principal = ADMIN): void {
    this.#sender.do(() => this.orders.stopTask(taskId, principal));
  }

  /** Approves the first call that a person is asked about; for scenarios that are written by hand. */
  approveFirst(principal: Principal): void {
    const open = (): ApprovalRecord | undefined =>
      this.#parts.look.approvals().find(({ state }) => state === 'open');
    this.#sender.do(async () => {
      await this.#sender.waitFor(() => open() !== undefined, PATIENCE);
      const asked = open();
      if (asked !== undefined) await this.orders.exactly('approve', asked, { principal });
    });
  }

  openConversations(count: number): void {
    for (let index = 0; index < count; index += 1)
      this.#sender.do(() => this.#openConversation(index));
  }

  async #act(): Promise<void> {
    const { random } = this.#parts;
    const draw = random.next();
    if (draw < 0.4) return this.#someMessage();
    if (draw < 0.52) return this.#run(someone(random));
    if (draw < 0.58) return this.#furtherMessage();
    if (draw < 0.63) return this.orders.stopAny();
    if (draw < 0.66) return this.#cancelRun();
    if (draw < 0.9) return this.orders.giveAny();
    return this.#someCommand();
  }

  async #openConversation(index: number): Promise<void> {
    // The first is where the terminal's admin sits: there the clock is told of.
    const channel = index === 0 ? 'terminal' : 'sim';
    const opening = { channel, address: `room ${index}`, principal: PERSON };
    const id = await this.#sender.insist(`open ${index}`, (engine) =>
      engine.openConversation(opening),
    );
    this.#conversations[index] = id;
  }

  async #someMessage(): Promise<void> {
    const { random, look } = this.#parts;
    const conversationId = random.pick(this.#conversations.filter(Boolean));
    const principal = someone(random);
    const repliable = [...look.repliable(), ...look.tasks().map(({ id }) => id)];
    const tasks = look.tasks();
    const [replies, names] = [random.chance(0.3), random.chance(0.15)];
    const replyTo = replies && repliable.length > 0 ? random.pick(repliable) : undefined;
    const named = names && tasks.length > 0 ? ` about ${random.pick(tasks).id}` : '';
    const approved = random.chance(0.1) ? ' approved, yes, go on' : '';
    await this.#message({
      conversationId,
      principal,
      ...(replyTo === undefined ? {} : { replyTo }),
      words: `${named}${approved}`,
    });
  }

  async #plain(index: number, principal: Principal): Promise<void> {
    const conversationId = this.#conversations[index];
    if (conversationId !== undefined) await this.#message({ conversationId, principal });
  }

  async #message(of: {
    readonly conversationId: ConversationId;
    readonly principal: Principal;
    readonly replyTo?: string;
    readonly words?: string;
  }): Promise<void> {
    const { random } = this.#parts;
    const { conversationId, principal, replyTo, words = '' } = of;
    const byKey = random.chance(0.2);
    const sent = this.#sender.sent('message');
    const send: Send = (engine, text) =>
      engine.acceptMessage({
        conversationId,
        text,
        principal,
        ...(replyTo === undefined ? {} : { replyTo }),
        ...(byKey
          ? { idempotency: { key: sent.key, fingerprint: `message ${text}` } }
          : { externalId: sent.key }),
      });
    await this.#sender.deliver(sent, { body: `please do ${sent.marker}${words}`, byKey, send });
  }

  async #someCommand(): Promise<void> {
    const { random } = this.#parts;
    const conversationId = random.pick(this.#conversations.filter(Boolean));
    const text = random.pick(COMMANDS);
    await this.#command({ text, conversationId, principal: someone(random) });
  }

  async #command(of: {
    readonly text: string;
    readonly conversationId: ConversationId;
    readonly principal: Principal;
  }): Promise<void> {
    const sent = this.#sender.sent('command');
    const send: Send = (engine) => engine.acceptMessage({ ...of, externalId: sent.key });
    await this.#sender.deliver(sent, { body: of.text, byKey: false, send });
  }

  async #run(principal: Principal, room?: ConversationId): Promise<void> {
    const { random } = this.#parts;
    const drawn = random.chance(0.5) ? random.pick(this.#conversations.filter(Boolean)) : undefined;
    const conversationId = room ?? drawn;
    const sent = this.#sender.sent('run');
    const send: Send = (engine, input) =>
      engine.acceptRun({
        input,
        principal,
        ...(conversationId === undefined ? {} : { conversationId }),
        idempotency: { key: sent.key, fingerprint: `run ${input}` },
      });
    await this.#sender.deliver(sent, { body: `please do ${sent.marker}`, byKey: true, send });
    const ack = sent.acks[0];
    if (ack?.runId == null) return;
    this.#runs.push({ runId: ack.runId as RunId, taskId: ack.taskId as TaskId });
  }

  async #furtherMessage(): Promise<void> {
    const run = this.#runs.at(-1);
    if (run === undefined) return this.#run(PERSON);
    const sent = this.#sender.sent('runMessage');
    const principal = this.#parts.random.pick([PERSON, PERSON, ADMIN]);
    const send: Send = (engine, text) =>
      engine.messageRun({
        runId: run.runId,
        text,
        principal,
        idempotency: { key: sent.key, fingerprint: `further ${text}` },
      });
    await this.#sender.deliver(sent, { body: `please do ${sent.marker}`, byKey: true, send });
    if (sent.refused === 'run_ended') this.#parts.reached('run_message_refused');
  }

  async #cancelRun(): Promise<void> {
    const { random, history } = this.#parts;
    if (this.#runs.length === 0) return;
    const { runId, taskId } = random.pick(this.#runs);
    const principal = random.pick([PERSON, ADMIN]);
    history.exactStops.add(`${taskId} ${principalName(principal)}`);
    const verdict = await this.#sender.insist(`cancel ${runId}`, (engine) =>
      engine.cancelRun({ runId, principal }),
    );
    // An ended run keeps its end and is answered as it is.
    if (verdict.kind !== 'stopped' || verdict.task.state !== 'cancelled') return;
    this.#parts.reached('run_cancelled');
    history.stops.push({ taskId });
  }
}

const COMMANDS = [
  '/stop',
  '/stop',
  '/stop all',
  '/new',
  '/reset',
  '/model',
  '/model two',
  '/model three',
  '/model default',
  '/model nobody',
  '/tasks',
  '/why',
  '/context',
  '/usage',
  '/status',
  '/help',
  '/clock confirm',
  '/nonsense',
  '/approve',
  '/extend',
  '/budget-reset',
  '/tasks held',
];
