import { SIGNS } from '../../text/catalogue.ts';
import type { AttentionItem, StatusReply } from '../../wire/status.ts';
import { ask } from '../connect.ts';
import { doingText } from '../doing.ts';
import { printJson, printText } from '../print.ts';
import type { ReadOptions } from '../program.ts';
import { shellCommand, shellSentence } from '../shell.ts';
import { when } from '../when.ts';

/** `status`: how the host is, who answers, what is open and what waits for a person. */
export async function status(options: ReadOptions): Promise<void> {
  await ask(options, async ({ client, url }) => {
    const [now, { items }] = [await client.status(), await client.attention()];
    if (options.json === true) {
      printJson({ ...now, url: url ?? null });
      return;
    }
    const { model, tasks, store } = now;
    const since = now.startedAt === null ? '' : ` since ${when(now.startedAt)}`;
    const answered =
      model.answeredBy === null
        ? ''
        : `; last answered by ${model.answeredBy.provider}/${model.answeredBy.model}`;
    const open = Object.entries(tasks)
      .filter(([, count]) => count > 0)
      .map(([state, count]) => `${count} ${state}`);
    const lines = [
      `host    ${now.state}${since}${url === undefined ? '' : `, ${url}`} (${now.version})`,
      ...(url === undefined
        ? []
        : [`model   ${model.provider}/${model.name}, ${model.price}${answered}`]),
      `store   ${store.description}`,
      `tasks   ${open.length === 0 ? 'none open' : open.join(', ')}`,
      ...now.turns.map(({ taskId, doing }) => `turn    ${taskId}, ${doingText(doing)}`),
      ...(now.safeMode.on
        ? [`safe    nothing starts by itself until ${when(now.safeMode.until ?? now.at)}`]
        : []),
      ...recovery(now),
      ...upkeep(now),
      ...now.limiters
        .filter(({ state }) => state === 'limited')
        .map(
          ({ models, until }) =>
            `limits  ${models.join(', ')}: no call until ${when(until ?? now.at)}`,
        ),
      ...items.map(attention),
    ];
    printText(lines.join('\n'));
  });
}

function recovery({ recovery: found, safeMode }: StatusReply): readonly string[] {
  const { interrupted, assessing, held } = found;
  const now = assessing.length === 0 ? '' : `, checked now: ${assessing.join(', ')}`;
  const until = safeMode.until === null ? '' : ` until ${when(safeMode.until)}`;
  const off = safeMode.on ? `; safe mode holds it back${until}: sekisho safe-mode off` : '';
  return [
    ...(interrupted === 0
      ? []
      : [`checks  ${interrupted} interrupted, a check decides${now}${off}`]),
    ...(held === 0 ? [] : [`held    ${held} older, an admin wakes them one by one`]),
  ];
}

/** What is done to keep conversations within their models' windows. */
function upkeep({ maintenance }: StatusReply): readonly string[] {
  const { running, waiting, blocked } = maintenance;
  const counts = Object.entries({ running, waiting, blocked }).filter(([, count]) => count > 0);
  if (counts.length === 0) return [];
  const told = counts.map(([state, count]) => `${count} ${state}`).join(', ');
  return [`context ${told}: sekisho maintenance --state open`];
}

function attention({ level, sentence, command }: AttentionItem): string {
  const isSaid = command === null || sentence.includes(command);
  const sign = sentence.startsWith(SIGNS[level]) ? '' : `${SIGNS[level]} `;
  return `\n${sign}${shellSentence(sentence)}${isSaid ? '' : `\n  ${shellCommand(command)}`}`;
}
