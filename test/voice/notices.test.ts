// What the host says to people, word by word; the words themselves stand in golden.ts.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readCommand, USAGES } from '../../src/core/inbox/command.ts';
import { OPERATION_REASONS, waysOfOperation } from '../../src/core/maintenance/reasons.ts';
import {
  BLOCK_REASONS,
  MAX_RECOVERY_FAILURES,
  OPERATION_MOVES,
  OPERATION_STEPS,
  type OperationKind,
} from '../../src/core/maintenance/record.ts';
import { REASONS, waysOf, type ReasonEntry } from '../../src/core/notice/reasons.ts';
import { TASK_MOVES, WAIT_KINDS, type TaskReason } from '../../src/core/task/moves.ts';
import { EVENTS } from '../../src/kernel/event.ts';
import { REFUSALS, type RefusalCode } from '../../src/kernel/fault.ts';
import { NOTICES, SIGNS, type Locale, type NoticeCode } from '../../src/text/catalogue.ts';
import { CORRECTIVES, RECOVERY_INPUTS } from '../../src/text/model.ts';
import { catalogueOf } from '../../src/text/reader.ts';
import { renderNotice, renderRefusal, renderStoredNotice } from '../../src/text/render.ts';
import { APPROVAL, AT, GOLDEN as FIRST, ID, REQUEST } from './golden.ts';
import { GOLDEN_MAINTENANCE, OPERATION } from './golden-maintenance.ts';
import { GOLDEN_RECOVERY } from './golden-recovery.ts';

const EN = { locale: 'en', timeZone: 'Europe/Berlin' } as const;
const DE = { ...EN, locale: 'de' } as const;
const PARAMS = { request: REQUEST, taskId: ID };
const CODES = Object.keys(NOTICES) as NoticeCode[];
const OF_OPERATION = { request: '', taskId: '', operationId: OPERATION, version: 9 };
const GOLDEN = [...FIRST, ...GOLDEN_RECOVERY, ...GOLDEN_MAINTENANCE];
/** The voice page gives this one whole, and it names no stop. */
const WITHOUT_STOP: ReadonlySet<string> = new Set(['recovery_assessment_failed']);
/** And these: one names no command, the other none but its first, in German inside the sentence. */
const WITHOUT_LAST: ReadonlySet<string> = new Set(['maintenance_waiting', 'maintenance_exhausted']);

describe('a notice says what happened, what is kept and what changes it:', () => {
  for (const [code, more, en, de] of GOLDEN) {
    const { shown, ...named } = { shown: undefined, ...more };
    test(`${code} ${JSON.stringify(named)}`, () => {
      assert.equal(Boolean(shown), en.includes('│'));
      const params = { ...aboutOf(code), ...more };
      assert.equal(renderNotice(EN, code, params, AT), en);
      assert.equal(renderNotice(DE, code, params, AT), de);
      assert.equal(renderStoredNotice(DE, code, JSON.stringify(params), AT), de);
    });
  }

  test('every code has its words above', () => {
    const golden = new Set<string>(GOLDEN.map(([code]) => code));
    assert.deepEqual([...golden].toSorted(), CODES.toSorted());
  });

  test('and ends with a command, in a form that the command parser takes', () => {
    for (const [code, , ...texts] of GOLDEN) {
      for (const text of texts) {
        const commands = quotedCommands(text);
        const isLast = text.endsWith(`\`${commands.at(-1) ?? ''}\`.`);
        assert.ok(isLast || WITHOUT_LAST.has(code), text);
        for (const command of commands) {
          const read = readCommand(command);
          assert.ok(read !== undefined, command);
          assert.ok(read.kind !== 'unknown' && read.kind !== 'misused', command);
        }
      }
    }
  });
});

function aboutOf(code: NoticeCode): typeof PARAMS {
  return code.startsWith('maintenance_') ? OF_OPERATION : PARAMS;
}

/** A task that stands for this reason, as far as its ways out read it. */
function standing(reason: TaskReason): Parameters<typeof waysOf>[0] {
  const waitId = reason === 'awaits_approval' ? APPROVAL : null;
  const outcomeData = JSON.stringify({ grant: 'turns=+50' });
  return { id: ID, state: REASONS[reason].state, reason, waitId, outcomeData };
}

