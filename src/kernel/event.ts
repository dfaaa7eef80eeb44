/**
 * The catalogue of events. An event row records what a transition did; a step's own row is the event
 * of its start and of its finish (design principle 5). docs/events.md is printed from this table.
 */
export const EVENTS = {
  'conversation.created': 'A conversation exists: one address on one channel.',
  'message.accepted': 'An inbox entry is durable; data: messageId.',
  'command.answered': 'A command from a person was answered; data: messageId, outboxId.',
  'task.created':
    'A task exists with its mandate; to: its first state; data: enrollment, deadline and its limits.',
  'task.moved':
    'A task changed its state; from, to, reason; data: of a wait its kind and until when, wait and until; absent when no turn was cut.',
  'task.noted': 'The task wrote its checkpoint; data: text.',
  'task.continued': 'The task goes on by itself in a further turn; data: note, continuationsUsed.',
  'task.extended':
    'An admin moved its budgets; data: the new turnsLimit, tokensLimit, costLimit, continuationsLimit, deadline.',
  'task.held':
    'The boundary set a task aside; from, to: blocked; data: was (state, reason, what it waited for).',
  'task.enrolled':
    'A task of an import belongs to ongoing work; data: by (input, worker or resume).',
  'worker.enrolled': 'An admin woke a worker that the boundary held; from, to; data: executionId.',
  'assessment.reserved':
    'An attempt of the recovery assessment was reserved before its call; data: epoch, attempt, lifetime, nextAt.',
  'assessment.ended':
    'An attempt has its outcome; data: epoch, attempt, outcome, code, reason, nextAt, inputTokens, outputTokens, cost.',
  'recovery.state':
    'Whether interrupted work may go on changed; data: recovery (none, needed, granted, followed), epoch.',
  'recovery.reset': 'An admin opened a new epoch of assessments; data: epoch.',
  'operation.started':
    'A maintenance operation exists; data: operationId, sessionId, kind, step, window, cause (usage, steps, full, too_long).',
  'operation.reserved':
    'A try of its step was reserved before it is made; data: operationId, step, attempt, epoch.',
  'operation.moved':
    'A maintenance operation changed; from, to, reason; data: operationId, kind, step, version, epoch, failures, lifetimeFailures, quotaWaits, nextAttemptAt, code.',
  'operation.admitted':
    'An admin opened the next epoch of a blocked operation; data: operationId, epoch, kind, step, version.',
  'conversation.fence':
    'Whether turns may begin changed; to: none, shut, blocked or passed; data: operationId.',
  'session.compacted':
    'The older part of a session has a seed; data: sessionId, cutSeq, compactions.',
  'session.archived': 'A session was linked to the one that follows it; data: sessionId, nextId.',
  'session.seeded': 'A session has its seed; data: sessionId.',
  'notice.prepared':
    'A notice stands in the outbox and leaves later, or never; data: outboxId, level, code.',
  'notice.withdrawn': 'A prepared notice never leaves; data: outboxId.',
  'turn.started': 'A turn claimed its inputs; data: messageIds, token.',
  'turn.continued': 'A running turn claimed what arrived for its task; data: messageIds.',
  'turn.stopping': "A stop took the turn's right to write; its running calls are being ended.",
  'turn.ended': 'A turn has its recorded end; data: end.',
  'model.selected': 'The model that the provider reported; data: provider, model.',
  'model.retried':
    'A further try of a model call was reserved; data: stepId, tries, provider, model, code.',
  'approval.asked': 'A call waits for a person; data: approvalId, tool, expiresAt.',
  'approval.decided': 'An approval has its end; data: approvalId, state.',
  'session.started': 'A session began; data: sessionId, and of a handover previousId.',
  'conversation.model': 'The model of the conversation was chosen; data: model.',
  'run.queued': 'A run was accepted.',
  'run.started': 'A turn took up the run for the first time.',
  'run.completed': 'A run ended with an answer; data: outboxId.',
  'run.failed': 'A run ended without an answer; data: code, outboxId.',
  'run.cancelled': 'A run was cancelled or its task stopped.',
  'run.told': 'A notice of its conversation concerns a run; data: outboxId.',
  'reply.queued': 'An answer stands in the outbox; data: outboxId.',
  'notice.queued': 'A notice stands in the outbox; data: outboxId, level, code.',
} as const;

export type EventType = keyof typeof EVENTS;

/** Events that are read off a step's row: its start and its finish. */
export const STEP_EVENTS = {
  'model.started': 'A model call was reserved.',
  'model.finished': 'A model call has its recorded outcome.',
  'tool.started': 'A tool call was journalled before it ran.',
  'tool.finished': 'A tool call has its recorded outcome: finished, failed, cut or uncertain.',
} as const;
