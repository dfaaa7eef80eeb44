// Names that the host derives from a cause, so that one cause makes one entry (O-1, I-1). One that it would
// derive later and that is taken already would keep the cause from being carried out at all.
import { HOST_CHANNELS } from '../inbox/record.ts';
import { isId, type IdKind } from '../../kernel/ids.ts';
import type { ArchiveRecords } from './record.ts';
import type { Look } from './relations.ts';

/** What the name of a generated message or of an outbox entry claims and its cause does not bear out. */
type Claim = (id: string, look: Look, rest: string) => string | undefined;

const VERSION = /^[1-9][0-9]{0,15}$/;

/** `TASK:VERSION` or `OPERATION:VERSION`: of a version that it has had. */
function ofVersion(kind: 'task' | 'operation'): Claim {
  return (id, look, rest) => {
    const subject = look.record(kind, id);
    if (subject === undefined) return `names the ${kind} ${id}, which is not in the file`;
    const isPast = VERSION.test(rest) && Number(rest) <= subject.version;
    return isPast ? undefined : `names a version above the ${subject.version} of its ${kind}`;
  };
}

/** `OPERATION:EPOCH`: of an epoch that it has had. */
function ofEpoch(id: string, look: Look, rest: string): string | undefined {
  const operation = look.record('operation', id);
  if (operation === undefined) return `names the operation ${id}, which is not in the file`;
  const isPast = VERSION.test(rest) && Number(rest) <= operation.epoch;
  return isPast ? undefined : `names an epoch above the ${operation.epoch} of its operation`;
}

function existing(kind: 'approval' | 'run' | 'turn'): Claim {
  return (id, look) =>
    look.record(kind, id) === undefined
      ? `names the ${kind} ${id}, which is not in the file`
      : undefined;
}

/** The forms of outbox keys, by their first part and the kind of id behind it. */
const KEYS: readonly (readonly [head: string, kind: IdKind, claim: Claim])[] = [
  ['notice', 'task', ofVersion('task')],
  ['notice', 'operation', ofVersion('operation')],
  ['approval', 'approval', existing('approval')],
  ['goes_on', 'turn', existing('turn')],
  ['reply', 'turn', existing('turn')],
  ['run', 'run', existing('run')],
  [
    'uncertain',
    'event',
    (id, look) =>
      look.record('step', id)?.state === 'uncertain'
        ? undefined
        : 'names a step whose outcome is not uncertain',
  ],
  ['kept', 'operation', ofEpoch],
  [
    'answer',
    'message',
    (id, look) => {
      const message = look.record('message', id);
      return message?.kind === 'command' && message.state === 'done'
        ? undefined
        : 'names no command that was answered';
    },
  ],
  [
    'kept',
    'message',
    (id, look) => {
      const message = look.record('message', id);
      return message !== undefined && message.taskId !== null
        ? undefined
        : 'names no message that was kept for a task';
    },
  ],
];

/** What is wrong with the key of an outbox entry, as one sentence. */
export function keyProblem(
  { key }: Pick<ArchiveRecords['outbox'], 'key'>,
  look: Look,
): string | undefined {
  const [head = '', id = '', ...rest] = key.split(':');
  const form = KEYS.find(([name, kind]) => name === head && isId(kind, id));
  const problem = form?.[2](id, look, rest.join(':'));
  return problem === undefined ? undefined : `The key of the outbox ${problem}.`;
}

const OF_TASK = ofVersion('task');
const BY_VERSION: ReadonlySet<string> = new Set([
  HOST_CHANNELS.wake,
  HOST_CHANNELS.return,
  HOST_CHANNELS.scout,
  HOST_CHANNELS.recovery,
]);

/** What is wrong with the external id of a message that the host made, as one sentence. */
export function externalIdProblem(
  { channel, externalId, taskId }: ArchiveRecords['message'],
  look: Look,
): string | undefined {
  const [id = '', ...rest] = externalId.split(':');
  if (!BY_VERSION.has(channel) || !isId('task', id)) return undefined;
  const problem =
    id === taskId ? OF_TASK(id, look, rest.join(':')) : 'names another task than its own';
  return problem === undefined ? undefined : `The externalId of the message ${problem}.`;
}
