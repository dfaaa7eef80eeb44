import type { Catalogue, EventFacts, NoticeFacts, RefusalFacts } from '../catalogue.ts';
import type { EventType } from '../../kernel/event.ts';
import type { RefusalCode } from '../../kernel/fault.ts';
import type { MaintenanceTexts, SessionTexts } from '../maintenance-texts.ts';

const brackets = (text: string | null): string => (text === null ? '' : ` (${text})`);

const PAUSED = 'This conversation is paused';
const KEPT = 'Nothing is lost and new messages are kept.';

const howOf = ({ id }: RefusalFacts): string =>
  id?.startsWith('mop_') === true ? ` How it stands: \`/why ${id}\`.` : '';

/** The notices about the upkeep of a conversation's context. */
export const EN_MAINTENANCE_NOTICES = {
  maintenance_waiting: ({ fault, next }) =>
    `I am making room in this conversation and the last step failed${brackets(fault)}. ` +
    `I will try again by myself, ${next === null ? 'soon' : `next ${next}`}. ` +
    `Your messages are kept and will be answered in order.`,
  maintenance_exhausted: ({ fault, isSame, times, admit }) =>
    `${PAUSED}: making room in it failed ${times} in a row` +
    `${brackets(fault === null ? null : `${isSame ? 'each time' : 'last'}: ${fault}`)}. ${KEPT} ` +
    `When the cause is mended, an admin can let it go on with ${admit}.`,
  maintenance_uncertain: ({ fault, step, isReconciled, admit, handover }) =>
    `${PAUSED}: ${step} to make room in it came to no sure end${brackets(fault)}. ` +
    `Whether it took effect is unknown, so I do not repeat it by myself. ${KEPT} ` +
    (isReconciled
      ? `An admin can let it go on in a following session, without repeating that, with ${handover}; `
      : `An admin can let it go on with ${admit}, and it is first looked at how far it came; `) +
    `to give it up and begin a fresh session: \`/new\`.`,
  maintenance_too_large: ({ sizes, ends, admit }) =>
    `${PAUSED}: what every request has to hold does not fit what the model can see at once ` +
    `(${sizes.window} tokens). The instructions take ${sizes.instructions}, the tools ${sizes.tools}, ` +
    `the summary and what is restated beside it ${sizes.seed}, the newest words ${sizes.message}, and ` +
    `${sizes.reserve} are kept free for the answer. ${KEPT} What helps is a model with a larger window, shorter instructions, fewer ` +
    `tools or a shorter message` +
    `${ends === null ? '' : ` (${ends} ends the request that these words belong to)`}. After that an admin can let it go on with ${admit}; to give it up and ` +
    `begin a fresh session: \`/new\`.`,
  maintenance_over: ({ why }) =>
    `There is room in this conversation again, and work goes on: what was kept is answered in order. ` +
    `How it went: ${why}.`,
  maintenance_kept: ({ paused, why }) =>
    `Your message is kept and not answered yet, because this conversation is paused` +
    `${brackets(paused === '' ? null : paused)}. It is answered in order once an admin lets the ` +
    `conversation go on. How: ${why}.`,
} as const satisfies Partial<Record<string, (facts: NoticeFacts) => string>>;

export const EN_MAINTENANCE_REFUSALS = {
  not_blocked: (facts) =>
    `${facts.id === undefined ? 'This' : `\`${facts.id}\``} is not blocked` +
    `${facts.state === undefined ? '' : ` (it ${facts.state})`}, so nothing was done.${howOf(facts)}`,
  handover_only: (facts) =>
    'Shortening the session came to no sure end and is not repeated, so nothing was done. An admin lets ' +
    `it go on in a following session with \`/admit ${facts.id ?? 'ID'} handover\`.`,
  no_handover: (facts) =>
    'Only shortening a session that came to no sure end goes on as a handover, so nothing was done. An ' +
    `admin lets this go on with \`/admit ${facts.id ?? 'ID'}\`.`,
  fenced: (facts) =>
    `Making room in this conversation is not finished, so nothing was done. Only ${facts.who ?? 'an admin'} ` +
    `may give that up and begin a fresh session; messages are kept.${howOf(facts)}`,
} as const satisfies Partial<Record<RefusalCode, (facts: RefusalFacts) => string>>;

