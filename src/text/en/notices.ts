import type { Catalogue } from '../catalogue.ts';

const ending = (calls: string | null): string =>
  calls === null ? '' : `Still being ended: ${calls}. `;

export const EN_NOTICES: Catalogue['notices'] = {
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
};
