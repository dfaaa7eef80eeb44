import { isOpen } from '../maintenance/decide.ts';
import type { Archived, ArchiveKind, ArchiveRecords } from './record.ts';

/** A key of the index; no field that is part of one holds a character 0. */
export function keyOf(
  kind: ArchiveKind,
  fields: readonly string[],
  values: readonly unknown[],
): string {
  return [kind, fields.join(' '), ...values.map(String)].join('\0');
}

/** What a session says of another one has to be said by that one too (M-16). */
export interface Links {
  /** What the record itself says. */
  readonly given: readonly string[];
  /** What another one has to say. */
  readonly wanted: readonly string[];
}

/** `currentOf`: the session that a conversation is in. */
export function linksOf(
  { kind, record }: Archived,
  currentOf: (conversationId: string) => string | undefined,
): Links {
  if (kind === 'session') return linksOfSession(record, currentOf(record.conversationId));
  if (kind !== 'operation' || !isOpen(record) || record.nextSessionId === null) return NONE;
  return { given: [link('nextSessionId', record.nextSessionId, record.sessionId)], wanted: [] };
}

const NONE: Links = { given: [], wanted: [] };

function linksOfSession(
  { id, previousId, nextId }: ArchiveRecords['session'],
  current: string | undefined,
): Links {
  const given: string[] = [];
  const wanted: string[] = [];
  if (previousId !== null) {
    given.push(link('previousId', id, previousId));
    wanted.push(link('nextId', previousId, id));
    // It is there before the conversation goes over to it.
    if (previousId === current) wanted.push(link('nextSessionId', id, previousId));
  }
  if (nextId !== null) {
    given.push(link('nextId', id, nextId));
    wanted.push(link('previousId', nextId, id));
  }
  return { given, wanted };
}

const UNLINKED = {
  previousId: (id: string) => `It goes on in the session ${id}, which does not say so.`,
  nextId: (id: string) => `It goes on from the session ${id}, which does not say so.`,
  nextSessionId: () =>
    'It goes on from the session that its conversation is in, and no operation goes over to it.',
} as const;
type Link = keyof typeof UNLINKED;

/** What is wrong when nobody says this, as one sentence; undefined of a key that is no link. */
export function unlinked(key: string): string | undefined {
  const [, field = '', id = ''] = key.split('\0');
  return Object.hasOwn(UNLINKED, field) ? UNLINKED[field as Link](id) : undefined;
}

/** That one session says it of another one in this field, or an operation of the two. */
function link(field: Link, from: string, to: string): string {
  return keyOf('session', [field], [from, to]);
}
