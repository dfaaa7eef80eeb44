import type { Catalogue, RefusalFacts } from './catalogue.ts';

const nearestOf = (facts: RefusalFacts): string =>
  facts.nearest === undefined ? '' : ` The nearest is \`${facts.nearest}\`.`;

const ending = (calls: string | null): string =>
  calls === null ? '' : `Still being ended: ${calls}. `;

export const EN: Catalogue = {
  tag: 'en-GB',
  atTime: (time) => `at ${time}`,
  onDay: (day) => `on ${day}`,
  quotes: ['“', '”'],
  notices: {
    interrupted: ({ request, id, tools }) =>
      `${request} was interrupted: the host stopped while it worked on it. ` +
      (tools === null
        ? ''
        : `Whether ${tools} took effect is unknown; I will not run it again, so please check. `) +
      `What was done is saved, and nothing of it continues by itself. ` +
      `To end it: \`/stop ${id}\`; to try anew, send the request again. Why: \`/why ${id}\`.`,
    stopped: ({ request, id, tools }) =>
      `${request} is stopped. ${ending(tools)}` +
      `What was done is kept, and nothing more of it will start. ` +
      `To begin anew, send the request again. Why: \`/why ${id}\`.`,
    cancelled: ({ request, id, tools }) =>
      `${request} was cancelled by the program that had asked for it. ${ending(tools)}` +
      `What was done is kept, and nothing more of it will start. Why: \`/why ${id}\`.`,
    no_outcome: ({ request, id }) =>
      `I could not finish ${request}: twice in a row the model ended without an answer. ` +
      `What was done is saved, and it stays as it is until you decide. ` +
      `To end it: \`/stop ${id}\`; to try anew, send the request again. Why: \`/why ${id}\`.`,
    no_progress: ({ request, id }) =>
      `I could not finish ${request}: the model kept working without getting on, ` +
      `even after a reminder. What was done is saved, and it stays as it is until you decide. ` +
      `To end it: \`/stop ${id}\`; to try anew, send the request again. Why: \`/why ${id}\`.`,
    model_refused: ({ request, id, detail }) =>
      `${request} has failed: the model provider refused the call (${detail ?? 'no code'}). ` +
      `What was done is kept. When the cause is mended, send the request again. ` +
      `Why: \`/why ${id}\`.`,
    model_unavailable: ({ request, id, detail }) =>
      `${request} has failed: the model gave no usable answer (${detail ?? 'no code'}). ` +
      `What was done is kept. When the cause is gone, send the request again. Why: \`/why ${id}\`.`,
  },
  unknownNotice: (code, { request, id }) => `${request}: \`${code}\`. Why: \`/why ${id}\`.`,
  refusals: {
    not_found: (facts) =>
      `Nothing here has ${facts.id === undefined ? 'this id' : `the id \`${facts.id}\``}.` +
      nearestOf(facts),
    ambiguous_id: (facts) =>
      `${facts.id === undefined ? 'This id' : `The id \`${facts.id}\``} fits more than one. ` +
      `Please type all of it.${nearestOf(facts)}`,
    forbidden: () => 'Only the one who asked for it, or an admin, may do this.',
    version_conflict: () =>
      'It has changed since you read it, so nothing was done. Read it again, then decide.',
    receipt_used: () =>
      'This receipt was used for something else, so nothing was done. Use a new one.',
    run_ended: () => 'This run has ended and takes no further message. Start a new run.',
    task_ended: (facts) =>
      `This task has ended${facts.state === undefined ? '' : ` (${facts.state})`} and keeps ` +
      `its end. To begin anew, send the request again.`,
    nothing_to_stop: () => 'Nothing of this conversation is running or open. `/tasks` lists tasks.',
    not_allowed_now: (facts) =>
      `This is not possible ${facts.state === undefined ? 'now' : `while it is ${facts.state}`}, ` +
      `so nothing was done.${facts.id === undefined ? '' : ` Why: \`/why ${facts.id}\`.`}`,
    idempotency_conflict: () =>
      'The same idempotency key came before with another body, so nothing was done. ' +
      'Use a new key for a new request.',
    unknown_command: (facts) =>
      `There is no command${facts.word === undefined ? ' of this name' : ` \`/${facts.word}\``}.` +
      `${nearestOf(facts)} All of them: \`/help\`.`,
    draining: () =>
      'The host is shutting down and takes nothing new. Send it again when the host is back.',
    store_failed: () =>
      'The store has failed, so nothing was saved and the host ends. ' +
      'Its operator finds the cause in the log.',
    disk_full: () =>
      'The disk of the store is full, so nothing was saved. Make room, then send it again.',
  },
  states: {
    active: 'active',
    waiting: 'waiting',
    paused: 'paused',
    blocked: 'blocked',
    completed: 'completed',
    failed: 'failed',
    stopped: 'stopped',
    cancelled: 'cancelled',
    expired: 'expired',
  },
  waits: {
    instant: 'for the time that it set',
    worker: 'for a worker',
    answer: 'for your answer',
    approval: 'for an approval',
    quota: 'for the quota of the model provider',
    provider: 'for the model provider',
    assessment: 'for the check that decides whether interrupted work may go on',
  },
  causes: {
    interrupted: 'The host stopped while it worked on it, and nothing continues by itself.',
    no_outcome: 'Twice in a row the model ended without an answer.',
    no_progress: 'The model kept working without getting on, even after a reminder.',
    stopped_by_person: 'A person stopped it.',
    cancelled_by_caller: 'The program that had asked for it cancelled it.',
    model_refused: 'The model provider refused the call.',
    model_unavailable: 'The model gave no usable answer.',
    answered: 'Its answer was given.',
  },
  who: {
    task_principal_or_admin: 'the one who asked for it, or an admin',
    admin: 'an admin',
  },
  effects: { stop: 'ends it; what was done is kept' },
  principals: {
    host: () => 'the host',
    model: () => 'the model',
    other: (name) => name,
  },
  turnEnds: {
    answered: 'with an answer',
    failed: 'with a failure',
    invalid: 'without an answer',
    stopped: 'by a stop',
    interrupted: 'by an interruption: the host stopped before it was done',
  },
  hostStates: {
    starting: 'is starting',
    ready: 'is ready',
    draining: 'is shutting down',
    failed: 'has failed',
    stopped: 'has stopped',
  },
  events: {
    'conversation.created': () => 'The conversation began.',
    'message.accepted': ({ by }) => `A message from ${by} was accepted.`,
    'command.answered': () => 'A command was answered.',
    'task.created': ({ by, to }) => `The task was made for ${by}; it was ${to}.`,
    'task.moved': ({ from, to, cause }) => `The task went from ${from} to ${to}. ${cause}`.trim(),
    'turn.started': () => 'A turn took up its messages.',
    'turn.continued': () => 'The turn took up a further message.',
    'turn.stopping': ({ by }) =>
      `The turn was stopped by ${by}; its running calls were being ended.`,
    'turn.ended': ({ end }) => `The turn ended ${end}.`.replace('  ', ' '),
    'model.selected': ({ provider, model }) => `The model that answers is ${provider}/${model}.`,
    'run.queued': ({ by }) => `A run was ordered by ${by}.`,
    'run.started': () => 'The run was taken up.',
    'run.completed': () => 'The run ended with an answer.',
    'run.failed': ({ code }) => `The run ended without an answer (\`${code}\`).`,
    'run.cancelled': () => 'The run was cancelled.',
    'reply.queued': () => 'An answer was given.',
    'notice.queued': ({ code }) => `A notice was given (\`${code}\`).`,
  },
  help: {
    stop: 'stops what is running here, else the newest open task',
    stop_all: 'stops every open task of this conversation',
    stop_id: 'stops exactly this task',
    tasks: 'lists the open tasks of this conversation',
    tasks_held: 'lists the older tasks that are held',
    why: 'says how a task stands, what led there and what changes it',
    status: 'says how the host is',
    help: 'shows these lines',
  },
  why: {
    standing: {
      queued: ({ request, id, since }) => `${request} (${id}) has been in line since ${since}.`,
      running: ({ request, id, since }) => `${request} (${id}) has been running since ${since}.`,
      stopping: ({ request, id, when }) =>
        `${request} (${id}) was ended ${when}; its running calls are being ended.`,
      waiting: ({ request, id, since, wait }) =>
        `${request} (${id}) has been waiting ${wait} since ${since}.`,
      paused: ({ request, id, since }) => `${request} (${id}) has been paused since ${since}.`,
      blocked: ({ request, id, since }) => `${request} (${id}) has been blocked since ${since}.`,
      completed: ({ request, id, when }) => `${request} (${id}) was completed ${when}.`,
      failed: ({ request, id, when }) => `${request} (${id}) failed ${when}.`,
      stopped: ({ request, id, when }) => `${request} (${id}) was stopped ${when}.`,
      cancelled: ({ request, id, when }) => `${request} (${id}) was cancelled ${when}.`,
      expired: ({ request, id, when }) => `${request} (${id}) ran out of time ${when}.`,
    },
    behind: 'Another turn of this conversation comes first.',
    detail: (code) => `Its code: \`${code}\`.`,
    again: 'To begin anew, send the request again.',
    held: 'It is an older task that is held and does not run by itself.',
    step: ({ ordinal, tool }) =>
      tool === null
        ? `Step ${ordinal}: the model is asked.`
        : `Step ${ordinal}: the call of ${tool}.`,
    question: (question) => `It asked: ${question}`,
    until: (when) => `It is looked at again ${when}.`,
    uncertain: (tools) => `Whether ${tools} took effect is unknown; it is not run again.`,
    left: (facts) =>
      `Left: ${facts.turnsLeft} of ${facts.turns} turns, ` +
      `${facts.tokensLeft} of ${facts.tokens} tokens, ` +
      `${facts.costLeft} of ${facts.cost}, ` +
      `${facts.continuationsLeft} of ${facts.continuations} continuations, ` +
      `${facts.correctionsLeft} of ${facts.corrections} corrective turns; ` +
      `recovery checks made: ${facts.assessments}; ` +
      `deadline: ${facts.deadline ?? 'none'}.`,
    used: ({ turns, tokens, cost }) => `It used ${tokens} tokens (${cost}); turns: ${turns}.`,
    calls: {
      finished: (tool) => `${tool} was called and gave its result.`,
      failed: (tool, code) => `${tool} was called and failed (${code}).`,
      cut: (tool) => `The call of ${tool} was ended before it was done.`,
      uncertain: (tool) => `The call of ${tool} began; its outcome is unknown.`,
    },
    earlier: (count) => `Earlier events that are not shown: ${count}.`,
    later: 'There are later events that are not shown.',
    event: (time, sentence) => `${time}: ${sentence}`,
  },
  answers: {
    helpHead: 'Commands:',
    helpFoot: 'Anything else that you write is a message to the agent.',
    usage: (usage) => `This is typed as ${usage}. All commands: \`/help\`.`,
    noTasks: 'No task of this conversation is open.',
    noHeldTasks: 'No task of this conversation is held.',
    noTaskYet: 'This conversation has no task yet.',
    held: (count) => `Held: ${count}. List: \`/tasks held\`.`,
    more: (count) => `and ${count} more`,
    moreThan: (count) => `and more than ${count} more`,
    taskLine: ({ request, id, state, since }) => `${request}: ${state} since ${since}. ${id}`,
    waitingFor: (wait) => `waiting ${wait}`,
    queued: 'in line',
    running: 'running',
    commands: 'What changes it:',
    noCommands: 'No command changes it any more.',
    commandLine: ({ command, who, effect }) => `${command} (${who}): ${effect}.`,
    host: (state, when) => `The host ${state}${when === null ? '' : `; it started ${when}`}.`,
    hostReason: (reason) => `What the store said: ${reason}`,
    modelConfigured: (name) => `Model as configured: ${name}.`,
    modelAnswered: (name, when) => `Model that answered last: ${name}, ${when}.`,
    modelSilent: 'No model has answered since the host started.',
    open: (counts) => `Open tasks: ${counts}.`,
    openNone: 'No task is open.',
    openAtLeast: (counts) => `Open tasks, at least: ${counts}.`,
    openCount: (count, state) => `${count} ${state}`,
    here: (request, id) => `Running here: ${request}. ${id}`,
    droppedMessages: (count) => `Set aside without an answer: ${count} waiting messages.`,
    hereNothing: 'Nothing is running in this conversation.',
  },
  modelCall: 'the call of the model',
  andMore: (count) => `${count} more`,
};
