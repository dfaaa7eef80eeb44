/**
 * What the host tells a model whose turn led nowhere. English in every installation: it speaks to a
 * model, never to a person.
 */
export const CORRECTIVES = {
  /** T-8: the turn ended with neither an answer, a wait, a continuation nor a failure. */
  no_outcome:
    'Your last turn ended without an answer, so the person has received nothing. Answer the ' +
    'request now in plain text, or make one valid tool call. If you cannot, say what is missing.',
  /** T-19: the same call with the same result again and again, or too many steps in one turn. */
  no_progress:
    'Your last turn went on without getting anywhere: the same tool call with the same result, ' +
    'or more steps than a turn may have. Do not make that call again. Take another way, or answer ' +
    'in plain text what is done, what is not, and what stands in the way.',
} as const;
