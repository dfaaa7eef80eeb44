import type { Catalogue } from '../catalogue.ts';
import { EN_MAINTENANCE_NOTICES } from './maintenance.ts';
import { EN_RECOVERY_NOTICES } from './recovery.ts';

const ending = (calls: string | null): string =>
  calls === null ? '' : `Still being ended: ${calls}. `;

/** The call as a block of its own, between the sentences around it. */
const block = (shown: string): string => (shown === '' ? ' ' : `\n${shown}\n`);

const SAVED = 'What was done is saved, and it stays as it is until you decide.';

const reply = (id: string): string =>
  `A reply to this, or a message that names \`${id}\`, lets it go on too.`;

const INTERRUPTIONS = {
  turn: 'the host stopped while it worked on it',
  due: 'its time came while no host ran',
  wait: 'the host stopped without warning while it waited',
  void: 'it was let go on, but no turn of it began in time',
} as const;

const to = (model: string | null): string => (model === null ? '' : ` to ${model}`);

export const EN_NOTICES: Catalogue['notices'] = {
  interrupted: ({ request, tools, absent, stop, why }) =>
    `${request} was interrupted: ${INTERRUPTIONS[absent ?? 'turn']}. ` +
    (tools === null
      ? ''
      : `Whether ${tools} took effect is unknown; I will not run it again, so please check. `) +
    `What was done is saved, and an independent check decides whether it goes on. ` +
    `To end it: ${stop}. Why: ${why}.`,
  awaits_instant: ({ request, when, stop, pause, why }) =>
    `${request} waits and goes on by itself ${when ?? 'at the time that it set'}, if the host runs until then. ` +
    `What was done is saved. To end it: ${stop}; to set it aside: ${pause}. Why: ${why}.`,
  awaits_approval: ({ request, tool, shown, isOther, when, ...ways }) =>
    `${request} needs your approval before ${tool} runs. Nothing of this has run yet:` +
    block(shown) +
    `To let exactly this run, once: ${ways.approve}; to refuse it: ${ways.deny}. ` +
    (isOther ? 'Somebody other than the one who asked has to answer. ' : '') +
    (when === null ? '' : `Without an answer it is refused ${when}. `) +
    `To end the task: ${ways.stop}; to set it aside: ${ways.pause}. Why: ${ways.why}.`,
  awaits_quota: ({ request, detail, when, stop, pause, why }) =>
    `${request} waits for the quota of the model provider (${detail ?? 'no code'})` +
    `${when === null ? '' : `, which is to be back ${when}`}. ` +
    `What was done is saved, and it then goes on by itself from there, if the host runs until then. ` +
    `To end it: ${stop}; to set it aside: ${pause}. Why: ${why}.`,
  awaits_provider: ({ request, detail, model, help, stop, pause, why }) =>
    `${request} waits for the model provider, which gives no usable answer${model === null ? '' : ` for ${model}`} ` +
    `(${detail ?? 'no code'}). ${help}What was done is saved. I look again by myself, and it goes on ` +
    `from there when the provider answers, if its deadline allows. ` +
    `To end it: ${stop}; to set it aside: ${pause}. Why: ${why}.`,
  goes_on: ({ request, why }) => `${request} goes on from what was saved. Why: ${why}.`,
  paused: ({ request, id, resume, stop, why }) =>
    `${request} is paused. What was done is kept, and nothing of it runs meanwhile. ` +
    `To let it go on: ${resume}. ${reply(id)} To end it: ${stop}. Why: ${why}.`,
  wait_elapsed: ({ request, id, wait, resume, stop, why }) =>
    `${request} has waited${wait === null ? '' : ` ${wait}`}, and the time for that is over. ${SAVED} ` +
    `To let it go on all the same: ${resume}. ${reply(id)} To end it: ${stop}. Why: ${why}.`,
  no_outcome: ({ request, id, resume, stop, why }) =>
    `I could not finish ${request}: twice in a row the model ended without an answer. ${SAVED} ` +
    `To let it try once more: ${resume}. ${reply(id)} To end it: ${stop}. Why: ${why}.`,
  no_progress: ({ request, id, resume, stop, why }) =>
    `I could not finish ${request}: the model kept working without getting on, ` +
    `even after a reminder. ${SAVED} ` +
    `To let it try once more: ${resume}. ${reply(id)} To end it: ${stop}. Why: ${why}.`,
  quota: ({ request, id, detail, resume, stop, why }) =>
    `I have stopped waiting with ${request}: the quota of the model provider ` +
    `${detail === 'deadline' ? 'comes back only after its deadline' : 'was used up again each time that it came back'}. ` +
    `${SAVED} To let it try once more: ${resume}. ${reply(id)} To end it: ${stop}. Why: ${why}.`,
  budget_exhausted: ({ request, limit, extend, stop, why }) =>
    `${request} has used up the ${limit} that it was granted. What was done is saved, and its ` +
    `deadline is unchanged. An admin grants it more with ${extend}. ` +
    `To end it: ${stop}. Why: ${why}.`,
  base_too_large: ({ request, window, base, message, stop, why }) =>
    `${request} does not fit what the model can see at once (${window} tokens): the instructions ` +
    `and tools take ${base}, its newest words ${message}. Nothing is lost. Shorten the ` +
    `instructions or configure a model with a larger window; then \`/new\` begins a fresh ` +
    `session, in which it starts over from its request. To end it: ${stop}. Why: ${why}.`,
  stopped: ({ request, tools, why }) =>
    `${request} is stopped. ${ending(tools)}` +
    `What was done is kept, and nothing more of it will start. ` +
    `To begin anew, send the request again. Why: ${why}.`,
  cancelled: ({ request, tools, why }) =>
    `${request} was cancelled by the program that had asked for it. ${ending(tools)}` +
    `What was done is kept, and nothing more of it will start. Why: ${why}.`,
  deadline_passed: ({ request, tools, why }) =>
    `${request} has run out of time: its deadline has passed. ${ending(tools)}` +
    `What was done is kept, and nothing more of it will start. ` +
    `To begin anew, send the request again. Why: ${why}.`,
  model_refused: ({ request, detail, model, help, why }) =>
    `${request} has failed: the model provider refused the call${to(model)} (${detail ?? 'no code'}). ` +
    `${help}What was done is kept. When the cause is mended, send the request again. ` +
    `Why: ${why}.`,
  model_unavailable: ({ request, detail, why }) =>
    `${request} has failed: the model gave no usable answer (${detail ?? 'no code'}). ` +
    `What was done is kept. When the cause is gone, send the request again. Why: ${why}.`,
  uncertain_effect: ({ request, id, tool, shown, when, isInterrupted, approve, deny, why }) =>
    `While ${request} ran, the host stopped between starting ${tool} and learning its result. ` +
    `I will not run it again by myself. Check, then: ${approve} to run it, or tell me what happened.` +
    (shown === '' ? ' ' : ` This is what would run:${block(shown)}`) +
    `It runs once, exactly so, when the task goes on` +
    (isInterrupted ? ', which an independent check decides' : '') +
    `. To keep it from running: ${deny}. ` +
    `You tell me in a reply to this or in a message that names \`${id}\`. ` +
    `${when === null ? '' : `The offer to run it ends ${when}. `}Why: ${why}.`,
  kept: ({ request, cause, why }) =>
    `Your message is kept for ${request}; its next turn reads it. ` +
    `${cause === '' ? '' : `Why not now: ${cause} `}How it goes on: ${why}.`,
  kept_for_interrupted: ({ request, stop, why }) =>
    `Your message is kept for ${request}, which was interrupted: an independent check decides whether ` +
    `that goes on, and its next turn then reads it. To end it: ${stop}. Why: ${why}.`,
  ...EN_RECOVERY_NOTICES,
  ...EN_MAINTENANCE_NOTICES,
  clock_distrusted: ({ drift }) =>
    `The machine's clock stands ${drift} what I counted, so I do not trust it for now. ` +
    `Messages are answered as ever, but for at most ten minutes nothing expires and nothing ` +
    `begins by itself. If the clock is right as it stands, an admin says so with ` +
    `\`/clock confirm\`. More: \`/status\`.`,
  clock_trusted: () =>
    "I trust the machine's clock again. What fell due meanwhile happens now. More: `/status`.",
};
