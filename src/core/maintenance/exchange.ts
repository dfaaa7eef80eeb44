import { HOST_CHANNELS, type MessageRecord } from '../inbox/record.ts';
import type { StepRecord } from '../turn/record.ts';
import { buildTranscript, charsIn, type TranscriptItem } from '../turn/transcript.ts';
import type { StandingCondition } from './record.ts';

/** A person's own words, exactly, and when they were said. */
export type SaidWords = StandingCondition;

/**
 * What a cut never divides (M-17): one claimed input, with the call that its approval ran, or one reply of
 * the model with all its results. Inputs that share a place, and one that was claimed between a call and
 * its result, stand in one exchange. `firstSeq` to `lastSeq` overlaps no other's.
 */
export interface Exchange {
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** In the order of the transcript; none where the rows left nothing. */
  readonly items: readonly TranscriptItem[];
  /** What its items take in a request. */
  readonly chars: number;
  /** What persons said in it, without the inputs that the host made. */
  readonly said: readonly SaidWords[];
}

interface Group {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly items: readonly TranscriptItem[];
}

/**
 * The exchanges of these claimed messages and steps, given in any order; oldest first. Every given row is
 * covered by exactly one: a step or an input that left nothing belongs to the exchange before it.
 */
export function exchangesOf(
  messages: readonly MessageRecord[],
  steps: readonly StepRecord[],
): readonly Exchange[] {
  const claimed = messages.filter(isClaimed);
  const said = Map.groupBy(claimed, ({ claimedSeq }) => claimedSeq);
  const places = [...said.keys(), ...steps.map(({ seq }) => seq)].toSorted((a, b) => a - b);
  const groups = disjoint(
    groupsOf(buildTranscript(messages, steps), ranByApproval(claimed, steps)),
  );
  return covering(groups, places).map((group) => ({
    ...group,
    chars: charsIn(group.items),
    said: saidIn(group.items, said),
  }));
}

type Claimed = MessageRecord & { readonly claimedSeq: number };

function isClaimed(message: MessageRecord): message is Claimed {
  return message.claimedSeq !== null && message.kind !== 'command';
}

/** By the place of an approval's input: the place of the call that it ran (E-4). */
function ranByApproval(
  claimed: readonly Claimed[],
  steps: readonly StepRecord[],
): ReadonlyMap<number, number> {
  const first = new Map<string, number>();
  for (const { turnId, kind, ordinal, seq } of steps) {
    if (kind === 'tool' && ordinal === 1) first.set(turnId, seq);
  }
  const ran = new Map<number, number>();
  for (const { channel, claimedSeq, turnId } of claimed) {
    const seq = first.get(turnId ?? '');
    if (channel === HOST_CHANNELS.approval && seq !== undefined) ran.set(claimedSeq, seq);
  }
  return ran;
}

/** Each input, and each reply with the results behind it. */
function groupsOf(
  items: readonly TranscriptItem[],
  ran: ReadonlyMap<number, number>,
): readonly Group[] {
  const starts = [...items.keys()].filter((index) => items[index]?.role !== 'tool');
  return starts.map((start, index) => {
    const own = items.slice(start, starts[index + 1] ?? items.length);
    const places = own.map(({ seq }) => seq);
    const firstSeq = Math.min(...places);
    return { firstSeq, lastSeq: Math.max(...places, ran.get(firstSeq) ?? 0), items: own };
  });
}

/** What overlaps becomes one. */
function disjoint(groups: readonly Group[]): readonly Group[] {
  const all: Group[] = [];
  for (const group of groups) {
    const last = all.at(-1);
    if (last === undefined || group.firstSeq > last.lastSeq) {
      all.push(group);
      continue;
    }
    const lastSeq = Math.max(last.lastSeq, group.lastSeq);
    all.splice(-1, 1, { ...last, lastSeq, items: [...last.items, ...group.items] });
  }
  return all;
}

/** The groups with the places between them, those before the first included. */
function covering(groups: readonly Group[], places: readonly number[]): readonly Group[] {
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (groups.length === 0) return [{ firstSeq: first, lastSeq: last, items: [] }];
  let next = 0;
  return groups.map((group, index) => {
    const end = groups[index + 1]?.firstSeq ?? Number.POSITIVE_INFINITY;
    let { lastSeq } = group;
    for (; (places[next] ?? end) < end; next += 1) lastSeq = Math.max(lastSeq, places[next] ?? 0);
    return { ...group, firstSeq: index === 0 ? first : group.firstSeq, lastSeq };
  });
}

function saidIn(
  items: readonly TranscriptItem[],
  said: ReadonlyMap<number, readonly MessageRecord[]>,
): readonly SaidWords[] {
  const places = new Set(items.filter(({ role }) => role === 'user').map(({ seq }) => seq));
  return [...places]
    .flatMap((seq) => said.get(seq) ?? [])
    .filter(({ kind, text }) => kind === 'genuine' && text !== '')
    .toSorted((a, b) => a.seq - b.seq)
    .map(({ at, text }) => ({ at, text }));
}
