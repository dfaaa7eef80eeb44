import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNA, asks, says, until } from '../support/host.ts';
import { play, RecordedInstallation } from './recorded.ts';

const TURNS = 300;

test('a long conversation is replayed to its end', async () => {
  await using home = new RecordedInstallation();
  home.model.answer = ({ messages }) =>
    messages.at(-1)?.role === 'tool' ? says('done') : asks(['look', { at: messages.length }]);
  const host = await home.host();
  const id = await host.openConversation({ channel: 'api', principal: ANNA });
  for (let turn = 1; turn <= TURNS; turn += 1) {
    home.clock.advance(1_000);
    // oxlint-disable-next-line no-await-in-loop -- one turn after the other
    await host.acceptMessage({ conversationId: id, text: `look ${turn}`, principal: ANNA });
    // oxlint-disable-next-line no-await-in-loop -- the same
    await until(host, id, async () => {
      const found = await host.store.query('conversation.byId', { id });
      const open = await host.store.query('task.openOf', { conversationId: id, limit: 1 });
      return found?.turnId === null && open.length === 0 && home.tools.ran.length === turn;
    });
  }
  await host.stop(0);
  const { end } = await play(await home.recording(id));
  assert.equal(end.kind, 'same', JSON.stringify(end).slice(0, 2_000));
  assert.ok(end.decisions > 4 * TURNS);
});
