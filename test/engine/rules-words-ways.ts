// Every way in which a turn ends, and the last word that it leaves in its conversation.
import assert from 'node:assert/strict';
import type { Engine, EngineOptions } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { HOUR, SECOND } from '../../src/kernel/time.ts';
import { ANNA, asks, fails, Installation, OPTIONS, says } from '../support/host.ts';
import { eventually, inTime, pass, say } from '../support/acts.ts';

/** One way in which a turn ends, and what it leaves. */
interface Way {
  readonly way: string;
  readonly script: (place: Installation) => void;
  readonly options?: Partial<EngineOptions>;
  /** What is done to the host once the turn runs; what it gives goes on as the host. */
  readonly meanwhile?: (act: Act) => Promise<Engine | undefined>;
  readonly state: string;
  readonly code: string | null;
  readonly says: RegExp;
  /** Of each call whose outcome is unknown a person is asked before the last word (E-2). */
  readonly isAsked?: boolean;
  /** The last word is of its conversation, in which no turn begins until an admin says so (M-8). */
  readonly isPaused?: boolean;
}
interface Act {
  readonly place: Installation;
  readonly engine: Engine;
  readonly conversationId: ConversationId;
}

export const never = new Promise<never>(() => {});
const hangs = (place: Installation): void => {
  place.model.answer = () => never;
};
const hangsInTool = (place: Installation): void => {
  place.model.answer = () => asks(['pay', { sum: 3 }]);
  place.tools.perform = () => never;
};

/** Pays once, which takes a second, and answers. */
const paysSlowly = (place: Installation): void => {
  place.model.answer = (request) =>
    request.messages.some(({ role }) => role === 'tool') ? says('Paid.') : asks(['pay', {}]);
  place.tools.perform = async () => {
    await place.clock.sleep(SECOND);
    return { kind: 'result', text: 'paid' };
  };
};

async function began({ place }: Act): Promise<void> {
  await eventually(async () => {
    const steps = await place.rows('step');
    return steps.some((step) => step['state'] === 'started');
  });
  await pass();
}

async function restarted(act: Act): Promise<Engine> {
  await began(act);
  const next = await act.place.host({ options: { ...OPTIONS, pid: 2 } });
  await assessed(act);
  return next;
}

/** Lets the time of all three assessments pass, each of which fails. */
async function assessed({ place }: Act): Promise<undefined> {
  await eventually(async () => {
    const [task] = await place.rows('task');
    if (task?.['state'] === 'blocked') return true;
    await pass();
    place.clock.advance(SECOND);
    return false;
  });
  return undefined;
}

async function openTaskOf({ engine, conversationId }: Act) {
  const [task] = await engine.store.query('task.openOf', { conversationId, limit: 1 });
  assert.ok(task !== undefined);
  return task;
}

async function stoppedBy(act: Act, stop: () => Promise<unknown>): Promise<undefined> {
  await began(act);
  await stop();
  await pass();
  act.place.clock.advance(60_000);
  await eventually(() => {
    return act.engine.health().runningTurns === 0;
  });
  return undefined;
}

