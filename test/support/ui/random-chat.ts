import { setTimeout } from 'node:timers/promises';
import type { UIMessage } from 'ai';
import { type AgentHandler, createAgentHandler } from 'keelson/ui';
import { expect } from 'vitest';
import { type Random, seeded } from '../soak/random-agent.js';
import { ChatClient, loadHistory, post } from './chat-client.js';
import { randomChatAgent } from './random-chat-agent.js';
import { readChunks } from './read-ui-message.js';

/** Plays a random chat. Fails if the reader of `ai` refuses a chunk, or if the page and the session differ. */
export async function playRandomChat(seed: number): Promise<void> {
  const random = seeded(seed);
  const { client, handler, kept, stop } = chatOf(random);
  for (let step = 0; step < 5; step += 1) {
    const wasStopped = await act(client, { random, step, stop });
    await compare(client, { handler, wasStopped });
  }
  expect(kept.length).toBeGreaterThan(0);
  for (const response of kept) await readChunks(response);
}

function chatOf(random: Random) {
  const agent = randomChatAgent(random);
  const onDisconnect = random() < 0.5 ? 'abort' : 'continue';
  const handler = createAgentHandler(agent, {
    authorize: 'none',
    session: (id) => id,
    queueMs: 10_000,
    onDisconnect,
  });
  const kept: Response[] = [];
  const client = new ChatClient(async (request) => {
    const response = await handler(request);
    if (response.status !== 200) return expect.fail(await response.text());
    const [shown, copy] = response.body?.tee() ?? [];
    kept.push(new Response(copy ?? null));
    return new Response(shown ?? null, response);
  });
  const stop = async () => {
    if (onDisconnect === 'continue') await post(handler, '/stop', { id: 'chat' });
    await client.stop();
  };
  return { client, handler, kept, stop };
}

interface Act {
  readonly random: Random;
  readonly step: number;
  readonly stop: () => Promise<void>;
}

/** Sends a message, decisions, an edit or a request for a new answer. Returns true if the answer was stopped. */
async function act(client: ChatClient, { random, step, stop }: Act): Promise<boolean> {
  const open = openCalls(client.lastMessage);
  const kind = random();
  const users = client.messages.filter(({ role }) => role === 'user');
  let sent: Promise<unknown>;
  if (open.length > 0) {
    for (const id of open) await client.addToolApprovalResponse({ id, approved: random() < 0.7 });
    sent = idle(client);
  } else if (kind < 0.2 && users.length > 0 && client.status !== 'error') sent = client.regenerate();
  else if (kind < 0.35 && users.length === 1 && client.status !== 'error') {
    sent = client.sendMessage({ text: `Edited ${step}`, messageId: users[0]?.id ?? '' });
  } else sent = client.sendMessage({ text: `Message ${step}` });
  // Ends calls of the model that never end, too.
  const done = new AbortController();
  const stopAfter = random() < 0.2 ? random() * 10 : 400;
  const stopped = setTimeout(stopAfter, undefined, { signal: done.signal }).then(
    () => stop().then(() => true),
    () => false,
  );
  await sent;
  await idle(client);
  done.abort();
  return stopped;
}

interface Compared {
  readonly handler: AgentHandler;
  readonly wasStopped: boolean;
}

/**
 * Compares the last answer with the stored history, unless its run failed or was stopped. After a stop, the page loads
 * the history, because the stop has denied the calls that waited for a decision.
 */
async function compare(client: ChatClient, { handler, wasStopped }: Compared): Promise<void> {
  for (const error of client.errors.splice(0)) expect(error.message).toMatch(/^The run failed \(ERR_MODEL_FAILED\)\.$/);
  const { messages } = await loadHistory(handler);
  if (wasStopped) client.messages = messages;
  const last = client.lastMessage;
  if (wasStopped || client.status !== 'ready' || last?.role !== 'assistant') return;
  const stored = messages.at(-1);
  expect(stored?.id).toBe(last.id);
  expect(stored && shownParts(stored)).toEqual(shownParts(last));
}

/** Returns the texts and tool calls of a message. Joins neighbouring texts, because a stream may split or join them. */
function shownParts({ parts }: UIMessage): unknown[] {
  const shown = parts.flatMap((part): unknown[] => {
    if (part.type === 'text') return [part.text];
    if (!('toolCallId' in part)) return [];
    const { type, toolCallId, state, output, input } = part;
    return [{ type, toolCallId, input, output, state }];
  });
  const joined: unknown[] = [];
  for (const part of shown) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

function openCalls(message: UIMessage | undefined): string[] {
  return (message?.parts ?? []).flatMap((part) =>
    'approval' in part && part.state === 'approval-requested' ? [part.approval.id] : [],
  );
}

async function idle(client: ChatClient): Promise<void> {
  do await setTimeout(1);
  while (client.status === 'submitted' || client.status === 'streaming');
}
