// The world outside: channels and API callers that send, repeat, overtake, stop and cancel.
import { Fault, type Refusal } from '../../src/kernel/fault.ts';
import type { ConversationId, MessageId, RunId, TaskId } from '../../src/kernel/ids.ts';
import { principalName, type Principal } from '../../src/kernel/principal.ts';
import { MINUTE, SECOND } from '../../src/kernel/time.ts';
import type { Accepted, AcceptedRun, Engine } from '../../src/engine/engine.ts';
import { Epoch, type Scheduler } from '../../src/testing/scheduler.ts';
import type { Random } from '../../src/testing/sim-random.ts';
import type { StoreWeather } from './faulty-store.ts';
import type { History, Sent } from './history.ts';
import type { SimulationOptions } from './options.ts';
import type { Sometime } from './sometimes.ts';

export interface ClientParts {
  readonly options: SimulationOptions;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly weather: StoreWeather;
  readonly history: History;
  /** A host that takes requests now, if any. */
  readonly host: () => Engine | undefined;
  readonly isInInbox: (messageId: string) => boolean;
  /** A task that has not ended, as `GET /tasks` would list it. */
  readonly openTasks: () => readonly TaskId[];
  readonly reached: (name: Sometime) => void;
  /** Something was thrown that is no fault. */
  readonly broken: (error: unknown) => void;
}

type Reply = Accepted | AcceptedRun | Refusal;
type Heard<T> = { readonly kind: 'heard'; readonly value: T } | { readonly kind: 'silence' };
type Send = (engine: Engine, body: string) => Promise<Reply>;

/** Refusals after which a sender does not try again. */
const FINAL: ReadonlySet<string> = new Set(['run_ended', 'not_found', 'idempotency_conflict']);

const PERSON: Principal = { kind: 'member', id: 'person', isAdmin: false };
const ADMIN: Principal = { kind: 'admin', id: 'terminal', isAdmin: true };

export class Client {
  readonly epoch = new Epoch('client');
  readonly #parts: ClientParts;
  readonly #conversations: ConversationId[] = [];
  readonly #runs: { readonly runId: RunId; readonly taskId: TaskId }[] = [];
  #open = 0;
  #markers = 0;
  #admins = 0;
  #lastArrived = 0;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** True once every action has come to its end. */
  get isDone(): boolean {
    return this.#open === 0;
  }

