// A hold and its way out, through a whole host: what is said is what helps.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { Engine, EngineOptions } from '../../src/engine/engine.ts';
import { explainTask } from '../../src/engine/task/why.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { LIMITS } from '../../src/kernel/limits.ts';
import { HOUR } from '../../src/kernel/time.ts';
import { renderStoredNotice } from '../../src/text/render.ts';
import { ADMIN, asks, fails, Installation, OPTIONS, says, taskIn, until } from '../support/host.ts';

const EN = { locale: 'en', timeZone: 'UTC' } as const;

/** How a task comes to stand still, and what becomes of it by each command of its one notice. */
interface Stop {
  readonly options?: Partial<EngineOptions>;
  readonly arrange: (place: Installation) => void;
  /** What a person or the clock does meanwhile; without it the task comes there by itself. */
  readonly act?: (place: Installation, talk: Talk) => Promise<void>;
  readonly state: 'waiting' | 'paused' | 'blocked';
  readonly notice: RegExp;
  /** The commands in the order of the notice, each with the state that it leads to. */
  readonly ways: readonly (readonly [command: RegExp, leadsTo: string])[];
}

/** Answers once a person has changed how the task stands, and until then as it is told. */
function untilMended(place: Installation, broken: Installation['model']['answer']): void {
  place.model.answer = (request, signal) =>
    MENDED.has(place) ? says('Paid.') : broken(request, signal);
}
const MENDED = new WeakSet<Installation>();

const STOPS: Readonly<Record<string, Stop>> = {
  no_outcome: {
    arrange: (place) => untilMended(place, () => says('')),
    state: 'blocked',
    notice: /^■ I could not finish “Pay the hosting bill”: twice in a row the model ended /,
    ways: [
      [/^\/task-resume task_\w+$/, 'completed'],
      [/^\/stop task_\w+$/, 'stopped'],
    ],
  },
  no_progress: {
    arrange: (place) => untilMended(place, () => asks(['look', { at: 'the same' }])),
    state: 'blocked',
    notice: /^■ I could not finish “Pay the hosting bill”: the model kept working /,
    ways: [
      [/^\/task-resume task_\w+$/, 'completed'],
      [/^\/stop task_\w+$/, 'stopped'],
    ],
  },
  awaits_quota: {
    arrange: (place) => {
      const retryAt = place.clock.now() + HOUR;
      untilMended(place, () => fails('transient', 'http_429', { retryAt }));
    },
    state: 'waiting',
    notice:
      /^… “Pay .+” waits for the quota of the model provider \(http_429: “the provider said no”\), /,
    ways: [
      [/^\/stop task_\w+$/, 'stopped'],
      [/^\/pause task_\w+$/, 'paused'],
    ],
  },
  budget_exhausted: {
    options: { turnsLimit: 1 },
    arrange: (place) => untilMended(place, () => says('')),
    state: 'blocked',
    notice: /^■ “Pay the hosting bill” has used up the turns that it was granted\. /,
    ways: [
      [/^\/extend task_\w+ turns=\+1$/, 'completed'],
      [/^\/stop task_\w+$/, 'stopped'],
    ],
  },
  wait_elapsed: {
    arrange: (place) =>
      untilMended(place, () => asks(['task_wait', { for: 'answer', question: 'Which?' }])),
    act: async (place, talk) => {
      await taskIn(talk.engine, talk.conversationId, 'waiting');
      await place.clock.sleeper(LIMITS.answerWaitMs);
      place.clock.advance(LIMITS.answerWaitMs);
    },
    state: 'blocked',
    notice:
      /^■ “Pay the hosting bill” has waited for your answer, and the time for that is over\. /,
    ways: [
      [/^\/task-resume task_\w+$/, 'completed'],
      [/^\/stop task_\w+$/, 'stopped'],
    ],
  },
  paused: {
    arrange: (place) =>
      untilMended(place, () => asks(['task_wait', { for: 'instant', seconds: 3_600 }])),
    act: async (_, talk) => {
      const { id } = await taskIn(talk.engine, talk.conversationId, 'waiting');
      await send(talk.engine, talk.conversationId, `/pause ${id}`);
    },
    state: 'paused',
    notice: /^▸ “Pay the hosting bill” is paused\. /,
    ways: [
      [/^\/task-resume task_\w+$/, 'completed'],
      [/^\/stop task_\w+$/, 'stopped'],
    ],
  },
  awaits_instant: {
    arrange: (place) =>
      untilMended(place, () => asks(['task_wait', { for: 'instant', seconds: 3_600 }])),
    state: 'waiting',
    notice: /^… “Pay the hosting bill” waits and goes on by itself on /,
    ways: [
      [/^\/stop task_\w+$/, 'stopped'],
      [/^\/pause task_\w+$/, 'paused'],
    ],
  },
  awaits_approval: {
    arrange: (place) => {
      place.tools.asked.add('pay');
      untilMended(place, () => asks(['pay', { sum: 3 }]));
    },
    state: 'waiting',
    notice: /^… “Pay .+” needs your approval before `pay` runs\. .+:\n {4}│ pay '\{"sum":3\}'\n/,
    ways: [
      [/^\/approve appr_\w+$/, 'completed'],
      [/^\/deny appr_\w+$/, 'completed'],
      [/^\/stop task_\w+$/, 'stopped'],
      [/^\/pause task_\w+$/, 'paused'],
    ],
  },
};

