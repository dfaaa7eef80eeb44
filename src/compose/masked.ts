import { isDeepStrictEqual } from 'node:util';
import type { Shown } from '../core/approval/record.ts';
import type { Engine, Idempotency } from '../engine/engine.ts';
import { redactor, SECRET_CHARS_MIN } from '../kernel/redact.ts';
import type { Model, ModelOutcome } from '../ports/model.ts';
import type { ToolCall, Tools } from '../ports/tools.ts';

/**
 * The engine behind a mask: what people send never reaches the records with a known secret in it,
 * so no transcript, request or notice can repeat it.
 */
export function maskIntake(engine: Engine, secrets: readonly string[]): Engine {
  const mask = redactor(secrets);
  return {
    store: engine.store,
    parts: engine.parts,
    live: engine.live,
    start: () => engine.start(),
    stop: (graceMs) => engine.stop(graceMs),
    health: () => maskHealth(engine.health(), mask),
    openConversation: (opening) => engine.openConversation(maskFields(opening, mask, ['address'])),
    acceptMessage: (intake) =>
      engine.acceptMessage(
        maskOnce(maskFields(intake, mask, ['text', 'replyTo', 'externalId']), mask),
      ),
    acceptRun: (intake) =>
      engine.acceptRun(
        maskOnce(maskFields(intake, mask, ['input', 'metadata', 'callbackUrl']), mask),
      ),
    messageRun: (intake) => engine.messageRun(maskOnce(maskFields(intake, mask, ['text']), mask)),
    stopTask: (order) => engine.stopTask(maskFields(order, mask, ['receiptId'])),
    resumeTask: (order) => engine.resumeTask(maskFields(order, mask, ['receiptId'])),
    pauseTask: (order) => engine.pauseTask(maskFields(order, mask, ['receiptId'])),
    extendTask: (order) => engine.extendTask(maskFields(order, mask, ['receiptId'])),
    resetBudget: (order) => engine.resetBudget(maskFields(order, mask, ['receiptId'])),
    admit: (order) => engine.admit(maskFields(order, mask, ['receiptId'])),
    recoveryStatus: (conversationId) => engine.recoveryStatus(conversationId),
    resumeWorker: (order) => engine.resumeWorker(maskFields(order, mask, ['receiptId'])),
    endSafeMode: (order) => engine.endSafeMode(order),
    examine: () => engine.examine(),
    repair: (order) => engine.repair(order),
    answerApproval: (order) => engine.answerApproval(maskFields(order, mask, ['receiptId'])),
    confirmClock: (order) => engine.confirmClock(order),
    cancelRun: (order) => engine.cancelRun(order),
  };
}

/** `from` with these texts masked; one that is not given stays so. */
function maskFields<T extends object>(
  from: T,
  mask: (text: string) => string,
  fields: readonly (keyof T)[],
): T {
  const masked = fields.flatMap((field) => {
    const value = from[field];
    return typeof value === 'string' ? [[field, mask(value)] as const] : [];
  });
  return { ...from, ...Object.fromEntries(masked) };
}

function maskOnce<T extends { readonly idempotency?: Idempotency }>(
  intake: T,
  mask: (text: string) => string,
): T {
  const { idempotency } = intake;
  if (idempotency === undefined) return intake;
  return { ...intake, idempotency: { ...idempotency, key: mask(idempotency.key) } };
}

function maskHealth(
  health: ReturnType<Engine['health']>,
  mask: (text: string) => string,
): ReturnType<Engine['health']> {
  return { ...health, reason: health.reason === null ? null : mask(health.reason) };
}