/** Every way in which a turn ends. */
export const WAYS: readonly Way[] = [
  {
    way: 'answers',
    script: (place) => {
      place.model.answer = () => says('Paid.');
    },
    state: 'completed',
    code: null,
    says: /^Paid\.$/,
  },
  {
    way: 'answers at its second try',
    script: (place) => {
      place.model.answer = () => says(place.model.requests.length === 1 ? '' : 'Paid.');
    },
    state: 'completed',
    code: null,
    says: /^Paid\.$/,
  },
  {
    way: 'is refused by the provider',
    script: (place) => {
      place.model.answer = () => fails('refused', 'http_401');
    },
    state: 'failed',
    code: 'model_refused',
    says: /“Pay the bill” has failed.*http_401/,
  },
  {
    way: 'does not reach the provider',
    script: (place) => {
      place.model.answer = () => fails('transient', 'timeout');
    },
    meanwhile: async ({ place }) => {
      await inTime(place, async () => (await place.rows('task'))[0]?.['state'] === 'waiting');
      return undefined;
    },
    state: 'waiting',
    code: 'awaits_provider',
    says: /“Pay the bill” waits for the model provider.*timeout.*\/stop task_/,
  },
  {
    way: 'is told that the quota comes back in an hour',
    script: (place) => {
      const retryAt = place.clock.now() + HOUR;
      place.model.answer = () => fails('transient', 'http_429', { retryAt });
    },
    state: 'waiting',
    code: 'awaits_quota',
    says: /“Pay the bill” waits for the quota.*http_429.*\/stop task_/,
  },
  {
    way: 'waits for an instant',
    script: (place) => {
      place.model.answer = () => asks(['task_wait', { for: 'instant', seconds: 90 }]);
    },
    state: 'waiting',
    code: 'awaits_instant',
    says: /“Pay the bill” waits and goes on by itself.*\/stop task_/,
  },
  {
    way: 'asks a question',
    script: (place) => {
      const question = 'Which bill?';
      place.model.answer = () => asks(['task_wait', { for: 'answer', question }]);
    },
    state: 'waiting',
    code: null,
    says: /^Which bill\?$/,
  },
  {
    way: 'asks for an approval',
    script: (place) => {
      place.tools.asked.add('pay');
      place.model.answer = () => asks(['pay', { sum: 3 }]);
    },
    state: 'waiting',
    code: 'awaits_approval',
    says: /“Pay the bill” needs your approval before `pay` runs[^]*\/approve appr_/,
  },
  {
    way: 'goes on in a further one',
    script: (place) => {
      place.model.answer = () =>
        place.model.requests.length === 1
          ? asks(['task_continue', { note: 'The bill is found.' }])
          : says('Paid.');
    },
    state: 'completed',
    code: null,
    says: /^Paid\.$/,
  },
  {
    way: 'is interrupted by a message',
    script: paysSlowly,
    options: { whileBusy: 'interrupt' },
    meanwhile: async (act) => {
      await began(act);
      await say(act.engine, act.conversationId, 'And hurry');
      act.place.clock.advance(SECOND);
      return undefined;
    },
    state: 'completed',
    code: null,
    says: /^Paid\.$/,
  },
  {
    way: 'is paused while a tool runs',
    script: paysSlowly,
    meanwhile: async (act) => {
      await began(act);
      const { id: taskId } = await openTaskOf(act);
      await act.engine.pauseTask({ taskId, principal: ANNA, channel: 'api' });
      act.place.clock.advance(SECOND);
      return undefined;
    },
    state: 'paused',
    code: 'paused',
    says: /“Pay the bill” is paused.*\/task-resume task_/,
  },
  {
    way: 'uses its tokens up',
    script: (place) => {
      place.model.answer = () => asks(['look', { n: place.tools.ran.length }]);
    },
    options: { tokensLimit: 15 },
    state: 'blocked',
    code: 'budget_exhausted',
    says: /“Pay the bill” has used up.*\/extend task_\w+ tokens=\+/,
  },
  {
    way: 'runs out of time',
    script: (place) => {
      place.model.answer = () => asks(['look', { n: place.tools.ran.length }]);
      place.tools.perform = () => {
        place.clock.advance(HOUR);
        return { kind: 'result', text: 'looked' };
      };
    },
    options: { deadlineMs: HOUR },
    state: 'expired',
    code: 'deadline_passed',
    says: /“Pay the bill” has run out of time/,
  },
  {
    way: 'does not fit what the model can see',
    script: (place) => {
      place.model.contextWindow = 200;
    },
    meanwhile: async ({ place }) => {
      await eventually(async () => (await place.rows('outbox')).length > 0);
      return undefined;
    },
    state: 'active',
    code: 'maintenance_too_large',
    says: /conversation is paused.*does not fit what the model can see.*`\/admit mop_\w+`.*`\/new`/,
    isPaused: true,
  },
  {
    way: 'gets nonsense twice',
    script: (place) => {
      place.model.answer = () => fails('nonsense', 'unreadable');
    },
    state: 'blocked',
    code: 'no_outcome',
    says: /could not finish “Pay the bill”.*\/stop task_/,
  },
  {
    way: 'is cut off at the output limit twice',
    script: (place) => {
      place.model.answer = () => ({ ...says('half'), stop: 'length' }) as ReturnType<typeof says>;
    },
    state: 'blocked',
    code: 'no_outcome',
    says: /could not finish “Pay the bill”.*\/stop task_/,
  },
  {
    way: 'goes round in circles',
    script: (place) => {
      place.model.answer = () => asks(['look', {}]);
    },
    state: 'blocked',
    code: 'no_progress',
    says: /could not finish “Pay the bill”.*\/stop task_/,
  },
  {
    way: 'is stopped by a command while the model thinks',
    script: hangs,
    meanwhile: (act) => stoppedBy(act, () => say(act.engine, act.conversationId, '/stop')),
    state: 'stopped',
    code: 'stopped',
    says: /“Pay the bill” is stopped/,
  },
  {
    way: 'is stopped by its id while a tool runs',
    script: hangsInTool,
    meanwhile: (act) =>
      stoppedBy(act, async () => {
        const { id: taskId } = await openTaskOf(act);
        await act.engine.stopTask({ taskId, principal: ANNA, channel: 'api' });
      }),
    state: 'stopped',
    code: 'stopped',
    says: /“Pay the bill” is stopped.*`pay`/,
  },
  {
    way: 'is cut by a crash while the model thinks',
    script: hangs,
    meanwhile: restarted,
    state: 'blocked',
    code: 'recovery_assessment_failed',
    says: /I have stopped “Pay the bill”.* failed three times .*`\/budget-reset task_/,
  },
  {
    way: 'is cut by a crash while a tool runs',
    script: hangsInTool,
    meanwhile: restarted,
    state: 'blocked',
    code: 'recovery_assessment_failed',
    says: /I have stopped “Pay the bill”.* failed three times .*`\/budget-reset task_/,
    isAsked: true,
  },
  {
    way: 'is cut by a drain',
    script: hangs,
    meanwhile: async (act) => {
      await began(act);
      const stopping = act.engine.stop(0);
      await pass();
      act.place.clock.advance(60_000);
      await stopping;
      const next = await act.place.host({ options: { ...OPTIONS, pid: 2 } });
      await assessed(act);
      return next;
    },
    state: 'blocked',
    code: 'recovery_assessment_failed',
    says: /I have stopped “Pay the bill”.* failed three times .*`\/budget-reset task_/,
  },
  {
    way: 'is thrown out by a model port that breaks its word',
    script: (place) => {
      place.model.answer = () => Promise.reject(new Error('a defect'));
    },
    meanwhile: assessed,
    state: 'blocked',
    code: 'recovery_assessment_failed',
    says: /I have stopped “Pay the bill”.* failed three times .*`\/budget-reset task_/,
  },
  {
    way: 'is thrown out by a tool port that breaks its word',
    script: (place) => {
      place.model.answer = () => asks(['pay', {}]);
      place.tools.perform = () => Promise.reject(new Error('a defect'));
    },
    meanwhile: assessed,
    state: 'blocked',
    code: 'recovery_assessment_failed',
    says: /I have stopped “Pay the bill”.* failed three times .*`\/budget-reset task_/,
    isAsked: true,
  },
];
