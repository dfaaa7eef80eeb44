import { sql, type RawBuilder } from 'kysely';

/** PostgreSQL sums whole numbers as decimals, which come as texts. */
function total(column: 'input_tokens' | 'output_tokens' | 'cost'): RawBuilder<number> {
  return sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`;
}

/** What some steps used together: tokens, millionths of a US dollar, and calls of an unknown price. */
export const USED = [
  total('input_tokens').as('inputTokens'),
  total('output_tokens').as('outputTokens'),
  total('cost').as('cost'),
  sql<number>`cast(count(case when input_tokens is not null and cost is null then 1 end) as bigint)`.as(
    'unpriced',
  ),
] as const;