/** The model behind a mask: its words, its calls and a provider's error are kept without a secret. */
export function maskModel(model: Model, secrets: readonly string[]): Model {
  const mask = redactor(secrets);
  const pieces = maskPieces(secrets);
  return {
    provider: model.provider,
    name: model.name,
    price: model.price,
    rates: model.rates,
    account: mask(model.account),
    contextWindow: model.contextWindow,
    prepare: async () => model.prepare?.(),
    probe: (signal) => model.probe(signal),
    async call(request, live) {
      const words = pieces(live.onText);
      const outcome = await model.call(request, {
        ...live,
        onText: words.push,
        onModel: (provider, name) => live.onModel(mask(provider), mask(name)),
      });
      words.end();
      return maskOutcome(outcome, mask);
    },
  };
}

/**
 * Tools behind a mask: what a person is shown of a call, and what it gave, hold no secret. What was approved
 * was masked, so it is compared with what the call would show now; the tools then run that alone.
 */
export function maskTools(tools: Tools, secrets: readonly string[]): Tools {
  const mask = redactor(secrets);
  return {
    list: tools.list,
    async examine(call) {
      const examined = await tools.examine(call);
      return {
        ...examined,
        shown: examined.shown === null ? null : maskShown(examined.shown, mask),
      };
    },
    async run(call, signal, approved) {
      const meant =
        approved === undefined ? undefined : await unmasked({ tools, mask }, call, approved);
      const outcome = await tools.run(call, signal, meant);
      return maskFields(outcome, mask, ['text']);
    },
  };
}

/** What the call would show now, when that is what was approved; else what was approved, which fits nothing. */
async function unmasked(
  { tools, mask }: { readonly tools: Tools; readonly mask: (text: string) => string },
  call: ToolCall,
  approved: Shown,
): Promise<Shown> {
  const { shown } = await tools.examine(call);
  return shown !== null && isDeepStrictEqual(maskShown(shown, mask), approved) ? shown : approved;
}

function maskShown(shown: Shown, mask: (text: string) => string): Shown {
  return {
    argv: shown.argv.map(mask),
    folder: mask(shown.folder),
    env: Object.fromEntries(Object.entries(shown.env).map(([name, value]) => [name, mask(value)])),
    files: shown.files.map(({ path, hash }) => ({ path: mask(path), hash })),
  };
}

/** Where the pieces of one text go. */
interface Pieces {
  readonly push: (piece: string) => void;
  readonly end: () => void;
}

/**
 * Passes live pieces on at once and holds back only an end that begins a secret. `redactingStream`
 * would hold back as much as the longest secret is long, and short answers would not stream at all.
 */
export function maskPieces(
  secrets: readonly string[],
): (onText: (piece: string) => void) => Pieces {
  const mask = redactor(secrets);
  const long = secrets.filter((secret) => secret.length >= SECRET_CHARS_MIN);
  return (onText) => piecesOf(onText, mask, long);
}

function piecesOf(
  onText: (piece: string) => void,
  mask: (text: string) => string,
  long: readonly string[],
): Pieces {
  let held = '';
  const pass = (text: string): void => {
    if (text !== '') onText(mask(text));
  };
  return {
    push(piece) {
      const text = held + piece;
      const cut = text.length - Math.max(0, ...long.map((secret) => begunAtEnd(text, secret)));
      held = text.slice(cut);
      pass(text.slice(0, cut));
    },
    end() {
      pass(held);
      held = '';
    },
  };
}

/** How many characters at the end of `text` are the beginning, and not the whole, of `secret`. */
function begunAtEnd(text: string, secret: string): number {
  for (let count = Math.min(text.length, secret.length - 1); count > 0; count -= 1) {
    if (text.endsWith(secret.slice(0, count))) return count;
  }
  return 0;
}

function maskOutcome(outcome: ModelOutcome, mask: (text: string) => string): ModelOutcome {
  if (outcome.kind === 'fault') return maskFields(outcome, mask, ['code', 'message']);
  const calls = outcome.calls.map((call) => maskFields(call, mask, ['id', 'name', 'args']));
  return { ...maskFields(outcome, mask, ['provider', 'model', 'text']), calls };
}