describe('V8: each command of the one notice leads out of', () => {
  for (const [reason, stop] of Object.entries(STOPS)) {
    for (const [index, [command, leadsTo]] of stop.ways.entries()) {
      test(`${reason} by ${command.source}`, async (t) => {
        const place = new Installation();
        stop.arrange(place);
        const talk = await open(t, place, stop.options);
        const { engine, conversationId } = talk;
        await send(engine, conversationId, 'Pay the hosting bill');
        await stop.act?.(place, talk);
        const still = await taskIn(engine, conversationId, stop.state);
        assert.equal(still.reason, reason);
        const told = (await notices(engine, conversationId)).filter((text) =>
          stop.notice.test(text),
        );
        assert.equal(told.length, 1);
        const typed = commandsOf(told[0]);
        const why = await explainTask(engine.parts, still.id, EN);
        assert.deepEqual(
          [...(why?.commands ?? []).map((way) => way.command), `/why ${still.id}`],
          typed,
        );
        assert.equal(typed.length, stop.ways.length + 1);
        assert.match(typed[index] ?? '', command);

        MENDED.add(place);
        await send(engine, conversationId, (typed[index] ?? '').toLowerCase());
        const left = await taskIn(engine, conversationId, leadsTo);
        assert.equal(left.id, still.id);
        const paid = place.tools.ran.filter(({ name }) => name === 'pay');
        assert.equal(paid.length, typed[index]?.startsWith('/approve') === true ? 1 : 0);
      });
    }
  }
});

function commandsOf(notice = ''): readonly string[] {
  return [...notice.matchAll(/`(\/[^`]+)`/g)].map(([, command = '']) => command);
}

test('W-6: what a crash left says which call is uncertain, in its notice and in why', async (t) => {
  const place = new Installation();
  const started = Promise.withResolvers<void>();
  const never = new Promise<never>(() => {});
  place.model.answer = () => asks(['pay', { sum: 3 }]);
  place.tools.perform = () => {
    started.resolve();
    return never;
  };
  const crashed = await place.host({ tools: place.tools });
  const conversationId = await crashed.openConversation({ channel: 'terminal', principal: ADMIN });
  await send(crashed, conversationId, 'Pay the hosting bill');
  await started.promise;

  const { engine } = await open(t, place);
  const waiting = await taskIn(engine, conversationId, 'waiting');
  // A report of the restart may stand behind it; entering the assessment tells nothing.
  const told = (await notices(engine, conversationId)).filter((text) => text.startsWith('! '));
  const [question, ...others] = told;
  assert.deepEqual(others, []);
  assert.match(
    question ?? '',
    /^! While “Pay the hosting bill” ran, the host stopped between .* `pay`/,
  );
  const why = await explainTask(engine.parts, waiting.id, EN);
  assert.match(why?.sentence ?? '', /Whether `pay` took effect is unknown/);
  const asked = [...commandsOf(question), `/stop ${waiting.id}`];
  assert.deepEqual(
    new Set(why?.commands.map((way) => way.command)),
    new Set(asked.filter((command) => !command.startsWith('/why '))),
  );
  const approve = asked.find((command) => command.startsWith('/approve ')) ?? '';
  await send(engine, conversationId, approve);
  const [answer] = await until(engine, conversationId, async () => {
    const given = await answers(engine, conversationId);
    return given.length > 0 && given;
  });
  assert.match(
    answer ?? '',
    new RegExp(`^Approved: .* is kept and .* if an independent check .*\`/stop ${waiting.id}`),
  );
  assert.ok(why?.chain.some((line) => line.endsWith('`pay` began; its outcome is unknown.')));
});

test('W-3: commands are answered while the model does not answer at all', async (t) => {
  const place = new Installation();
  const { promise: end, resolve } = Promise.withResolvers<ReturnType<typeof says>>();
  const asked = Promise.withResolvers<void>();
  place.model.answer = () => {
    asked.resolve();
    return end;
  };
  const { engine, conversationId } = await open(t, place);
  await send(engine, conversationId, 'Pay the hosting bill');
  await asked.promise;
  await send(engine, conversationId, '/why');
  await send(engine, conversationId, '/tasks');
  await until(
    engine,
    conversationId,
    async () => (await answers(engine, conversationId)).length === 2,
  );
  const [why, tasks] = await answers(engine, conversationId);
  assert.match(why ?? '', /^“Pay the hosting bill” \(task_\w+\) has been running since /);
  assert.match(why ?? '', /What changes it:\n\/stop task_/);
  assert.match(
    tasks ?? '',
    /^▸ “Pay the hosting bill”: the model was asked at \S+ and has not answered yet\. task_/,
  );
  resolve(says('Paid.'));
  await taskIn(engine, conversationId, 'completed');
});

interface Talk {
  readonly engine: Engine;
  readonly conversationId: ConversationId;
}

async function open(
  t: TestContext,
  place: Installation,
  options: Partial<EngineOptions> = {},
): Promise<Talk> {
  const engine = await place.host({ options: { ...OPTIONS, pid: 2, ...options } });
  t.after(() => engine.stop(0));
  const conversationId = await engine.openConversation({ channel: 'terminal', principal: ADMIN });
  return { engine, conversationId };
}

async function send(engine: Engine, conversationId: ConversationId, text: string): Promise<void> {
  const { kind } = await engine.acceptMessage({ conversationId, text, principal: ADMIN });
  assert.equal(kind, 'accepted');
}

async function entries(engine: Engine, conversationId: ConversationId, kind: string) {
  const all = { conversationId, after: 0, limit: 50 };
  const rows = await engine.store.query('outbox.after', all);
  return rows.filter((row) => row.kind === kind);
}

async function notices(engine: Engine, conversationId: ConversationId): Promise<readonly string[]> {
  const rows = await entries(engine, conversationId, 'notice');
  return rows.map(({ code, params }) => renderStoredNotice(EN, code ?? '', params));
}

async function answers(engine: Engine, conversationId: ConversationId): Promise<readonly string[]> {
  return (await entries(engine, conversationId, 'answer')).map(({ text }) => text ?? '');
}