export const EN_MAINTENANCE_EVENTS = {
  'operation.started': ({ outcome }) =>
    `Making room in the conversation began. ${outcome}`.trimEnd(),
  'operation.reserved': ({ step, attempt }) => `Try ${attempt} began: ${step}.`,
  'operation.moved': ({ outcome }) => outcome,
  'operation.admitted': ({ by, step }) =>
    `It was let go on by ${by}, with up to seven further failures; its step: ${step}.`,
  'conversation.fence': ({ outcome }) => outcome,
  'session.compacted': () =>
    'The older part of the session was summarised; what was said stays in the store.',
  'session.archived': () => 'The session was linked to the one that follows it.',
  'session.seeded': () => 'The session that follows was given the summary.',
  'notice.prepared': ({ code }) =>
    `A notice was prepared and leaves unless it is over soon (\`${code}\`).`,
  'notice.withdrawn': () => 'The prepared notice was withdrawn: it was over before.',
  'run.told': () => 'The run was told of a notice of its conversation.',
} as const satisfies Partial<Record<EventType, (facts: EventFacts) => string>>;

export const EN_MAINTENANCE: MaintenanceTexts = {
  faults: {
    disk_io: () => 'disk: input/output error',
    disk_full: () => 'disk: no space left',
    disk_readonly: () => 'disk: can only be read',
    disk_denied: () => 'disk: no permission',
    summary_empty: () => 'the summary was empty',
    summary_long: () => 'the summary was too long',
    summary_unusable: ({ detail }) => `the summary could not be used: ${detail}`,
    other_session: () => 'the summary was of another session',
    interrupted: () => 'the host ended before the step was done',
    too_long: () => 'it still did not fit what the model can see',
    other: ({ detail }) => detail,
  },
  times: (failures) => (failures === 7 ? 'seven times' : `${failures} times`),
  steps: {
    compact: 'shortening the session',
    summarise: 'summarising the session',
    'archive-link': 'linking the session to the next',
    rotate: 'moving to the next session',
    seed: 'giving the next session its summary',
  },
  states: {
    running: 'is running',
    waiting: 'waits and is tried again by itself',
    blocked: 'is blocked',
    done: 'is done',
    dropped: 'was given up',
  },
  reasons: {
    exhausted: 'making room in it failed seven times in a row',
    uncertain: 'whether a step of making room in it took effect is unknown',
    base_too_large: 'what every request has to hold does not fit what the model can see at once',
  },
  occasions: {
    usage: 'What the model can see at once was nearly full.',
    steps: 'The session had very many steps.',
    full: 'The next request did not fit what the model can see at once.',
    too_long: 'The model provider said that the request was too long.',
  },
  fences: {
    none: 'The conversation goes on as ever.',
    shut: 'No turn begins in the conversation until there is room.',
    blocked: 'The conversation is paused until an admin lets it go on.',
    passed: 'Turns begin in the conversation again.',
  },
  standing: {
    running: ({ id, conversation, began }) =>
      `Making room in the conversation ${conversation} (${id}) began ${began} and is running.`,
    waiting: ({ id, conversation, began, since }) =>
      `Making room in the conversation ${conversation} (${id}) began ${began} and has been waiting for ` +
      `its next try since ${since}.`,
    blocked: ({ id, conversation, began, since }) =>
      `Making room in the conversation ${conversation} (${id}) began ${began} and has been blocked ` +
      `since ${since}.`,
    done: ({ id, conversation, began, when }) =>
      `Making room in the conversation ${conversation} (${id}) began ${began} and was done ${when}.`,
    dropped: ({ id, conversation, began, when }) =>
      `Making room in the conversation ${conversation} (${id}) began ${began} and was given up ${when}.`,
  },
  compacts: (session) =>
    `It is about the session ${session}: its older part summarised, the newest kept word for word.`,
  handsOver: ({ session, next }) =>
    `It is about the session ${session}: summarised, and followed by a next one${next === null ? '' : `, ${next}`}.`,
  step: (step) => `Its step: ${step}.`,
  trying: (since) => `That is being tried since ${since}.`,
  because: (reason) => `Why it is blocked: ${reason}.`,
  sizes: ({ window, reserve, instructions, tools, seed, message }) =>
    `Tokens: the model can see ${window}, of which ${reserve} are kept free for the answer; the ` +
    `instructions take ${instructions}, the tools ${tools}, the summary and what is restated beside it ` +
    `${seed}, the newest words ${message}.`,
  failures: ({ failures, max, lifetime, attempts }) =>
    `Failures in a row: ${failures} of ${max}; in its lifetime: ${lifetime}; tries in its lifetime: ${attempts}.`,
  last: (fault) => `What the last one said: ${fault}.`,
  next: (when) => `It is tried again by itself ${when ?? 'now'}.`,
  quota: 'It waits for the quota of the model provider, which is no failure.',
  kept: (count) =>
    'Nothing of the conversation is lost; no turn begins in it meanwhile, and messages are kept and will ' +
    `be answered in order${count === null ? '' : ` (kept so far: ${count})`}.`,
  used: ({ tokens, cost }) => `It used ${tokens} tokens (${cost}).`,
  noCommand: 'No command is needed: it goes on by itself.',
  failed: ({ fault, failures, max }) =>
    `A step of it failed${fault === '' ? '' : ` (${fault})`}; failures in a row: ${failures} of ${max}.`,
  waits: 'It waits for its next try.',
  goesOn: (step) => `It went on: ${step}.`,
  blocked: (reason) => `It was blocked${reason === '' ? '' : `: ${reason}`}.`,
  done: 'It was done: there is room in the conversation again.',
  dropped: 'It was given up.',
  nextSession: 'The session that follows was begun.',
  admitted: (step) =>
    `Making room in the conversation goes on (${step}), with up to seven further failures. What was kept ` +
    'is then answered in order.',
  admittedHandover:
    'Making room in the conversation goes on as a handover: what the session holds is summarised and goes ' +
    'on in a following one, and what has no sure end is not repeated. What was kept is then answered in ' +
    'order.',
  givenUp:
    'Making room in the session before is given up; messages that were kept are answered in this one.',
  here: {
    shut: ({ why }) =>
      `Room is being made in this conversation; messages are kept and answered in order after that. ` +
      `How it stands: ${why}.`,
    blocked: ({ reason, why }) =>
      `${PAUSED}${reason === '' ? '' : `: ${reason}`}. Messages are kept. What changes it: ${why}.`,
  },
  everywhere: ({ running, waiting, blocked }) =>
    `Conversations in which room is being made: ${running}; that wait for a next try: ${waiting}; that ` +
    `are paused until an admin lets them go on: ${blocked}.`,
  decision: ({ conversation, reason, command }) =>
    `- The conversation ${conversation} is paused: ${reason}. ${command}`,
  fenced: {
    shut: (why) =>
      `Room is being made in its conversation, and no turn of it begins before that is done: ${why}.`,
    blocked: (why) =>
      `Its conversation is paused, and no turn of it begins before an admin lets that go on: ${why}.`,
  },
};

