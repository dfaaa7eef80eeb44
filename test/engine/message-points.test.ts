import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine, WhileBusy } from '../../src/engine/engine.ts';
import type { ConversationId } from '../../src/kernel/ids.ts';
import { readObject } from '../../src/kernel/json.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { ADMIN, ANNA, asks, BEN, Installation, OPTIONS, says } from '../support/host.ts';
import { restOf, say, talkTo, watched } from '../support/acts.ts';

// A turn of three model calls and three tool calls. Something is said to it at each of its points: before
// and inside each call, and after each commit before whoever committed it learns of it.

const MODES: readonly WhileBusy[] = ['steer', 'wait', 'interrupt', 'collect'];

/** Looks, then looks and pays, then answers with all that it was ever told. */
function work(request: ModelRequest): ReturnType<typeof says> {
  const did = (name: string): boolean =>
    request.messages.some((item) => item.role === 'tool' && item.name === name && !item.isError);
  if (!did('look')) return asks(['look', {}]);
  if (!did('pay')) return asks(['note', {}], ['pay', {}]);
  const heard = request.messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  return says(`heard ${heard.join(' and ')}`);
}

/** Something that is done when the turn is at a point; each point has a number, from 0. */
type AtPoint = (point: number, speak: Speak) => Promise<void>;
type Speak = (text: string, principal: Principal) => Promise<void>;

interface Played {
  readonly place: Installation;
  readonly engine: Engine;
  readonly here: ConversationId;
  readonly points: number;
}

/** Plays the turn of `owner`; nothing is done at a point while `at` itself is at work. */
async function play(whileBusy: WhileBusy, owner: Principal, at: AtPoint): Promise<Played> {
  const place = new Installation();
  let points = 0;
  let isActing = true;
  let speak: Speak = async () => {};
  const reach = async (): Promise<void> => {
    if (isActing) return;
    isActing = true;
    const point = points;
    points += 1;
    await at(point, speak);
    isActing = false;
  };
  place.model.answer = async (request) => {
    await reach();
    return work(request);
  };
  place.tools.perform = async () => {
    await reach();
    return { kind: 'result', text: 'done' };
  };
  const store = watched(place.store, async ({ name }) => {
    if (name.startsWith('turn.')) await reach();
  });
  const engine = await place.host({ store, options: { ...OPTIONS, whileBusy } });
  const here = await talkTo(engine);
  speak = async (text, principal) => {
    await say(engine, here, text, { principal });
  };
  isActing = false;
  const spoken = engine.acceptMessage({ conversationId: here, text: 'work', principal: owner });
  assert.equal((await spoken).kind, 'accepted');
  await restOf(engine);
  return { place, engine, here, points };
}

async function countPoints(whileBusy: WhileBusy): Promise<number> {
  const { points, engine } = await play(whileBusy, ANNA, async () => {});
  await engine.stop(0);
  return points;
}

/** The text of each message, and by which turns it was claimed. */
async function claimsOf(place: Installation): Promise<ReadonlyMap<string, readonly string[]>> {
  const claims = new Map<string, string[]>();
  const messages = await place.rows('message');
  for (const row of messages) if (row['kind'] === 'genuine') claims.set(String(row['text']), []);
  const textOf = new Map(messages.map((row) => [row['id'], String(row['text'])]));
  for (const event of await place.rows('event')) {
    if (event['type'] !== 'turn.started' && event['type'] !== 'turn.continued') continue;
    const { messageIds } = readObject(String(event['data']));
    for (const id of messageIds as readonly string[])
      claims.get(textOf.get(id) ?? '')?.push(String(event['turn_id']));
  }
  return claims;
}

/** None dropped, none read twice, each answered, and nothing paid twice. */
async function assertWhole(
  { place, engine }: Played,
  said: readonly string[],
  where: string,
): Promise<void> {
  for (const message of await place.rows('message')) {
    assert.equal(message['state'], 'done', `${where}: ${String(message['text'])}`);
    assert.notEqual(message['answer_id'], null, where);
  }
  const claims = await claimsOf(place);
  for (const text of ['work', ...said])
    assert.equal(claims.get(text)?.length, 1, `${where}: ${text}`);
  const replies = (await place.rows('outbox')).filter(({ kind }) => kind === 'reply');
  for (const text of ['work', ...said])
    assert.ok(
      replies.some((reply) => String(reply['text']).includes(text)),
      `${where}: ${text}`,
    );
  assert.equal(place.tools.ran.filter(({ name }) => name === 'pay').length, 1, where);
  for (const task of await place.rows('task')) assert.equal(task['state'], 'completed', where);
  await engine.stop(0);
}

for (const whileBusy of MODES) {
  test(`T-11 V2 ${whileBusy}: what its own principal says at any point is read once and answered`, async () => {
    const points = await countPoints(whileBusy);
    assert.ok(points >= 10, `${points} points`);
    const turns = new Set<number>();
    for (let sent = 0; sent < points; sent += 1) {
      const played = await play(whileBusy, ANNA, async (point, speak) => {
        if (point === sent) await speak('and this', ANNA);
      });
      turns.add((await played.place.rows('turn')).length);
      await assertWhole(played, ['and this'], `point ${sent} of ${points}`);
    }
    // Steered it is the same turn, else a further one.
    assert.ok(turns.has(whileBusy === 'steer' ? 1 : 2), [...turns].join());
    if (whileBusy === 'wait' || whileBusy === 'collect') assert.ok(!turns.has(1));
  });

  test(`T-11 ${whileBusy}: a guest's words wait for a turn of their own, without an admin's rights`, async () => {
    const points = await countPoints(whileBusy);
    for (let sent = 0; sent < points; sent += 1) {
      const played = await play(whileBusy, ADMIN, async (point, speak) => {
        if (point === sent) await speak('from a guest', BEN);
      });
      const { place } = played;
      const claims = await claimsOf(place);
      const [turnId] = claims.get('from a guest') ?? [];
      const turn = (await place.rows('turn')).find(({ id }) => id === turnId);
      assert.equal(turn?.['authority'], 'own', `point ${sent}`);
      assert.notEqual(turnId, claims.get('work')?.[0], `point ${sent}`);
      await assertWhole(played, ['from a guest'], `point ${sent} of ${points}`);
    }
  });
}

test('T-11 an admin steers the work of anyone, and the turn keeps the lower authority', async () => {
  const played = await play('steer', ANNA, async (point, speak) => {
    if (point === 3) await speak('from an admin', ADMIN);
  });
  const turns = await played.place.rows('turn');
  assert.deepEqual(
    turns.map(({ authority }) => authority),
    ['own'],
  );
  await assertWhole(played, ['from an admin'], 'an admin');
});

test('T-11 collect: what one person says during a turn is one turn, what another says its own', async () => {
  const played = await play('collect', ANNA, async (point, speak) => {
    if (point === 2) await speak('one', ANNA);
    if (point === 3) await speak('two', ANNA);
    if (point === 4) await speak('three', BEN);
  });
  const claims = await claimsOf(played.place);
  assert.deepEqual(claims.get('one'), claims.get('two'));
  assert.notDeepEqual(claims.get('one'), claims.get('three'));
  await assertWhole(played, ['one', 'two', 'three'], 'collected');
});
