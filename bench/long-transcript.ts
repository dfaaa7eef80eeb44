import { createSystemClock } from '../src/adapters/clock/system.ts';
import { createIds, secureRandom } from '../src/adapters/ids/ids.ts';
import { openSqlite } from '../src/adapters/store/sqlite/open.ts';
import type { Store, Write } from '../src/ports/store.ts';
import {
  conversationRow,
  idOf,
  messageRow,
  sessionRow,
  stepRow,
  taskRow,
  turnRow,
} from '../src/testing/store-rows.ts';

export const CONVERSATION = idOf('conversation', 1);
const SESSION = idOf('session', 1);
const CALLS_PER_TURN = 10;
/** What a tool gives at its most, and every few turns a person pastes. */
const RESULT_CHARS = 30_000;
const PASTE_EACH = 10;
const CHARS_PER_COMMIT = 8_000_000;

/** One conversation with one session of about so many characters, as thousands of calls of tools leave it. */
export async function writeTranscript(path: string, chars: number): Promise<void> {
  const clock = createSystemClock();
  const ids = createIds({ now: () => clock.now(), random: secureRandom });
  const store = openSqlite({ path, clock, ids });
  const transcript = new Transcript();
  while (transcript.chars < chars) {
    const target = Math.min(chars, transcript.chars + CHARS_PER_COMMIT);
    const writes: Write[] = [];
    while (transcript.chars < target) writes.push(...transcript.turn());
    await put(store, writes);
  }
  await put(store, transcript.place());
  await store.close();
}

async function put(store: Store, writes: readonly Write[]): Promise<void> {
  const unit = { name: 'bench.write', reads: {}, decide: () => ({ verdict: undefined, writes }) };
  const committed = await store.commit(unit);
  if (committed.kind === 'lost') throw new Error('the rows could not be written');
}

class Transcript {
  chars = 0;
  #turns = 0;
  #seq = 0;
  #calls = 0;

  /** The conversation as it stands after its last turn. */
  place(): Write[] {
    const [id, sessionId] = [CONVERSATION, SESSION];
    const row = conversationRow({ id, sessionId, channel: 'api', seq: this.#seq });
    return [
      { write: 'conversation.insert', row: { ...row, token: this.#turns } },
      { write: 'session.insert', row: sessionRow({ id: sessionId, conversationId: id }) },
    ];
  }

  /** A request, ten calls one after another, and an answer. */
  turn(): Write[] {
    const number = (this.#turns += 1);
    const [taskId, turnId] = [idOf('task', number), idOf('turn', number)];
    const of = { conversationId: CONVERSATION, taskId, turnId };
    const request = number % PASTE_EACH === 0 ? this.#text(RESULT_CHARS) : `${ASKED} ${number}.`;
    this.chars += request.length;
    const task = { id: taskId, conversationId: CONVERSATION, sessionId: SESSION };
    const ended = { state: 'completed', reason: 'answered', endedAt: 5_000 } as const;
    const acceptedSeq = this.#next();
    const claimedSeq = this.#next();
    const said = { state: 'done', turnId, taskId, claimedSeq, channel: 'api' } as const;
    const message = messageRow({ id: idOf('message', number), ...said, seq: acceptedSeq });
    const answered = { state: 'ended', end: 'answered', endedAt: 5_000 } as const;
    const turn = { id: turnId, conversationId: CONVERSATION, sessionId: SESSION, taskId };
    const writes: Write[] = [
      { write: 'task.insert', row: taskRow({ ...task, ...ended, mandateText: 'Look.' }) },
      { write: 'message.insert', row: { ...message, text: request } },
      { write: 'turn.insert', row: turnRow({ ...turn, ...answered, firstSeq: claimedSeq }) },
    ];
    for (let call = 0; call < CALLS_PER_TURN; call += 1) writes.push(...this.#call(of, call));
    writes.push(this.#reply(of, CALLS_PER_TURN * 2 + 1, { text: ANSWER, calls: [] }));
    return writes;
  }

  #call(of: Of, index: number): Write[] {
    const number = (this.#calls += 1);
    const id = `call-${number}`;
    const args = JSON.stringify({ path: `notes/${number}.md` });
    const ordinal = index * 2 + 1;
    const reply = this.#reply(of, ordinal, { text: '', calls: [{ id, name: 'file_read', args }] });
    const output = this.#text(1 + ((number * 7919) % RESULT_CHARS));
    this.chars += output.length;
    const seq = this.#next();
    const made = { kind: 'tool', state: 'finished', repeatable: 'yes', tool: 'file_read' } as const;
    const row = stepRow({ ...of, ...made, seq, ordinal: ordinal + 1, callId: id, input: args });
    const finished = { output, finishedSeq: this.#next(), finishedAt: 6_000 };
    return [reply, { write: 'step.insert', row: { ...row, ...finished } }];
  }

  #reply(of: Of, ordinal: number, said: object): Write {
    const output = JSON.stringify(said);
    this.chars += output.length;
    const seq = this.#next();
    const made = { kind: 'model', state: 'finished', tool: null, callId: null } as const;
    const row = stepRow({ ...of, ...made, seq, ordinal, output, input: null });
    return { write: 'step.insert', row: { ...row, finishedSeq: this.#next(), finishedAt: 6_000 } };
  }

  /** Lines of a log; every third text has letters that take two bytes each. */
  #text(chars: number): string {
    const line = this.#calls % 3 === 0 ? WIDE : PLAIN;
    return line.repeat(Math.ceil(chars / line.length)).slice(0, chars);
  }

  #next(): number {
    return (this.#seq += 1);
  }
}

type Of = Pick<Parameters<typeof stepRow>[0] & object, 'conversationId' | 'taskId' | 'turnId'>;

const ASKED = 'Please look through the next notes and tell me what is in them. Request';
const ANSWER = 'They hold measurements of the week, and nothing that is out of line. '.repeat(5);
const PLAIN = '2026-03-04T05:06:07Z INFO "worker 7" took C:\\data\\in\\4711.csv; 12 rows of 12.\n';
const WIDE = '2026-03-04T05:06:07Z INFO “関所” nahm die Datei entgegen – 12 von 12 Zeilen …\n';
