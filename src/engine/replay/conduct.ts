import type { StepRecord } from '../../core/turn/record.ts';
import { idInstant } from '../../kernel/ids.ts';
import { MINUTE, type Instant, type Millis } from '../../kernel/time.ts';
import { Answering } from './answering.ts';
import type { AtRest } from './clock.ts';
import { entriesOf, fitOf } from './decided.ts';
import { isElsewhere, isLedElsewhere, isOfInstallation, takeOver } from './elsewhere.ts';
import { dataIn, type Entry } from './entry.ts';
import type { HeldUnit } from './held-store.ts';
import { Names } from './names.ts';
import { giveAgain, isPersons, type Given } from './people.ts';
import { makeActor, RecordedOptions, type Actor, type SceneParts } from './scene.ts';
import type { Obstacle, Trace } from './trace.ts';

/** One decision that this version made as the record has it. */
export interface Replayed {
  /** From 1 on. */
  readonly number: number;
  /** The unit, `room.verb`. */
  readonly unit: string;
  readonly entries: readonly Entry[];
}

/** What this version would commit where the record has something else. */
export interface Instead {
  readonly unit: string;
  /** In the record's names; the first differs, or one behind it. */
  readonly entries: readonly Entry[];
  /** So many of them are as recorded. */
  readonly alike: number;
}

export type ReplayEnd =
  | { readonly kind: 'same'; readonly decisions: number }
  | {
      readonly kind: 'differs';
      readonly decisions: number;
      /** What the record has from there on, the entries of one commit. */
      readonly recorded: readonly Entry[];
      /** Empty when this version does nothing there. */
      readonly instead: readonly Instead[];
      /** What it answered a person whose order the record has carried out, and what broke in it. */
      readonly remarks: readonly string[];
    }
  | { readonly kind: 'cannot'; readonly decisions: number; readonly obstacle: Obstacle };

/** So long is waited beyond a recorded instant: timers come late, and never early. */
const WAIT_MS: Millis = MINUTE;

/** Runs the present engine along the record of one conversation (docs/decisions/0017). */
export class Conductor {
  readonly #parts: SceneParts;
  readonly #trace: Trace;
  readonly #atRest: AtRest;
  readonly #names = new Names();
  readonly #options: RecordedOptions;
  readonly #answering: Answering;
  readonly #given = new Set<number>();
  readonly #remarks: string[] = [];
  #actor: Actor | undefined;
  #place = 0;
  #decisions = 0;
  #looked = false;
  /** The model step that is open, and how many of its calls were reserved. */
  #step: { readonly record: StepRecord; readonly tries: number } | undefined;