export const EN_SESSIONS: SessionTexts = {
  line: ({ id, began, ended, links }) =>
    `${id}: began ${began}, ${ended === null ? 'in use' : `ended ${ended}`}.${links === '' ? '' : ` ${links}`}`,
  previous: (id) => `It goes on from ${id}.`,
  next: (id) => `It goes on in ${id}.`,
  more: 'What one of them holds: `/session ID`.',
  compactions: (count) =>
    `How often it was shortened: ${count}. What was said stays in the store, word for word.`,
  summary: (text) => `The summary that stands for what is older: ${text}`,
  noSummary: 'Nothing of it is summarised: the model sees it word for word.',
  conditions: 'What is to hold from then on, as it was said:',
  last: 'What was said last:',
  nothingSaid: 'Nothing was said in it.',
  said: (who, text) => `- ${who}: ${text}`,
  agent: 'the agent',
};

/** What a catalogue takes from this file. */
export type MaintenanceNotices = Pick<Catalogue['notices'], keyof typeof EN_MAINTENANCE_NOTICES>;
export type MaintenanceRefusals = Pick<Catalogue['refusals'], keyof typeof EN_MAINTENANCE_REFUSALS>;
export type MaintenanceEvents = Pick<Catalogue['events'], keyof typeof EN_MAINTENANCE_EVENTS>;
