import type { WhyTexts } from '../why-texts.ts';

export const EN_WHY: WhyTexts = {
  standing: {
    queued: ({ request, id, since }) => `${request} (${id}) has been in line since ${since}.`,
    running: ({ request, id, since }) => `${request} (${id}) has been running since ${since}.`,
    cut: ({ request, id, when }) =>
      `${request} (${id}) was being worked on when the host stopped without warning; that turn began ` +
      `${when}. The next start of the host has it checked whether it goes on, and nothing of it runs before.`,
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
  step: (ordinal, doing) => `Step ${ordinal}: ${doing}.`,
  doing: {
    tool: ({ tool, since }) => `in ${tool} since ${since}`,
    model: ({ when, calls, callsMax }) =>
      `the model was asked ${when} and has not answered yet` +
      (calls === '1' ? '' : `; this is call ${calls} of at most ${callsMax}`),
    retry: ({ code, calls, callsMax, next }) =>
      `the model gave no usable answer (\`${code}\`); calls made: ${calls} of at most ${callsMax}, ` +
      `the next goes out ${next}`,
    pause: ({ code, next }) => `its provider failed last (\`${code}\`) and is called again ${next}`,
    between: (when) =>
      when === null
        ? 'no step has begun yet'
        : `the last step was done ${when}, and no further one has begun`,
    cut: (when) => `a turn of it began ${when}, and its host stopped before that was done`,
  },
  question: (question) => `It asked: ${question}`,
  until: {
    instant: (when) => `It goes on ${when}.`,
    worker: (when) => `It is looked at again ${when}.`,
    answer: (when) => `Without an answer it is blocked ${when}.`,
    approval: (when) => `Without an answer the call is refused ${when}.`,
    quota: (when) => `It goes on by itself ${when}.`,
    provider: (when) => `The wait ends ${when}.`,
    assessment: (when) => `It is looked at again ${when}.`,
  },
  approval: ({ tool, shown, id }) => `It asks to run ${tool} (${id}): ${shown}.`,
  approvalAgain: ({ tool, shown, id }) =>
    `Whether ${tool} may run once more is open, and an answer is kept for when it goes on ` +
    `(${id}): ${shown}.`,
  approvalKept: ({ tool, shown, id }) =>
    `That ${tool} may run was approved (${id}); it is kept and runs once, exactly as it was shown, ` +
    `when the task goes on: ${shown}.`,
  exhausted: (limit) => `Used up: ${limit}.`,
  checkpoint: (note) => `What it noted of its progress: ${note}.`,
  answerIt: 'To answer it, just reply.',
  reply: (id) => `A reply to its notice, or a message that names \`${id}\`, lets it go on too.`,
  uncertain: (tools) => `Whether ${tools} took effect is unknown; it is not run again by itself.`,
  left: (facts) =>
    `Left: ${facts.turnsLeft} of ${facts.turns} turns, ` +
    `${facts.tokensLeft} of ${facts.tokens} tokens, ` +
    `${facts.costLeft} of ${facts.cost}, ` +
    `${facts.continuationsLeft} of ${facts.continuations} continuations, ` +
    `${facts.correctionsLeft} of ${facts.corrections} corrective turns, ` +
    `${facts.assessmentsLeft} of ${facts.assessments} checks after an interruption ` +
    `(made so far: ${facts.assessmentsMade}); ` +
    `deadline: ${facts.deadline ?? 'none'}.`,
  used: ({ turns, tokens, cost }) => `It used ${tokens} tokens (${cost}); turns: ${turns}.`,
  calls: {
    asked: (tool) => `${tool} was asked for and had to wait for approval; nothing of it ran then.`,
    finished: (tool) => `${tool} was called and gave its result.`,
    failed: (tool, code) => `${tool} was called and failed (${code}).`,
    cut: (tool) => `The call of ${tool} was ended before it was done.`,
    uncertain: (tool) => `The call of ${tool} began; its outcome is unknown.`,
  },
  earlier: (count) => `Earlier events that are not shown: ${count}.`,
  later: 'There are later events that are not shown.',
  event: (time, sentence) => `${time}: ${sentence}`,
};
