import { cutName } from '../../text/quote.ts';
import { listNames } from '../../text/render.ts';
import { sayInstant, sayWhen, sayWhenSecond } from '../../text/when.ts';
import type { Doing } from './doing.ts';
import type { Telling } from './standing-sentence.ts';

/** What is done now, as a clause without its end; the same words wherever it is told. Empty in line. */
export function sayDoing(telling: Telling, doing: Doing): string {
  const { words, reader, now } = telling;
  const since = sayInstant(reader, words.tag, doing.since, now);
  const when = sayWhen(reader, words, doing.since, now);
  const says = words.why.doing;
  switch (doing.kind) {
    case 'queued':
      return '';
    case 'tool':
      return says.tool({ tool: listNames(words, [doing.tool]) ?? words.someCall, since });
    case 'model':
    case 'retry':
      return sayCalls(telling, doing, when);
    case 'cut':
      return says.cut(when);
    case 'between':
      return says.between(doing.step === 0 ? null : when);
  }
}

function sayCalls(
  { words, reader, now }: Telling,
  doing: Extract<Doing, { readonly kind: 'model' | 'retry' }>,
  when: string,
): string {
  const { model, retry, pause } = words.why.doing;
  const { code, nextAt } = doing;
  const calls = { calls: String(doing.calls), callsMax: String(doing.callsMax) };
  if (code === undefined || nextAt === undefined) return model({ ...calls, when });
  const next = sayWhenSecond(reader, words, nextAt, now);
  const paused = { code: cutName(code), next };
  return doing.kind === 'retry'
    ? retry({ ...calls, ...paused })
    : `${model({ ...calls, when })}; ${pause(paused)}`;
}