  constructor(parts: SceneParts, trace: Trace, atRest: AtRest) {
    this.#parts = parts;
    this.#trace = trace;
    this.#atRest = atRest;
    this.#options = new RecordedOptions(parts.options);
    this.#answering = new Answering(trace, this.#names, parts.clock, () => ({
      outside: this.#host.outside,
      place: this.#place,
      step: this.#step,
    }));
  }

  /** Follows the record to its end, or to the first decision that is another one. */
  async run(onDecision: (decision: Replayed) => void): Promise<ReplayEnd> {
    const { entries } = this.#trace;
    this.#begin(this.#hostAhead(), entries[0]?.at ?? 0);
    while (this.#place < entries.length) {
      const end = await this.#advance(onDecision);
      if (end !== undefined) return end;
    }
    return { kind: 'same', decisions: this.#decisions };
  }

  async #advance(onDecision: (decision: Replayed) => void): Promise<ReplayEnd | undefined> {
    const next = this.#next;
    const { clock } = this.#parts;
    clock.commitAt = next.at;
    // Hosts are where the last commit left them: a pause before this one has still to pass.
    clock.at = Math.min(clock.at, next.at);
    this.#options.follow(this.#trace.entries, this.#place);
    const obstacle = obstacleAt(next);
    if (obstacle !== undefined) return this.#cannot(obstacle);
    for (;;) {
      await this.#settled();
      const done = await this.#commitNext();
      if (done !== undefined) {
        onDecision(done);
        return undefined;
      }
      if (await this.#takeOver(next)) return undefined;
      const given = this.#give(next);
      if (given === true) continue;
      if (given !== false) return this.#cannot(given);
      if (this.#lookAgain(next)) continue;
      if (!clock.wakeNext(next.at + WAIT_MS)) break;
    }
    return this.#differs();
  }

  /** Commits what the record has next, if a host wants to; what writes no history is let through on the way. */
  async #commitNext(): Promise<Replayed | undefined> {
    const { store } = this.#host;
    const recorded = this.#trace.entries.slice(this.#place, this.#place + AHEAD);
    for (const held of store.held) {
      if (isElsewhere(held.unit.name)) {
        store.lookAgain(held, undefined);
        await this.#settled();
        return this.#commitNext();
      }
      const entries = await this.#judged(held, this.#next.at);
      if (entries.length === 0) {
        await this.#letThrough(held);
        return this.#commitNext();
      }
      if (fitOf(recorded, entries, this.#names.compare()).isWhole) return this.#commit(held);
    }
    return undefined;
  }

  async #judged(held: HeldUnit, at: Instant): Promise<readonly Entry[]> {
    this.#parts.clock.commitAt = at;
    const judged = await this.#host.store.judge(held);
    return judged.kind === 'decided' ? entriesOf(judged.decision.writes) : [];
  }

  /** What writes no history belongs to the time between: a pause that it begins has to be over by the next commit. */
  async #letThrough(held: HeldUnit): Promise<void> {
    const { clock } = this.#parts;
    const isSo = (await this.#judged(held, clock.at)).length === 0;
    clock.commitAt = isSo ? clock.at : this.#next.at;
    await this.#host.store.letThrough(held);
    await this.#settled();
  }

  async #commit(held: HeldUnit): Promise<Replayed | undefined> {
    this.#parts.clock.commitAt = this.#next.at;
    const decision = await this.#host.store.letThrough(held);
    if (decision === undefined) return undefined;
    const here = entriesOf(decision.writes);
    const recorded = this.#trace.entries.slice(this.#place, this.#place + here.length);
    const comparison = this.#names.compare();
    fitOf(recorded, here, comparison);
    comparison.keep();
    this.#parts.clock.at = Math.max(this.#parts.clock.at, this.#next.at);
    this.#place += here.length;
    this.#decisions += 1;
    this.#looked = false;
    for (const entry of recorded) this.#note(entry);
    return { number: this.#decisions, unit: held.unit.name, entries: recorded };
  }

  #note({ type, id, facts }: Entry): void {
    if (type === 'model.started') {
      const record = this.#trace.step(id);
      this.#step = record === undefined ? undefined : { record, tries: 1 };
    } else if (type === 'model.finished') this.#step = undefined;
    else if (type === 'model.retried' && this.#step !== undefined)
      this.#step = { ...this.#step, tries: Number(dataIn({ facts })['tries']) };
  }

  /** Gives what the record has from outside; false when there is nothing to give. */
  #give(next: Entry): boolean | Obstacle {
    if (this.#answering.classify() || this.#answering.answerTurn(next)) return true;
    if (isPersons(next)) return this.#giveAgain(next);
    const host = this.#otherHost();
    if (host !== undefined) return this.#restart(host, next);
    return this.#answering.answerAside(next) || this.#drain(next);
  }

  #giveAgain(next: Entry): boolean | Obstacle {
    if (this.#given.has(next.seq)) return false;
    this.#given.add(next.seq);
    this.#parts.clock.at = next.at;
    const { engine } = this.#host;
    const { recording } = this.#trace;
    const group = this.#group();
    const given = giveAgain({ engine, recording, names: this.#names, group });
    if (given === undefined) return { seq: next.seq, code: 'order', detail: next.type };
    void this.#hear(given);
    return true;
  }

  /** A person whose order was carried out then, and is not now, is told why. */
  async #hear(given: Given): Promise<void> {
    try {
      const answer = await given;
      if ('code' in answer) this.#remarks.push(`It refuses what was ordered: ${answer.code}.`);
    } catch (error) {
      this.#remarks.push(String(error));
    }
  }

  /** What was said of the whole installation stands here as it was said. */
  async #takeOver(next: Entry): Promise<boolean> {
    if (!isOfInstallation(next)) return false;
    const { store, clock } = this.#parts;
    clock.commitAt = next.at;
    const taken = await takeOver(store, { trace: this.#trace, names: this.#names, next });
    if (!taken) return false;
    this.#place += 1;
    return true;
  }

  /** The entries that one person wrote in one commit, as far as the record tells them apart. */
  #group(): readonly Entry[] {
    const [first, ...rest] = this.#trace.entries.slice(this.#place, this.#place + AHEAD);
    if (first === undefined) return [];
    const end = rest.findIndex(
      ({ at, by, type, said: words }) =>
        at !== first.at ||
        by !== first.by ||
        (type === 'message.accepted' &&
          first.type !== 'conversation.created' &&
          words?.['kind'] !== 'generated'),
    );
    return [first, ...(end === -1 ? rest : rest.slice(0, end))];
  }

  /** The record's host that writes next, when it is not the one that is here. */
  #otherHost(): string | undefined {
    const writer = this.#trace.writer(this.#place);
    const name = writer.startsWith('host:') ? writer.slice('host:'.length) : undefined;
    return name === undefined || name === this.#host.recorded ? undefined : name;
  }

  #restart(host: string, next: Entry): boolean | Obstacle {
    if (this.#names.own(host) !== undefined) return { seq: next.seq, code: 'hosts', detail: host };
    const former = this.#trace.entries[this.#place - 1];
    this.#host.store.die();
    this.#parts.clock.forget();
    const begun = idInstant('host', host);
    const at = begun !== undefined && begun <= next.at && begun >= (former?.at ?? 0);
    this.#begin(host, at ? begun : next.at);
    this.#step = undefined;
    return true;
  }

  /**
   * A turn finds out which task its message joins before it claims it. The record's host may have done so later
   * than this one did, and then found more.
   */
  #lookAgain(next: Entry): boolean {
    const { store } = this.#host;
    const claim = store.held.find(({ unit }) => unit.name === 'turn.claim');
    if (this.#looked || claim === undefined) return false;
    this.#looked = true;
    this.#parts.clock.at = next.at;
    store.lookAgain(claim, 'stale');
    return true;
  }

  /** A host that was stopped while it worked ends its calls itself. */
  #drain(next: Entry): boolean {
    const isCut = next.type.endsWith('.finished') && next.facts['state'] === 'cut';
    if (!isCut || this.#given.has(next.seq)) return false;
    this.#given.add(next.seq);
    void this.#host.engine.stop(0).catch((error: unknown) => this.#remarks.push(String(error)));
    return true;
  }

  #begin(recorded: string, at: Instant): void {
    this.#parts.clock.at = at;
    this.#actor = makeActor(this.#parts, {
      recording: this.#trace.recording,
      names: this.#names,
      options: this.#options.options,
      lastSeq: () => this.#place,
      recorded,
    });
    void this.#actor.engine.start().catch((error: unknown) => this.#remarks.push(String(error)));
  }

  #hostAhead(): string {
    const { entries, writer } = this.#trace;
    const place = entries.findIndex((_, index) => writer(index).startsWith('host:'));
    return place === -1 ? '' : writer(place).slice('host:'.length);
  }

  async #differs(): Promise<ReplayEnd> {
    const { store, troubles } = this.#host;
    const recorded = this.#trace.entries.slice(this.#place, this.#place + AHEAD);
    if (isLedElsewhere(this.#trace, this.#next)) {
      const { seq, type } = this.#next;
      return this.#cannot({ seq, code: 'elsewhere', detail: type });
    }
    const instead: Instead[] = [];
    for (const held of store.held) {
      const entries = await this.#judged(held, this.#next.at);
      const { alike } = fitOf(recorded, entries, this.#names.compare());
      instead.push({ unit: held.unit.name, entries: this.#told(entries), alike });
    }
    instead.sort((one, other) => other.alike - one.alike);
    const remarks = [...this.#remarks, ...this.#answering.unanswered(), ...troubles];
    const commit = recorded.filter(({ at }) => at === recorded[0]?.at);
    const decisions = this.#decisions;
    return { kind: 'differs', decisions, recorded: commit, instead, remarks };
  }

  /** In the record's names, so that both sides can be read beside one another. */
  #told(entries: readonly Entry[]): readonly Entry[] {
    return JSON.parse(this.#names.told(JSON.stringify(entries))) as readonly Entry[];
  }

  #cannot(obstacle: Obstacle): ReplayEnd {
    return { kind: 'cannot', decisions: this.#decisions, obstacle };
  }

  /** Everything that could go on by itself has gone on. */
  async #settled(): Promise<void> {
    let seen = -1;
    while (seen !== this.#activity()) {
      seen = this.#activity();
      await this.#atRest();
      await this.#atRest();
    }
  }

  #activity(): number {
    const { store, outside } = this.#host;
    return store.asked + outside.asked + this.#parts.clock.moves;
  }

  get #next(): Entry {
    return this.#trace.entries[this.#place] as Entry;
  }

  get #host(): Actor {
    return this.#actor as Actor;
  }
}

/** More entries than one commit has. */
const AHEAD = 200;

/** What only an import or a worker can have written: neither is in the record of a conversation. */
function obstacleAt({ seq, type }: Entry): Obstacle | undefined {
  if (type === 'task.held' || type === 'task.enrolled')
    return { seq, code: 'imported', detail: type };
  return type.startsWith('worker.') ? { seq, code: 'worker', detail: type } : undefined;
}