function quotedCommands(text: string): readonly string[] {
  return [...withoutCall(text).matchAll(/`(\/[^`]+)`/g)].map(([, command = '']) => command);
}

/** A notice without the lines of what would run: those are somebody else's. */
function withoutCall(text: string): string {
  return text.replaceAll(/^ {4}.*\n/gm, '');
}

describe('O-6: each reason has its notice', () => {
  const reasons = Object.entries(REASONS) as [TaskReason, ReasonEntry][];
  for (const [reason, entry] of reasons) {
    const { notice, level } = entry;
    if (notice === null || level === null) continue;
    test(`${reason} at the level of the table, with the commands of the table and no other`, () => {
      const known = CODES.find((code) => code === notice);
      assert.ok(known !== undefined, `${notice} has no words`);
      assert.equal(NOTICES[known], level);
      const { waitId, outcomeData, ...task } = standing(reason);
      const ways = waysOf({ ...task, waitId, outcomeData }).map(({ command }) => command);
      const params = { ...PARAMS, approvalId: APPROVAL, grant: 'turns=+50' };
      const told = WITHOUT_STOP.has(reason) ? ways.filter((way) => !way.startsWith('/stop')) : ways;
      for (const reader of [EN, DE]) {
        const text = renderNotice(reader, known, params);
        assert.equal(text[0], SIGNS[level]);
        assert.deepEqual(quotedCommands(text), [...told, `/why ${ID}`]);
        assert.equal(text.includes(`\`${ID}\``), entry.reply, 'how to reply');
      }
    });
  }

  test('a reason has its sentence in both languages, and its ways have theirs', () => {
    for (const { locale } of [EN, DE]) {
      const { causes, who, effects } = catalogueOf(locale);
      for (const [reason, { ways }] of reasons) {
        assert.match(causes[reason], /^\p{Lu}.+\.$/u);
        for (const way of ways) assert.ok(who[way.who] && effects[way.effect]);
      }
    }
  });
});

describe('V8: each reason of a blocked operation has its notice, with the commands of the table:', () => {
  for (const reason of BLOCK_REASONS) {
    for (const kind of Object.keys(OPERATION_STEPS) as OperationKind[]) {
      test(`${reason}, ${kind}`, () => {
        const { notice } = OPERATION_REASONS[reason];
        const known = CODES.find((code) => code === notice);
        assert.ok(known !== undefined, `${notice} has no words`);
        assert.equal(NOTICES[known], 'blocked');
        const operation = { id: OPERATION, kind, state: 'blocked', reason } as const;
        const ways = waysOfOperation(operation).map(({ command }) => command);
        // The voice page gives this one whole, and it names the admission alone.
        const told = reason === 'exhausted' ? ways.filter((way) => way !== '/new') : ways;
        for (const reader of [EN, DE]) {
          const params = { ...OF_OPERATION, kind, step: OPERATION_STEPS[kind][0] };
          assert.deepEqual(quotedCommands(renderNotice(reader, known, params)), told);
          const { effects, who } = catalogueOf(reader.locale);
          for (const way of waysOfOperation(operation))
            assert.ok(who[way.who] && effects[way.effect]);
        }
      });
    }
  }

  test('seven failures are a word, and as many as the rule has', () => {
    const text = renderNotice(EN, 'maintenance_exhausted', OF_OPERATION);
    assert.match(text, /failed seven times in a row/);
    assert.equal(MAX_RECOVERY_FAILURES, 7);
  });
});

