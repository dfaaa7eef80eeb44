import type { AnswerTexts, ReopenedFacts } from '../answer-texts.ts';

/** When a check begins; safe mode holds it back, whatever is due (R-16). */
const dueOf = ({ when, safeMode }: Pick<ReopenedFacts, 'when' | 'safeMode'>): string =>
  safeMode === null
    ? (when ?? 'at once')
    : `once safe mode is over, ${safeMode} or later, or at once when an admin ends it with \`/safe-mode off\``;

export const EN_ANSWERS: AnswerTexts = {
  helpHead: 'Commands:',
  helpFoot: 'Anything else that you write is a message to the agent.',
  usage: (usage) => `This is typed as ${usage}. All commands: \`/help\`.`,
  noTasks: 'No task of this conversation is open.',
  noHeldTasks: 'No task of this conversation is held.',
  noneHeld: 'No task is held.',
  heldMore: (count, next) => `and ${count} more: \`${next}\``,
  heldNoPage: (count) => `Held are ${count}, so there is no such page. The first: \`/tasks held\`.`,
  heldWake:
    'None of them runs by itself. To wake exactly one, an admin types `/task-resume ID` in its own ' +
    'conversation or at the terminal.',
  noTaskYet: 'This conversation has no task yet.',
  held: (count) => `Held: ${count}. List: \`/tasks held\`.`,
  more: (count) => `and ${count} more`,
  moreThan: (count) => `and more than ${count} more`,
  taskLine: ({ request, id, state, since }) => `${request}: ${state} since ${since}. ${id}`,
  doingLine: ({ request, id, doing }) => `${request}: ${doing}. ${id}`,
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
  here: ({ request, id, doing }) => `Here runs ${request}: ${doing}. ${id}`,
  stoppedAll: (requests) => `Stopped: ${requests}.`,
  droppedMessages: (count) => `Waiting messages that were set aside without an answer: ${count}.`,
  hereNothing: 'Nothing is running in this conversation.',

  limiter: ({ name, state, until }) =>
    `The model provider of ${name} ${state}${until === null ? '' : `; looked at again ${until}`}.`,
  limiterStates: {
    open: 'can be used',
    limited: 'lets only few calls through',
    down: 'does not answer calls',
    unreached: 'cannot be reached',
    refused: 'refuses the key or the account',
  },
  safeMode: ({ since, until }) =>
    `Safe mode is on since ${since}: nothing begins by itself until ${until}, or longer if the host ends ` +
    'without warning again before. An admin ends it with `/safe-mode off`.',
  decisions: 'For you to decide:',
  interrupted: ({ count, now, until = null }) =>
    `Interrupted tasks that a check decides about: ${count}` +
    (now === null ? '' : `; being checked now: ${now}`) +
    (until === null ? '.' : `; safe mode keeps the checks from beginning until ${until}.`),
  heldEverywhere: (count) => `Older tasks that are held: ${count}. Here: \`/tasks held\`.`,
  heldSince: (was) => (was === null ? 'held.' : `held; before that it was ${was}.`),
  clockDistrusted: ({ drift, when }) =>
    `The clock is not trusted: it stands ${drift} what the host counted. Until ${when} nothing ` +
    `expires and nothing begins by itself. If it is right as it stands: \`/clock confirm\`.`,
  storeLogLarge: (size) =>
    `The log of the store has grown to ${size}, because something holds the store open to read. ` +
    'Nothing is lost and nothing waits for it; end what reads, such as a copy that was begun.',
  storeDiskFull: () =>
    'The disk of the store is full. What is new is refused, what was taken is kept; make room, and ' +
    'the host goes on by itself.',

  newSession: ({ retained }) =>
    'A fresh session begins: the model no longer sees what was said before, and nothing is ' +
    `deleted.\n${retained === '' ? 'Nothing else is open.' : `What remains:\n${retained}`}`,
  retainedApproval: ({ tool, request, id, when }) =>
    `the approval of ${tool} for ${request}; without an answer it is denied ${when}. ${id}`,
  setAside: (count) => `Messages that nobody had taken up are set aside unanswered: ${count}.`,

  modelInUse: ({ name, price }) => `The model of this conversation is ${name} (${price}).`,
  prices: {
    free: 'free of charge',
    'costs-money': 'costs money',
    unpriced: 'its price is not known, so its cost is not counted',
  },
  rates: ({ input, output }) => `${input} per million tokens in, ${output} out`,
  modelChoice: ({ name, price }) => `- ${name} (${price})`,
  modelChoices: (list) => `Models to choose from with \`/model NAME\`:\n${list}`,
  modelSet: (name) =>
    `From its next step on this conversation uses ${name}. What it said before stays in its session.`,

  contextHead: ({ used, window, name }) =>
    `The next request takes about ${used} of the ${window} tokens that ${name} can see:`,
  contextParts: {
    instructions: 'the instructions',
    tools: 'the descriptions of the tools',
    summary: 'the summary of what is older',
    facts: 'what the host itself restates, open work and what is to hold',
    history: 'what was said and done before, word for word',
    reserve: 'kept free for the answer',
    free: 'free',
  },
  contextLine: (part, tokens) => `- ${part}: ${tokens}`,
  contextOver:
    'That is more than a request holds: room is made before the next turn goes on, and where there is none to ' +
    'make, the conversation is paused.',
  contextTurns: (part, turns) => `${part} (turns: ${turns})`,

  usageDay: ({ day, tokens, cost, calls }) =>
    `${day}: ${tokens} tokens, ${cost}; calls of models: ${calls}.`,
  usageModel: ({ name, tokens, cost, calls }) =>
    `- ${name}: ${tokens} tokens, ${cost}; calls: ${calls}.`,
  usageTask: ({ request, id, tokens, cost, calls }) =>
    `- ${request}: ${tokens} tokens, ${cost}; calls: ${calls}. ${id}`,
  usageTasks: 'By task, the largest first:',
  usageOwn: 'Your tasks of this conversation, the newest first:',
  usageOwnTask: ({ request, id, tokens, cost }) => `- ${request}: ${tokens} tokens, ${cost}. ${id}`,
  usageNone: (day) => `${day}: nothing was used.`,
  usageUnpriced: (count) =>
    `Calls whose price is not known, so that their cost is not counted: ${count}.`,

  approved: ({ tool, request }) =>
    `Approved: ${tool} for ${request} runs once, exactly as it was shown.`,
  approvedForLater: ({ tool, request }) =>
    `Approved: ${tool} for ${request} is kept and runs once, exactly as it was shown, ` +
    'when the task goes on.',
  approvedForInterrupted: ({ tool, request, stop }) =>
    `Approved: ${tool} for ${request} is kept and runs once, exactly as it was shown, ` +
    `if an independent check lets the task go on. To end it: ${stop}.`,
  denied: ({ tool, request }) => `Denied: ${tool} for ${request} does not run.`,
  deniedAgain: ({ tool, request }) =>
    `Denied: ${tool} for ${request} does not run once more. Whether it ran before is unknown.`,
  resumed: (request) => `${request} goes on from what is saved, with one new turn.`,
  enrolled: ({ request, deadline, ...due }) =>
    `${request} belongs to ongoing work again. It is checked first whether it goes on, ` +
    `${dueOf(due)}. Nothing old is replayed; its budgets and its deadline ` +
    `(${deadline ?? 'none'}) are as before.`,
  enrolledSpent: ({ request, reset }) =>
    `${request} belongs to ongoing work again, but the checks that it had are used up, so nothing of ` +
    `it goes on. An admin has it checked anew with ${reset}.`,
  reassessed: ({ request, deadline, ...due }) =>
    `${request} is checked anew whether it goes on: ${dueOf(due)}. Nothing old is replayed; ` +
    `its budgets and its deadline (${deadline ?? 'none'}) are as before.`,
  budgetReset: ({ request, deadline, ...due }) =>
    `${request} may be checked three times more whether it goes on; the next check is due ` +
    `${dueOf(due)}. Nothing old is replayed; its budgets and its deadline ` +
    `(${deadline ?? 'none'}) are as before.`,
  resumedLate: (request) =>
    `${request} is carried out late, with one new turn. Its budgets and its deadline are as before.`,
  paused: (request) => `${request} is paused: what was done is kept, and nothing of it runs.`,
  extended: ({ request, left }) => `${request} has more to spend. ${left}`,
  clockConfirmed: 'The clock is trusted again: what was due meanwhile happens now.',
  safeModeEnded: 'Safe mode is over: what had to wait begins by itself again.',
  repeatedOrder: 'This order was carried out before; nothing was done again. It said:',
};
