import type { Stage } from './stage.ts';

/** Says something in a conversation, and gives the answer to it. */
export async function chat(stage: Stage, conversationId: string, text: string): Promise<string> {
  const { client } = stage;
  const { messageId } = await client.postMessage(conversationId, { text });
  return stage.until(`“${text}” is answered`, async () => {
    const { answer } = await client.message(messageId);
    return answer ?? undefined;
  });
}

/** The answer that a task gave last. */
export async function said(
  stage: Stage,
  { taskId, conversationId }: { readonly taskId: string; readonly conversationId: string },
): Promise<string> {
  return stage.until('the task has its answer', async () => {
    const { items } = await stage.client.outbox({ conversation: conversationId });
    return items.find((entry) => entry.kind === 'reply' && entry.taskId === taskId)?.text;
  });
}