test('whatever a record may hold has a word in both languages', () => {
  for (const { locale } of [EN, DE]) {
    const { waits, states, events, help, maintenance } = catalogueOf(locale);
    assert.deepEqual(Object.keys(maintenance.states), Object.keys(OPERATION_MOVES));
    assert.deepEqual(Object.keys(maintenance.reasons), [...BLOCK_REASONS]);
    const steps = Object.values(OPERATION_STEPS).flat();
    assert.deepEqual(Object.keys(maintenance.steps), steps);
    assert.deepEqual(Object.keys(waits).toSorted(), [...WAIT_KINDS].toSorted());
    assert.deepEqual(Object.keys(states).toSorted(), Object.keys(TASK_MOVES).toSorted());
    assert.deepEqual(Object.keys(events).toSorted(), Object.keys(EVENTS).toSorted());
    const keys = USAGES.map(({ key }) => key);
    assert.deepEqual(Object.keys(help).toSorted(), keys.toSorted());
  }
});

describe('a notice that another version wrote is still said:', () => {
  test('of an unknown code', () => {
    const stored = JSON.stringify({ ...PARAMS, request: 'Pay', tools: 7, more: {} });
    const said = renderStoredNotice(EN, 'newer_code', stored);
    assert.equal(said, `▸ “Pay”: \`newer_code\`. Why: \`/why ${ID}\`.`);
    assert.match(renderStoredNotice(EN, 'toString', null), /`toString`/);
  });

  test('of version 1: a task that failed where this version waits', () => {
    const stored = JSON.stringify({ ...PARAMS, detail: 'http_503', said: 'overloaded' });
    assert.match(
      renderStoredNotice(EN, 'model_unavailable', stored),
      /^▸ “.*” has failed: the model gave no usable answer \(http_503: “overloaded”\)\. /,
    );
  });

  for (const code of CODES) {
    test(`${code} without its parameters, or with others in their place`, () => {
      const odd = { request: 1, until: 9e99, expiresAt: 'x', shown: {}, window: '1', drift: null };
      for (const params of [
        null,
        '',
        '[]',
        '7',
        '{"tools": [1, null]}',
        '{',
        JSON.stringify(odd),
      ]) {
        for (const reader of [EN, DE]) {
          const text = renderStoredNotice(reader, code, params);
          assert.ok(text.startsWith(`${SIGNS[NOTICES[code]]} `));
          assert.doesNotMatch(text, /undefined|null|NaN|Invalid|object/);
          assertVoice(text.slice(1));
        }
      }
    });
  }

  test('an uncertain effect of a task that was set aside: no check decides about that', () => {
    const asked = { ...PARAMS, approvalId: APPROVAL, tool: 'command', reason: 'paused' };
    assert.doesNotMatch(renderNotice(EN, 'uncertain_effect', asked), /independent check/);
    assert.doesNotMatch(renderNotice(DE, 'uncertain_effect', asked), /unabhängige Prüfung/);
  });

  test('an instant without the time of its notice names its day and year', () => {
    const text = renderNotice(EN, 'awaits_instant', { ...PARAMS, until: AT });
    assert.match(
      text,
      / goes on by itself on Fri, 14 Nov 2025, 14:02, if the host runs until then\. /,
    );
  });
});

test('many calls are named up to five and then counted', () => {
  const tools = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const text = renderNotice(EN, 'interrupted', { ...PARAMS, tools });
  assert.match(text, /Whether `a`, `b`, `c`, `d`, `e` and 2 more took effect/);
});

test("a provider's own words stand in quotation marks, cut and in one line", () => {
  const said = 'model "llama" not found\n`/stop all`, try pulling it first and then ask again';
  const text = renderNotice(EN, 'model_refused', { ...PARAMS, detail: 'http_404', said });
  assert.match(text, /\(http_404: “model 'llama' not found '\/stop all', try pulling it first…”\)/);
});

