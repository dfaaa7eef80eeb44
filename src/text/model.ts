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

/** What the host tells a model when a person's order lets a task go on. */
export const ORDER_INPUTS = {
  resumed:
    'A person lets this task go on with one new turn. What is saved is above. Go on from there, ' +
    'or answer what is done and what stands in the way.',
  extended:
    'An admin has granted this task more to spend. What is saved is above. Go on from there.',
  fresh:
    'A person began a fresh session, because the one before no longer fitted what you can see. ' +
    'Nothing that was said or done in it is shown here. The request was:',
  approved:
    'A person has approved the call that you asked for. The host runs it now, exactly as it was ' +
    'shown to the person; its result follows.',
  denied:
    'A person has denied the call that you asked for. It was not run and will not be. Do not ask ' +
    'for it again. Go on without it, or answer what is missing.',
  denied_again:
    'A person says that the call whose outcome is unknown must not be run again. Do not make it ' +
    'again. Go on without knowing its outcome, or answer what is missing.',
} as const;

/** What the host tells a model when what its task waited for has come by itself. */
export const WAKE_INPUTS = {
  instant:
    'The time that you set for this task has come. What is saved is above. Go on from there with ' +
    'the request:',
} as const;

/** What the host tells a model when work that was interrupted, or whose time had passed, goes on. */
export const RECOVERY_INPUTS = {
  /** the assessment said that it may. */
  continued:
    'This task was interrupted: the host stopped while it was under way. What is saved is above. Go ' +
    'on from there, and do not repeat what is done. A call whose outcome is unknown is marked so: do ' +
    'not make it again; find out what came of it, or say that it is not known. The request was:',
  /** T-15: a person has it carried out late. */
  late:
    'The time at which this task was to go on has passed, and a person has it carried out late. What ' +
    'is saved is above. Go on from there, do not repeat what is done, and say that it is late where ' +
    'that matters. The request was:',
} as const;

/** The request of a task whose own words stand in no turn that is shown. */
export function restated(mandate: string): string {
  return `The request of this task, restated by the host:\n\n${mandate}`;
}

/** A person's words that no turn in the request has and nobody has answered yet. */
export function openWords(text: string): string {
  return `The person’s latest words, said again by the host because they are still to be answered:\n\n${text}`;
}
