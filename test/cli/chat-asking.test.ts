import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Asking, type Taken } from '../../src/cli/chat/asking.ts';

const FIRST = 'appr_0000000000000001';
const SECOND = 'appr_0000000000000002';

interface Desk {
  readonly asking: Asking;
  /** Lets milliseconds pass; without them a question counts as read. */
  readonly pass: (ms: number) => void;
  /** Keys one by one, and Enter. */
  readonly type: (line: string) => Taken;
  /** Everything in one piece, Enter as well. */
  readonly paste: (line: string) => Taken;
}

function desk(...ids: readonly string[]): Desk {
  let now = 0;
  const asking = new Asking(() => now);
  for (const id of ids) asking.add(id);
  const pass = (ms: number): void => void (now += ms);
  const type = (line: string): Taken => {
    for (const key of line) asking.heard(key);
    asking.heard('\r');
    return asking.take(line);
  };
  const paste = (line: string): Taken => {
    asking.heard(`${line}\r`);
    return asking.take(line);
  };
  return { asking, pass, type, paste };
}

/** The question of this approval, read. */
function shown(asked: Desk, id = FIRST): Desk {
  assert.ok(asked.asking.show({ id, tool: 'command', isAgain: false }));
  asked.pass(1_000);
  return asked;
}

describe('E-4: a question at the prompt', () => {
  test('is answered by a typed y or n, in small or large', () => {
    for (const [key, order] of [
      ['y', 'approve'],
      ['n', 'deny'],
      ['Y', 'approve'],
      ['N', 'deny'],
    ] as const) {
      const { asking, type } = shown(desk(FIRST));
      assert.deepEqual(type(key), { kind: 'order', id: FIRST, text: `/${order} ${FIRST}` });
      assert.equal(asking.current, undefined);
    }
  });

  test('is answered by what remains of what was typed', () => {
    const { asking } = shown(desk(FIRST));
    for (const key of ['x', '\u007F', 'y', '\r']) asking.heard(key);
    assert.equal(asking.take('y').kind, 'order');
  });

  test('is left open by an empty line, which decides nothing', () => {
    const { asking, type } = shown(desk(FIRST));
    assert.deepEqual(type(''), { kind: 'later', id: FIRST });
    assert.equal(asking.current, undefined);
    assert.equal(asking.next, undefined);
  });

  test('shows the call again for a question mark, and stays', () => {
    const { asking, type } = shown(desk(FIRST));
    assert.deepEqual(type('?'), { kind: 'show', id: FIRST });
    assert.equal(asking.current?.id, FIRST);
    assert.equal(type('y').kind, 'order');
  });

  test('stays while anything else is said, which is an ordinary message', () => {
    const { asking, type } = shown(desk(FIRST));
    for (const line of [
      'yes',
      'yes please',
      'no',
      'why?',
      '/why',
      'y n',
      'ｙ',
      `/approve ${FIRST}`,
    ]) {
      assert.equal(type(line).kind, 'message', line);
      assert.equal(asking.current?.id, FIRST);
    }
  });

  test('takes no paste for an answer, whatever pieces it comes in', () => {
    const pieces: Readonly<Record<string, readonly string[]>> = {
      'in one piece': ['y\r'],
      'with the letter and more in one piece': ['\u001B[200~y', '\r'],
      'set apart by the terminal': ['\u001B[200~y\u001B[201~', '\r'],
      'set apart, key by key': ['\u001B[200~', 'y', '\r'],
      'recalled from the lines before': ['\u001B[A', '\r'],
      'completed from a paste': ['yx', '\u007F', '\r'],
    };
    for (const [name, heard] of Object.entries(pieces)) {
      const { asking } = shown(desk(FIRST));
      for (const piece of heard) asking.heard(piece);
      assert.equal(asking.take('y').kind, 'not_typed', name);
      assert.equal(asking.current?.id, FIRST, name);
    }
  });

  test('takes no later line of a paste for an answer', () => {
    const { asking } = shown(desk(FIRST));
    asking.heard('\u001B[200~');
    asking.heard('a');
    asking.heard('\r');
    assert.equal(asking.take('a').kind, 'message');
    asking.heard('y');
    asking.heard('\r');
    assert.equal(asking.take('y').kind, 'not_typed');
    asking.heard('\u001B[201~');
    asking.heard('\r');
    assert.equal(asking.take('y').kind, 'not_typed');
    for (const key of ['y', '\r']) asking.heard(key);
    assert.equal(asking.take('y').kind, 'order');
  });

  test('takes no key for an answer that was on its way when it came up', () => {
    const { asking, pass, type } = desk(FIRST);
    asking.show({ id: FIRST, tool: 'command', isAgain: false });
    pass(50);
    assert.equal(type('').kind, 'message');
    assert.equal(type('y').kind, 'not_typed');
    pass(1_000);
    assert.equal(type('y').kind, 'order');
  });

  test('counts a line as typed by hand again after one that was not', () => {
    const { type, paste } = shown(desk(FIRST));
    assert.equal(paste('y').kind, 'not_typed');
    assert.equal(type('y').kind, 'order');
  });
});

describe('several questions', () => {
  test('are asked one after another, each once', () => {
    const asked = desk(FIRST, SECOND, FIRST);
    assert.equal(asked.asking.next, FIRST);
    shown(asked);
    assert.equal(asked.asking.next, undefined);
    assert.equal(asked.asking.show({ id: SECOND, tool: 'command', isAgain: false }), false);
    asked.type('y');
    assert.equal(asked.asking.next, SECOND);
    shown(asked, SECOND);
    assert.deepEqual(asked.type('n'), { kind: 'order', id: SECOND, text: `/deny ${SECOND}` });
    assert.equal(asked.asking.next, undefined);
  });

  test('go when they are answered elsewhere, and a line begun for one answers no other', () => {
    const asked = shown(desk(FIRST, SECOND));
    asked.asking.heard('y');
    assert.ok(asked.asking.withdraw(FIRST, true));
    asked.asking.heard('\r');
    assert.equal(asked.asking.take('y').kind, 'gone');
    assert.equal(asked.asking.next, SECOND);
    assert.equal(asked.asking.withdraw(SECOND), false);
    assert.equal(asked.asking.next, undefined);
    assert.equal(asked.asking.show({ id: SECOND, tool: 'command', isAgain: false }), false);
    assert.equal(asked.type('y').kind, 'message');
  });
});
