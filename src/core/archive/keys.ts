import type { Archived, ArchiveKind, ArchiveRecords } from './record.ts';

/** A key of the index; no field that is part of one holds a character 0. */
export function keyOf(
  kind: ArchiveKind,
  fields: readonly string[],
  values: readonly unknown[],
): string {
  return [kind, fields.join(' '), ...values.map(String)].join('\0');
}

/** What was named, as the end of a sentence that says that it is not as it was named. */
export function namedBy(key: string): string {
  const [kind = '', fields = '', id = ''] = key.split('\0');
  const back = (LINKS as readonly string[]).includes(fields) ? ' or does not refer back' : '';
  return `the ${kind} ${id}, which is not in the file${back}`;
}

const LINKS = ['previousId', 'nextId'] as const;

/** What a session says of another one has to be said by that one too (M-16). */
export interface Links {
  /** What the record itself says. */
  readonly given: readonly string[];
  /** What another one has to say. */
  readonly wanted: readonly string[];
}

/** `isThere`: whether the session is in the file; sessions stand before operations. */
export function linksOf({ kind, record }: Archived, isThere: (id: string) => boolean): Links {
  if (kind === 'session') return linksOfSession(record);
  if (kind !== 'operation' || record.state === 'done') return { given: [], wanted: [] };
  const { sessionId, nextSessionId } = record;
  // The session that is to follow has its id before it is there.
  const isPromised = nextSessionId !== null && !isThere(nextSessionId);
  return { given: isPromised ? [link('previousId', nextSessionId, sessionId)] : [], wanted: [] };
}

function linksOfSession({ id, previousId, nextId }: ArchiveRecords['session']): Links {
  const given: string[] = [];
  const wanted: string[] = [];
  if (previousId !== null) {
    given.push(link('previousId', id, previousId));
    wanted.push(link('nextId', previousId, id));
  }
  if (nextId !== null) {
    given.push(link('nextId', id, nextId));
    wanted.push(link('previousId', nextId, id));
  }
  return { given, wanted };
}

/** That one session says it of another one in this field. */
function link(field: (typeof LINKS)[number], from: string, to: string): string {
  return keyOf('session', [field], [from, to]);
}