  /** Starts all actions of the seed, spread over its span. */
  start(): void {
    const { options, random } = this.#parts;
    for (let index = 0; index < options.conversations; index += 1) {
      this.#do(() => this.#openConversation(index));
    }
    for (let index = 0; index < options.actions; index += 1) {
      const at = Math.floor(random.next() * options.span);
      this.#do(async () => {
        await this.#pause('action', at);
        await this.#waitFor(() => this.#conversations.length > 0);
        await this.#act();
      });
    }
  }

  /** Sends one message now; for scenarios that are written by hand. */
  message(conversation: number, kind: 'message' | 'run' = 'message'): void {
    this.#do(async () => {
      await this.#waitFor(() => this.#conversations.length > conversation);
      await (kind === 'run' ? this.#run() : this.#message(conversation));
    });
  }

  further(): void {
    this.#do(async () => {
      await this.#waitFor(() => this.#runs.length > 0);
      await this.#furtherMessage();
    });
  }

  stop(taskId: TaskId): void {
    this.#do(() => this.#stopTask(taskId, ADMIN));
  }

  command(text: string): void {
    this.#do(() => this.#command(text));
  }

  openConversations(count: number): void {
    for (let index = 0; index < count; index += 1) this.#do(() => this.#openConversation(index));
  }

  #do(action: () => Promise<void>): void {
    this.#open += 1;
    void this.#counted(action);
  }

  async #counted(action: () => Promise<void>): Promise<void> {
    try {
      await action();
      this.#open -= 1;
    } catch (error) {
      this.#parts.broken(error);
    }
  }

  async #act(): Promise<void> {
    const { random } = this.#parts;
    const draw = random.next();
    if (draw < 0.55) return this.#message(random.below(this.#conversations.length));
    if (draw < 0.72) return this.#run();
    if (draw < 0.8) return this.#furtherMessage();
    if (draw < 0.86) return this.#stopAny();
    if (draw < 0.9) return this.#cancelRun();
    return this.#command(
      random.pick(['/stop', '/stop', '/tasks', '/help', '/status', '/nonsense']),
    );
  }

  async #openConversation(index: number): Promise<void> {
    const opening = { channel: 'sim', address: `room ${index}`, principal: PERSON };
    const id = await this.#insist(`open ${index}`, (engine) => engine.openConversation(opening));
    this.#conversations[index] = id;
  }

  async #message(index: number): Promise<void> {
    const { random } = this.#parts;
    const conversationId = this.#conversations[index] ?? this.#conversations[0];
    if (conversationId === undefined) return;
    const byKey = random.chance(0.2);
    const sent = this.#sent('message');
    const send: Send = (engine, text) =>
      engine.acceptMessage({
        conversationId,
        text,
        principal: PERSON,
        ...(byKey
          ? { idempotency: { key: sent.key, fingerprint: `message ${text}` } }
          : { externalId: sent.key }),
      });
    await this.#deliver(sent, byKey, send);
  }

  async #command(text: string): Promise<void> {
    const conversationId = this.#parts.random.pick(this.#conversations.filter(Boolean));
    const sent = this.#sent('command');
    const send: Send = (engine) =>
      engine.acceptMessage({
        conversationId,
        text,
        principal: PERSON,
        externalId: sent.key,
      });
    await this.#deliver(sent, false, send);
    this.#parts.reached('command_answered');
  }

  async #run(): Promise<void> {
    const { random } = this.#parts;
    const conversationId = random.chance(0.5)
      ? random.pick(this.#conversations.filter(Boolean))
      : undefined;
    const sent = this.#sent('run');
    const send: Send = (engine, input) =>
      engine.acceptRun({
        input,
        principal: PERSON,
        ...(conversationId === undefined ? {} : { conversationId }),
        idempotency: { key: sent.key, fingerprint: `run ${input}` },
      });
    await this.#deliver(sent, true, send);
    const ack = sent.acks[0];
    if (ack?.runId == null) return;
    this.#runs.push({ runId: ack.runId as RunId, taskId: ack.taskId as TaskId });
  }

  async #furtherMessage(): Promise<void> {
    const run = this.#runs.at(-1);
    if (run === undefined) return this.#run();
    const sent = this.#sent('runMessage');
    const send: Send = (engine, text) =>
      engine.messageRun({
        runId: run.runId,
        text,
        principal: PERSON,
        idempotency: { key: sent.key, fingerprint: `further ${text}` },
      });
    await this.#deliver(sent, true, send);
    if (sent.refused === 'run_ended') this.#parts.reached('run_message_refused');
  }

  async #stopAny(): Promise<void> {
    const { random } = this.#parts;
    const open = this.#parts.openTasks();
    if (open.length === 0) return;
    await this.#stopTask(random.pick(open), random.pick([PERSON, this.#someAdmin()]));
  }

  async #stopTask(taskId: TaskId, principal: Principal): Promise<void> {
    const { history } = this.#parts;
    let tries = 0;
    const verdict = await this.#insist(`stop ${taskId}`, (engine) => {
      tries += 1;
      return engine.stopTask({ taskId, principal });
    });
    if (verdict.kind === 'stopped') history.stops.push({ taskId });
    else if (tries === 1 && principal !== PERSON) {
      history.refusedStops.push({ taskId, by: principalName(principal), code: verdict.code });
    }
  }

  /** An admin who gives one order only, so that what became of it can be told. */
  #someAdmin(): Principal {
    this.#admins += 1;
    return { kind: 'admin', id: `console${this.#admins}`, isAdmin: true };
  }

  async #cancelRun(): Promise<void> {
    const { random, history } = this.#parts;
    if (this.#runs.length === 0) return;
    const { runId, taskId } = random.pick(this.#runs);
    const verdict = await this.#insist(`cancel ${runId}`, (engine) =>
      engine.cancelRun({ runId, principal: PERSON }),
    );
    // An ended run keeps its end and is answered as it is.
    if (verdict.kind !== 'stopped' || verdict.task.state !== 'cancelled') return;
    this.#parts.reached('run_cancelled');
    history.stops.push({ taskId });
  }

  #sent(kind: Sent['kind']): Sent {
    this.#markers += 1;
    const marker = `#${this.#markers}#`;
    const sent: Sent = { marker, kind, key: `key ${this.#markers}`, acks: [], refused: null };
    this.#parts.history.sent.set(marker, sent);
    return sent;
  }

  /** Sends until it is acknowledged or refused for good, then perhaps again and in another body. */
  async #deliver(sent: Sent, byKey: boolean, send: Send): Promise<void> {
    const { random, weather, reached } = this.#parts;
    const order = this.#markers;
    if (random.chance(weather.faults.reorder))
      await this.#pause('detour', random.below(20 * SECOND));
    const body = `please do ${sent.marker}`;
    for (;;) {
      const heard = await this.#ask(sent.marker, (engine) => send(engine, body));
      if (heard.kind === 'heard' && this.#note(sent, heard.value, body)) {
        // The channel may miss the acknowledgement and deliver again.
        if (!random.chance(weather.faults.lostAck)) break;
        reached('duplicate_redelivery');
      }
      await this.#pause('retry', random.between(100, 10_000));
    }
    if (order < this.#lastArrived) reached('reordered');
    this.#lastArrived = Math.max(order, this.#lastArrived);
    if (sent.acks.length === 0) return;
    if (random.chance(weather.faults.duplicate)) await this.#again(sent, { send, body, byKey });
  }

  async #again(
    sent: Sent,
    first: { readonly send: Send; readonly body: string; readonly byKey: boolean },
  ): Promise<void> {
    const { random, weather, reached } = this.#parts;
    await this.#pause('redelivery', random.below(random.pick([SECOND, 2 * MINUTE])));
    const other = random.chance(weather.faults.otherBody) && sent.kind !== 'command';
    const body = other ? `instead do ${sent.marker} differently` : first.body;
    reached('duplicate_redelivery');
    const heard = await this.#ask(`${sent.marker} again`, (engine) => first.send(engine, body));
    if (heard.kind === 'silence') return;
    if (sent.kind === 'run') reached('idempotent_run');
    if (other && first.byKey) {
      const isRefused = heard.value.kind === 'refused';
      if (isRefused && heard.value.code === 'idempotency_conflict') reached('idempotency_conflict');
      return;
    }
    if (other) reached('same_id_other_body');
    this.#note(sent, heard.value, body);
  }

  /** True when the sender is done with it. */
  #note(sent: Sent, reply: Reply, _body: string): boolean {
    if (reply.kind === 'refused') {
      if (sent.acks.length > 0 && !FINAL.has(reply.code)) return false;
      if (FINAL.has(reply.code)) sent.refused = reply.code;
      return FINAL.has(reply.code);
    }
    const run =
      'runId' in reply
        ? { runId: reply.runId, taskId: reply.taskId }
        : { runId: null, taskId: null };
    const { messageId, conversationId, repeated } = reply;
    const durable = this.#parts.isInInbox(messageId satisfies MessageId);
    sent.acks.push({ messageId, conversationId, repeated, durable, ...run });
    return true;
  }

  /** Asks until there is an answer that is not a passing "no". */
  async #insist<T>(label: string, send: (engine: Engine) => Promise<T>): Promise<T> {
    for (;;) {
      const heard = await this.#ask(label, send);
      if (heard.kind === 'heard' && !isPassing(heard.value)) return heard.value;
      await this.#pause('retry', this.#parts.random.between(100, 10_000));
    }
  }

  /** One request to whichever host answers; silence when none does, or when it takes too long. */
  async #ask<T>(label: string, send: (engine: Engine) => Promise<T>): Promise<Heard<T>> {
    const { random } = this.#parts;
    await this.#pause(`send ${label}`, random.below(50));
    const engine = this.#parts.host();
    if (engine === undefined) return { kind: 'silence' };
    const patience = new AbortController();
    const tooLong = this.#pause('patience', random.pick([2, 10, 30]) * SECOND, patience.signal);
    const heard = send(engine).then(
      (value): Heard<T> => ({ kind: 'heard', value }),
      (error: unknown): Heard<T> => {
        if (error instanceof Fault) return { kind: 'silence' };
        throw error;
      },
    );
    const first = await Promise.race([heard, tooLong.then((): Heard<T> => ({ kind: 'silence' }))]);
    patience.abort();
    return first;
  }

  #pause(label: string, ms: number, signal?: AbortSignal): Promise<void> {
    const call = { epoch: this.epoch, label: `client ${label}`, delay: ms, signal };
    return this.#parts.scheduler.call(call, () => undefined);
  }

  async #waitFor(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#pause('wait', SECOND);
  }
}

function isPassing(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  if (value.kind !== 'refused' || !('code' in value)) return false;
  return ['draining', 'store_failed', 'disk_full', 'version_conflict'].includes(String(value.code));
}
