import { sql, type RawBuilder } from 'kysely';

/**
 * Whether no fence stands before the conversation of a row (M-8). One more row is read, of a table that
 * every unit of the conversation reads anyway; an index of fences would cost pages.
 */
export function unfenced(table: 'message' | 'task'): RawBuilder<boolean> {
  return sql<boolean>`not exists (select 1 from conversation
    where conversation.id = ${sql.table(table)}.conversation_id
    and conversation.fence in ('shut', 'blocked'))`;
}
