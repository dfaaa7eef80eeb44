import type { Catalogue, NoticeCode, NoticeFacts } from '../catalogue.ts';
import { sayCount } from '../number.ts';
import type { RecoveryTexts } from '../recovery-texts.ts';

const say = (count: number): string => sayCount({ tag: 'en-GB' }, count);

const behind = (detail: string): string => (detail === '' ? '' : ` (${detail})`);

const colon = (detail: string): string => (detail === '' ? '' : `: ${detail}`);

const quoted = (said: string | null): string => (said === null ? '' : `: ${said}`);

const unchanged = (deadline: string | null): string =>
  deadline === null
    ? 'Nothing is lost: it has no deadline, and its workers are unchanged.'
    : `Nothing is lost: its deadline (${deadline}) and its workers are unchanged.`;

/** The notices about interrupted work, history and safe mode. */
export const EN_RECOVERY_NOTICES = {
  recovery_assessment_failed: ({ request, failure, deadline, reset, why }) =>
    `I have stopped ${request}. The check that decides whether interrupted work may go on failed ` +
    `three times (last: ${failure}). ${unchanged(deadline)} ` +
    `An admin can reopen it with ${reset}. Why: ${why}.`,
  recovery_no_progress: ({ request, deadline, reset, stop, why }) =>
    `I have stopped ${request}. The check let it go on, but it was interrupted again before it had ` +
    `completed a turn, and all three checks that it had are used. ${unchanged(deadline)} ` +
    `An admin can reopen it with ${reset}. To end it: ${stop}. Why: ${why}.`,
  recovery_inconclusive: ({ request, said, resume, stop, why }) =>
    `I have stopped ${request}. The check that decides whether interrupted work may go on could not ` +
    `tell${quoted(said)}. What was done is saved, and its deadline and its workers are unchanged. ` +
    `An admin has it checked anew with ${resume}. To end it: ${stop}. Why: ${why}.`,
  order_late: ({ request, at, late, stop, why }) =>
    `${request} was to be carried out ${at ?? 'at a time that has passed'}, and that was not done in ` +
    `time. I will not do it late by myself. What was done is saved. To have it carried out late: ` +
    `${late}; to end it: ${stop}, or its deadline ends it. Why: ${why}.`,
  ended_by_assessment: ({ request, said, why }) =>
    `${request} has ended: it was interrupted, and the check that decides whether it may go on said ` +
    `that it is not to${quoted(said)}. What was done is kept, and nothing more of it will start. ` +
    `To begin anew, send the request again. Why: ${why}.`,
  assessment_unreached: ({ request, detail, stop, why }) =>
    `${request} was interrupted, and the model provider that is to check whether it may go on cannot ` +
    `be reached (${detail ?? 'no code'}). No check is used meanwhile; I look again by myself, until ` +
    `its deadline. What was done is saved. To end it: ${stop}. Why: ${why}.`,
  assessment_missed: ({ request, attempt, attempts, failure, next, why }) =>
    `Check ${attempt} of ${attempts} whether ${request} may go on failed (${failure}). ` +
    `The next one is due ${next ?? 'soon'}, and nothing of it goes on before. Why: ${why}.`,
  assessment_continues: ({ request, why }) =>
    `${request} was interrupted and may go on, as its check said. Why: ${why}.`,
  held_legacy: ({ summary }) => summary,
  restart_report: ({ summary, lines }) =>
    [
      ...(summary === '' ? [] : [summary]),
      ...(lines === '' ? [] : [`The host was started again. This is for you to decide:\n${lines}`]),
      'How the host is: `/status`.',
    ].join('\n'),
  safe_mode: ({ starts, when }) =>
    `The host ended without warning ${starts} times within ten minutes, so it has started in safe ` +
    `mode: messages and commands are answered as ever, but nothing begins by itself, and nothing is ` +
    `lost. Safe mode ends by itself ${when ?? 'after an hour'}, unless the host ends without warning ` +
    `again before; an admin ends it now with \`/safe-mode off\`. More: \`/status\`.`,
  safe_mode_over: () =>
    'Safe mode is over: what had to wait begins by itself again. More: `/status`.',
} as const satisfies Partial<Record<NoticeCode, (facts: NoticeFacts) => string>>;

