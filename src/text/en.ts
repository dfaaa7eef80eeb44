import type { Catalogue, RefusalFacts } from './catalogue.ts';
import { EN_ANSWERS } from './en/answers.ts';
import {
  EN_MAINTENANCE,
  EN_MAINTENANCE_EVENTS,
  EN_MAINTENANCE_REFUSALS,
  EN_SESSIONS,
} from './en/maintenance.ts';
import { EN_NOTICES } from './en/notices.ts';
import { EN_RECOVERY } from './en/recovery.ts';
import { EN_WHY } from './en/why.ts';

const nearestOf = (facts: RefusalFacts): string =>
  facts.nearest === undefined ? '' : ` The nearest is \`${facts.nearest}\`.`;

const whyOf = ({ id }: RefusalFacts): string =>
  id?.startsWith('task_') === true ? ` Why: \`/why ${id}\`.` : '';

const wayOf = ({ way, isReply = false }: RefusalFacts): string =>
  (isReply ? ' A reply lets it go on.' : '') +
  (way === undefined ? '' : ` What is possible: \`${way}\`.`);

export const EN: Catalogue = {
  tag: 'en-GB',
  atTime: (time) => `at ${time}`,
  onDay: (day) => `on ${day}`,
  quotes: ['“', '”'],
  notices: EN_NOTICES,
  unknownNotice: (code, { request, why }) => `${request}: \`${code}\`. Why: ${why}.`,
  refusals: {
    not_found: (facts) =>
      `Nothing here has ${facts.id === undefined ? 'this id' : `the id \`${facts.id}\``}.` +
      nearestOf(facts),
    ambiguous_id: (facts) =>
      `${facts.id === undefined ? 'This id' : `The id \`${facts.id}\``} fits more than one. ` +
      `Please type all of it${facts.nearest === undefined ? '.' : `: \`${facts.nearest}\`.`}`,
    forbidden: ({ who }) => `Only ${who ?? 'the one who asked for it, or an admin,'} may do this.`,
    version_conflict: ({ id }) =>
      'It has changed since you read it, so nothing was done. Read it again, then decide.' +
      (id?.startsWith('mop_') === true ? ` How it stands: \`/why ${id}\`.` : ''),
    receipt_used: () =>
      'This receipt was used for something else, so nothing was done. Use a new one.',
    run_ended: () => 'This run has ended and takes no further message. Start a new run.',
    task_ended: (facts) =>
      `This task has ended${facts.state === undefined ? '' : ` (${facts.state})`} and keeps ` +
      `its end. To begin anew, send the request again.`,
    nothing_to_stop: () => 'Nothing of this conversation is running or open. `/tasks` lists tasks.',
    not_allowed_now: (facts) =>
      facts.cause !== undefined
        ? `${facts.cause} So nothing was done.${wayOf(facts)}${whyOf(facts)}`
        : `This is not possible ${facts.state === undefined ? 'now' : `while it is ${facts.state}`}, ` +
          `so nothing was done.${wayOf(facts)}` +
          (facts.id === undefined ? '' : ` Why: \`/why ${facts.id}\`.`),
    not_here: ({ id }) =>
      'A held task is woken in its own conversation or at the terminal, so nothing was done.' +
      (id === undefined ? '' : ` Why: \`/why ${id}\`.`),
    approval_closed: (facts) =>
      `This approval is closed${facts.state === undefined ? '' : ` (${facts.state})`}, so nothing ` +
      `was done.${wayOf(facts)}`,
    approver_other: () =>
      'Somebody other than the one who asked for it has to answer this approval, so nothing was ' +
      'done.',
    not_budget_blocked: (facts) =>
      'This task is not blocked by a used-up recovery budget' +
      `${facts.standing === undefined ? '' : ` (${facts.standing})`}.` +
      (facts.isAsking === true ? ' To answer it, just reply.' : wayOf(facts)) +
      (facts.hasEnded === true ? ' To begin anew, send the request again.' : ''),
    deadline_passed: (facts) =>
      `The deadline of this task has passed${facts.when === undefined ? '' : `, ${facts.when}`}, so ` +
      `nothing was done.${facts.way === undefined ? ' To begin anew, send the request again.' : wayOf(facts)}`,
    budget_exhausted: (facts) =>
      `A budget of this task is used up${facts.limit === undefined ? '' : ` (${facts.limit})`}, so ` +
      'nothing was done.' +
      (facts.way === undefined
        ? ` An admin grants it more with \`/extend ${facts.taskId ?? facts.id ?? 'ID'} turns=+10\`, or whatever is used up.`
        : wayOf(facts)),
    conversation_busy: () =>
      'A turn runs in the conversation of this task, so nothing was done. Do it again when that has ' +
      'ended; `/stop` there ends it now.',
    not_a_task: (facts) =>
      `${facts.id === undefined ? 'This id' : `The id \`${facts.id}\``} is not that of a task, so ` +
      `nothing was done. \`/tasks\` lists tasks.`,
    ...EN_MAINTENANCE_REFUSALS,
    no_safe_mode: () => 'Safe mode is not on, so nothing was done.',
    still_exhausted: (facts) =>
      `With that it would still have used up more than it was granted, so nothing was ` +
      `done.${wayOf(facts)}`,
    unknown_model: (facts) =>
      `No configured model has ${facts.word === undefined ? 'this name' : `the name \`${facts.word}\``}.` +
      `${nearestOf(facts)} All of them: \`/model\`.`,
    clock_trusted: () => 'The clock is trusted already, so nothing was done.',
    idempotency_conflict: () =>
      'The same idempotency key came before with another request, so nothing was done. ' +
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
    assessment: 'for the check after an interruption',
  },
  causes: {
    interrupted:
      'The host stopped while it worked on it; an independent check decides whether it goes on.',
    awaits_instant: 'It set itself the time at which it goes on.',
    awaits_answer: 'It asked a question.',
    awaits_approval: 'A call of it needs the approval of a person.',
    awaits_quota: 'The quota of the model provider is used up for now.',
    awaits_provider: 'The model provider gave no usable answer, and it is asked again by itself.',
    paused: 'A person set it aside.',
    wait_elapsed: 'The time for what it waited for is over.',
    no_outcome: 'Twice in a row the model ended without an answer.',
    no_progress: 'The model kept working without getting on, even after a reminder.',
    quota: 'The quota of the model provider did not come back in time.',
    budget_exhausted: 'A budget of it is used up.',
    base_too_large: 'It does not fit what the model can see at once.',
    recovery_assessment_failed:
      'The check that decides whether interrupted work may go on failed three times.',
    recovery_no_progress:
      'Its check let it go on, but it was interrupted again before it had completed a turn, and all ' +
      'three checks are used.',
    recovery_inconclusive:
      'The check that decides whether interrupted work may go on could not tell.',
    order_late: 'The time at which it was to be carried out has passed.',
    held_legacy:
      'It is an older task that nothing proves to be ongoing; it is kept as it was and does not run ' +
      'by itself.',
    ended_by_assessment:
      'It was interrupted, and the check that decides whether it may go on said that it is not to.',
    stopped_by_person: 'A person stopped it.',
    cancelled_by_caller: 'The program that had asked for it cancelled it.',
    deadline_passed: 'Its deadline has passed.',
    model_refused: 'The model provider refused the call.',
    model_unavailable: 'The model gave no usable answer.',
    answered: 'Its answer was given.',
  },
  absences: {
    due: 'Its time came while no host ran; an independent check decides whether it goes on.',
    wait:
      'The host stopped without warning while it waited; an independent check decides whether it ' +
      'goes on.',
    void: 'It was let go on, but no turn of it began in time; it is checked anew whether it goes on.',
  },
  mends: {
    key: 'What helps is a valid key for this provider in the configuration, and a new start of the host.',
    balance: 'What helps is balance on the account at this provider.',
    rights: 'What helps is a key that may use this model, or another model.',
    name: 'What helps is the right name of the model in the configuration, and a new start of the host.',
  },
  approvals: { open: 'open', approved: 'approved', denied: 'denied', expired: 'expired' },
  limits: {
    turns: 'turns',
    tokens: 'tokens',
    costUsd: 'money',
    continuations: 'continuations in a row',
    budget: 'budget',
  },
  shown: {
    folder: (path) => `in the folder ${path}`,
    environment: (names) => `with the environment variables ${names}`,
    file: (path) => `with the file ${path} as it is now`,
    missingFile: (path) => `with the file ${path}, which is not there now`,
  },
  drift: { ahead: (time) => `${time} ahead of`, behind: (time) => `${time} behind` },
  who: {
    task_principal_or_admin: 'the one who asked for it, or an admin',
    admin: 'an admin',
    other_admin: 'an admin other than the one who asked',
    person: 'anyone who may write here',
  },
  effects: {
    stop: 'ends it; what was done is kept',
    pause: 'sets it aside until it is resumed',
    resume: 'lets it go on with one new turn',
    late: 'carries it out late',
    enrol: 'wakes exactly this one; a check then decides whether it goes on',
    reopen: 'has it checked anew, up to three times, whether it may go on',
    extend: 'grants it more, and it goes on',
    approve: 'lets exactly the call that was shown run, once',
    approve_again: 'lets exactly the call that was shown run once more, when the task goes on',
    deny: 'refuses the call, and it goes on without',
    deny_again: 'keeps the call from running once more',
    safe_mode_off: 'ends safe mode, and what had to wait begins by itself again',
    fresh: 'begins a fresh session, in which it starts over from its request',
    admit: 'lets the conversation go on, with up to seven further failures',
    handover:
      'lets the conversation go on in a following session, without repeating what has no sure end',
    drop: 'gives it up and begins a fresh session, in which kept messages are answered',
  },
  principals: {
    host: () => 'the host',
    model: () => 'the model',
    other: (name) => name,
  },
  turnEnds: {
    answered: 'with an answer',
    waited: 'in a wait',
    continued: 'so that a further turn goes on',
    parked: 'at the border of a step, and what was done is saved',
    yielded: 'at the border of a step, for a new message',
    blocked: 'before it would have spent more than its task may',
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
    'task.moved': ({ from, to, cause }) =>
      `${from === to ? `The task stayed ${to}` : `The task went from ${from} to ${to}`}. ${cause}`.trim(),
    'task.noted': ({ note }) => `The task noted how far it is: ${note}.`,
    'task.continued': () => 'The task goes on by itself in a further turn.',
    'task.extended': ({ by }) => `The task was granted more by ${by}.`,
    'task.held': ({ was }) => `The task was set aside as an older one. ${was}`.trim(),
    'task.enrolled': ({ outcome }) => `The task belongs to ongoing work. ${outcome}`.trim(),
    'worker.enrolled': ({ by }) => `${by} woke a held worker of it.`,
    'assessment.reserved': ({ attempt, attempts }) =>
      `Check ${attempt} of ${attempts} whether the task may go on was begun.`,
    'assessment.ended': ({ attempt, attempts, outcome, note }) =>
      `Check ${attempt} of ${attempts} ended. ${outcome}` +
      (note === '' ? '' : ` Its reason: ${note}.`),
    'recovery.state': ({ outcome }) => outcome,
    'recovery.reset': ({ by }) => `Three further checks were granted by ${by}.`,
    'turn.started': () => 'A turn took up its messages.',
    'turn.continued': () => 'The turn took up a further message.',
    'turn.stopping': ({ by }) =>
      `The turn was stopped by ${by}; its running calls were being ended.`,
    'turn.ended': ({ end }) => `The turn ended ${end}.`.replace('  ', ' '),
    'model.selected': ({ provider, model }) => `The model that answers is ${provider}/${model}.`,
    'model.retried': ({ provider, model, code }) =>
      `A call of the model failed (\`${code}\`); the next try goes to ${provider}/${model}.`,
    'approval.asked': ({ tool, approvalId }) =>
      `A call of ${tool} waits for the approval of a person (${approvalId}).`,
    'approval.decided': ({ by, approvalId, decision }) =>
      `The approval ${approvalId} was ${decision}; this came from ${by}.`,
    'session.started': ({ by, outcome }) =>
      outcome === '' ? `A fresh session was begun by ${by}.` : outcome,
    'conversation.model': ({ by, model }) => `The model ${model} was chosen by ${by}.`,
    ...EN_MAINTENANCE_EVENTS,
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
    tasks_held: 'lists the older tasks that are held, page by page',
    why: 'says how a task or an operation stands, what led there and what changes it',
    status: 'says how the host is',
    new: 'begins a fresh session and says what remains (while room is being made: an admin)',
    reset: 'does the same as `/new`',
    model: 'says which model this conversation uses, what it costs and which others there are',
    model_name: 'chooses the model of this conversation (an admin)',
    context: 'says what fills the window of the model, by part',
    usage: 'says what tokens and money were used, by task and day',
    pause: 'sets this task aside until it is resumed',
    extend: 'grants this task more of the budgets that it names (an admin)',
    task_resume:
      'lets this task go on with one new turn; one that is held or undecided is checked first (an admin)',
    task_resume_late: 'carries out late what was to be done at a time that has passed',
    budget_reset: 'has an interrupted task checked anew whose three checks are used up (an admin)',
    approve: 'lets exactly the call that was shown run, once',
    deny: 'refuses the call that was shown',
    admit: 'lets a paused conversation go on (an admin)',
    admit_handover:
      'the same in a following session, where shortening the old one came to no sure end (an admin)',
    session: 'lists the sessions of this conversation',
    session_id: 'says what a session holds: when it was, its summary, what was said last',
    clock_confirm: "says that the machine's clock is right as it stands (an admin)",
    safe_mode_off: 'lets the host begin work by itself again (an admin)',
    help: 'shows these lines',
  },
  why: EN_WHY,
  recovery: EN_RECOVERY,
  maintenance: EN_MAINTENANCE,
  sessions: EN_SESSIONS,
  answers: EN_ANSWERS,
  modelCall: 'the call of the model',
  someCall: 'a call',
  andMore: (count) => `${count} more`,
};