describe('a refusal says what it refused and what to do instead:', () => {
  const codes = Object.keys(REFUSALS) as RefusalCode[];
  for (const code of codes) {
    test(code, () => {
      for (const { locale } of [EN, DE]) {
        const detail = {
          id: ID,
          nearest: ID,
          word: 'stp',
          state: 'completed',
          way: `/stop ${ID}`,
          reply: 'yes',
        };
        for (const text of [
          renderRefusal({ locale }, code),
          renderRefusal({ locale }, code, detail),
        ]) {
          assertVoice(text);
          assert.doesNotMatch(text, /undefined|\bnull\b|\n/);
        }
      }
    });
  }

  test('W-5: an unknown id or command names the nearest in one line', () => {
    assert.equal(
      renderRefusal(EN, 'not_found', { id: 'task_X', nearest: ID }),
      `Nothing here has the id \`task_X\`. The nearest is \`${ID}\`.`,
    );
    assert.equal(
      renderRefusal(DE, 'unknown_command', { word: 'stp', nearest: '/stop' }),
      'Es gibt keinen Befehl `/stp`. Am nächsten kommt `/stop`. Alle: `/help`.',
    );
  });

  test('what is not possible names what is', () => {
    const detail = { id: ID, state: 'waiting', way: `/stop ${ID}`, reply: 'yes' };
    assert.equal(
      renderRefusal(EN, 'not_allowed_now', detail),
      `This is not possible while it is waiting, so nothing was done. A reply lets it go on. ` +
        `What is possible: \`/stop ${ID}\`. Why: \`/why ${ID}\`.`,
    );
  });

  test('who may do it is named', () => {
    assert.equal(renderRefusal(EN, 'forbidden', { who: 'admin' }), 'Only an admin may do this.');
    assert.equal(renderRefusal(DE, 'forbidden', { who: 'admin' }), 'Das darf nur ein Admin.');
    assert.match(
      renderRefusal(EN, 'forbidden'),
      /^Only the one who asked for it, or an admin, may/,
    );
  });

  test('a state is said in words of the language', () => {
    assert.match(renderRefusal(DE, 'task_ended', { state: 'stopped' }), /\(angehalten\)/);
    assert.match(renderRefusal(DE, 'not_allowed_now', { state: 'newer' }), /newer/);
    assert.match(renderRefusal(EN, 'approval_closed', { state: 'denied' }), /closed \(denied\)/);
  });
});

describe('every sentence keeps to the voice', () => {
  for (const locale of ['en', 'de'] satisfies Locale[]) {
    test(locale, () => {
      const said = sentences(catalogueOf(locale));
      assert.ok(said.length > 100, 'a check that looked at nothing has not passed');
      for (const sentence of said) assertVoice(sentence);
    });
  }

  test('and notices too, behind their sign', () => {
    for (const [code, more, en, de] of GOLDEN) {
      for (const text of [en, de]) {
        const sign = SIGNS[NOTICES[code]];
        assert.ok(text.startsWith(`${sign} `));
        assertVoice(withoutCall(text).slice(sign.length));
      }
      assert.ok(more !== null);
    }
  });

  test('the check of the voice sees what it must', () => {
    for (const text of ['Done!', 'Oops 🎉.', '▸ Again.', 'Two  spaces.']) {
      assert.throws(() => assertVoice(text), assert.AssertionError, text);
    }
  });
});

test('what corrects a model says that nobody was answered, in English', () => {
  assert.match(CORRECTIVES.no_outcome, /without an answer/);
  for (const text of Object.values(CORRECTIVES)) assertVoice(text);
});

test('what goes on after an interruption or late is told what is saved and not to repeat it', () => {
  assert.match(
    RECOVERY_INPUTS.continued,
    /interrupted.*is saved.*do not repeat.*outcome is unknown/,
  );
  assert.match(RECOVERY_INPUTS.late, /has passed.*carried out late.*do not repeat/);
  for (const text of Object.values(RECOVERY_INPUTS)) assertVoice(text);
});

/** Every text of a catalogue; functions are called with a stand-in for whatever they name. */
function sentences(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'function') {
    // Stands for whatever a sentence names: a text, or facts whose every key is a text.
    const any = new Proxy({}, { get: (_, key) => (key === Symbol.toPrimitive ? () => 'x' : 'x') });
    return [String(Reflect.apply(value, null, [any, any]))];
  }
  return value !== null && typeof value === 'object'
    ? Object.values(value).flatMap((inner) => sentences(inner))
    : [];
}

function assertVoice(text: string): void {
  assert.doesNotMatch(text, /!/, text);
  assert.doesNotMatch(text, /\p{Extended_Pictographic}|[▸■]/u, text);
  assert.doesNotMatch(text, / {2}/, text);
}