export const EN_RECOVERY: RecoveryTexts = {
  failures: {
    timeout: ({ time }) => `no answer in ${time}`,
    unreached: ({ detail }) => `the model provider could not be reached${colon(detail)}`,
    limited: ({ detail }) => `the model provider let no call through${colon(detail)}`,
    failed: ({ detail }) => `the model provider gave no usable answer${colon(detail)}`,
    invalid: ({ detail }) => `its answer could not be used${colon(detail)}`,
    reserved: () => 'the host ended before the answer came',
    continue: () => 'the task was let go on',
  },
  attempts: ({ used, attempts, next }) =>
    `Checks used: ${used} of ${attempts}; the next one is due ${next ?? 'now'}.`,
  attemptsUsed: ({ used, attempts }) => `Checks used: ${used} of ${attempts}.`,
  assessing: ({ attempt, attempts }) => `Check ${attempt} of ${attempts} is being made now.`,
  last: (failure) => `The last one: ${failure}.`,
  nothingBefore: 'Nothing of it goes on before.',
  unreached:
    'The model provider that is to make the check cannot be reached; no check is used until it is ' +
    'back, and nothing of it goes on before.',
  safeModeChecks: (when) =>
    `Safe mode keeps the check from beginning: it begins once that is over, ${when} or later, or at once ` +
    'when an admin ends it with `/safe-mode off`.',
  safeModeWaits: (when) =>
    `Safe mode is on: it does not go on by itself before that is over, ${when} or later, or an admin ` +
    'ends it with `/safe-mode off`.',
  checkDecides:
    'It was interrupted, and an independent check decides by itself whether it goes on.',
  said: (said) => `What the check gave as its reason: ${said}.`,
  orderAt: (when) => `It was to be carried out ${when}.`,
  was: {
    active: () => 'Before that it was being worked on.',
    waiting: (wait) => `Before that it was waiting${wait === '' ? '' : ` ${wait}`}.`,
    paused: () => 'Before that it was paused.',
    blocked: () => 'Before that it was blocked.',
  },
  wasAsking: (question) => `It had asked: ${question}`,
  wakes:
    'An admin can wake exactly this one, in its own conversation or at the terminal; it is then ' +
    'checked first, and nothing old is replayed.',
  outcomes: {
    timeout: ({ time }) => `There was no answer in ${time}.`,
    unreached: ({ detail }) => `The model provider could not be reached${behind(detail)}.`,
    limited: ({ detail }) => `The model provider let no call through${behind(detail)}.`,
    failed: ({ detail }) => `The model provider gave no usable answer${behind(detail)}.`,
    invalid: ({ detail }) => `Its answer could not be used${behind(detail)}.`,
    reserved: () => 'The host ended before the answer came.',
    continue: () => 'It said that the task may go on.',
    end: () => 'It said that the task is not to go on.',
    inconclusive: () => 'It could not tell.',
  },
  proofs: {
    input: 'An unfinished message proves it.',
    worker: 'A worker of it proves it.',
    resume: 'An admin has woken it.',
  },
  states: {
    none: 'A turn of the task is completed, and its checks count anew.',
    needed: 'Whether the task goes on is for a check to say.',
    granted: 'The task may go on.',
    followed: 'A turn of the task began after its check.',
  },
  summary: ({ held, workersHeld, unsent }) =>
    [
      ...(held === 0 ? [] : [heldTasks(held)]),
      ...(workersHeld === 0 ? [] : [heldWorkers(workersHeld)]),
      ...(unsent === 0 ? [] : [heldMessages(unsent)]),
    ].join('\n'),
  reportLine: ({ request, cause, command }) =>
    `- ${request}: ${cause} ${command === '' ? 'To begin anew, send the request again.' : command}`,
  reportUncertain: ({ request, approve, deny }) =>
    `- ${request}: Whether a call of it took effect is unknown. Check, then: ${deny} keeps it from ` +
    `running once more, ${approve} lets it.`,
  reportMore: (count) => `and ${count} more; \`/status\` names them`,
  stands: {
    asking: ({ since }) => `it is waiting for you since ${since}`,
    active: ({ since }) => `it is active since ${since}`,
    waiting: ({ since, wait }) => `it is waiting ${wait} since ${since}`.replace('  ', ' '),
    paused: ({ since }) => `it is paused since ${since}`,
    blocked: ({ since }) => `it is blocked since ${since}`,
    completed: ({ since }) => `it has ended: completed, ${since}`,
    failed: ({ since }) => `it has ended: failed, ${since}`,
    stopped: ({ since }) => `it has ended: stopped, ${since}`,
    cancelled: ({ since }) => `it has ended: cancelled, ${since}`,
    expired: ({ since }) => `it has ended: its deadline passed, ${since}`,
  },
  workers: {
    not_held: 'This worker is not held.',
    no_task: 'Nobody knows which task this worker belongs to.',
    other_mandate: 'This worker was bound to another request than that of its task.',
    task_held: 'The task of this worker is held itself.',
  },
  silent: ({ since }) => `it stands still since ${since}, and no reason is on record`,
};

function heldTasks(count: number): string {
  const found =
    count === 1
      ? '1 older task was found that nothing proves to be ongoing. It is kept as it is and will not ' +
        'run by itself.'
      : `${say(count)} older tasks were found that nothing proves to be ongoing. They are kept as they are ` +
        'and will not run by themselves.';
  return `${found} List: \`/tasks held\`. To wake exactly one: \`/task-resume ID\`.`;
}

function heldWorkers(count: number): string {
  return count === 1
    ? '1 worker is held too and does not start by itself.'
    : `${say(count)} workers are held too and do not start by themselves.`;
}

function heldMessages(count: number): string {
  return count === 1
    ? 'Whether 1 message was sent before is unknown; it is not sent again by itself.'
    : `Whether ${say(count)} messages were sent before is unknown; they are not sent again by themselves.`;
}

/** The notices of a catalogue that this file has. */
export type RecoveryNotices = Pick<Catalogue['notices'], keyof typeof EN_RECOVERY_NOTICES>;
