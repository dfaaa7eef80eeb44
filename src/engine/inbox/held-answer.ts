import type { TaskRecord } from '../../core/task/record.ts';
import { ABOVE_ALL_IDS } from '../../kernel/ids.ts';
import { readObject } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { SIGNS, type Catalogue } from '../../text/catalogue.ts';
import { quoteRequest } from '../../text/quote.ts';
import { inWords } from '../../text/render.ts';
import type { EngineParts } from '../engine.ts';
import { readHeld as readStanding } from '../task/held-sentence.ts';
import type { Asker } from '../task/nearest.ts';
import { speak } from './speaking.ts';

/**
 * A page of what the boundary holds, the newest first, and how one of them is woken (B-10): all of it
 * for an admin, what is held in this conversation for anyone else. Pages count from 1.
 */
export async function listHeld(parts: EngineParts, asker: Asker, page: number): Promise<string> {
  const { words } = speak(parts, parts.clock.now());
  const { answers } = words;
  const first = (page - 1) * LIMITS.namedMax;
  const { tasks, count } = await readHeld(parts, asker, first);
  if (count === 0) return asker.principal.isAdmin ? answers.noneHeld : answers.noHeldTasks;
  const rest = count - first - tasks.length;
  return [
    ...tasks.map((task) => heldLine(words, task)),
    ...(tasks.length === 0 ? [answers.heldNoPage(String(count))] : []),
    ...(rest > 0 ? [answers.heldMore(String(rest), `/tasks held ${page + 1}`)] : []),
    answers.heldWake,
  ].join('\n');
}

interface Held {
  /** Of the page. */
  readonly tasks: readonly TaskRecord[];
  /** Of all pages. */
  readonly count: number;
}

async function readHeld(
  { store }: EngineParts,
  { conversationId, principal }: Asker,
  first: number,
): Promise<Held> {
  const end = first + LIMITS.namedMax;
  if (!principal.isAdmin) {
    const open = await store.query('task.openOf', { conversationId, limit: HERE_MAX });
    const held = open.filter(({ enrollment }) => enrollment === 'held-legacy');
    return { tasks: held.slice(first, end), count: held.length };
  }
  const standing = await store.query('recovery.standing', {});
  const count = standing?.held ?? 0;
  if (first >= count) return { tasks: [], count };
  const all = { state: 'blocked', enrollment: 'held-legacy', conversationId: '' };
  const rows = await store.query('task.list', { ...all, before: ABOVE_ALL_IDS, limit: end });
  return { tasks: rows.slice(first), count };
}

/** Open tasks of one conversation that are looked through. */
const HERE_MAX = 1_000;

/** A held task as its list shows it: what was asked, how it stood before, and its id. */
function heldLine(words: Catalogue, { id, mandateText, outcomeData }: TaskRecord): string {
  const { state, waitKind } = readStanding(readObject(outcomeData));
  const known: Readonly<Record<string, string>> = words.states;
  const stood = typeof state === 'string' && Object.hasOwn(known, state) ? known[state] : null;
  const was =
    typeof waitKind === 'string'
      ? words.answers.waitingFor(inWords(words.waits, waitKind))
      : (stood ?? null);
  return `${SIGNS.blocked} ${quoteRequest(words, mandateText)}: ${words.answers.heldSince(was)} ${id}`;
}
