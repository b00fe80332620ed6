import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { Agent } from 'keelson';
import { hangs, scriptedModel, streams } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';
import { expect } from 'vitest';
import { seeded } from '../soak/random-agent.js';
import { postTo, startChatServer } from './chat-server.js';

/** More text than the buffers of a socket take. */
const DELTAS = Array.from({ length: 200 }, (_, index) => `word ${index} `.repeat(400));
const AT_ONCE = 50;

/** Clients that read slowly, stop reading, or disconnect. Fails if a run, a session or a connection is left. */
export async function playVanishingClients(count: number): Promise<void> {
  const random = seeded(count);
  const endless = streams(DELTAS, hangs());
  const agent = new Agent({
    model: scriptedModel(() => (random() < 0.5 ? streams(DELTAS) : endless), { record: false }),
  });
  const ended: string[] = [];
  agent.on('run-end', ({ runId }) => void ended.push(runId));
  const handler = createAgentHandler(agent, {
    authorize: 'none',
    session: (id) => id,
    protocol: 'sse',
    onDisconnect: 'abort',
  });
  const signals: AbortSignal[] = [];
  const responses: ServerResponse[] = [];
  await using chat = await startChatServer((request) => {
    signals.push(request.signal);
    return handler(request);
  });
  chat.server.on('request', (_request, response) => void responses.push(response));

  for (let first = 0; first < count; first += AT_ONCE) {
    const indexes = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => first + index);
    await Promise.all(indexes.map((index) => visit(`${chat.url}/chat`, { index, random })));
  }

  for (let waits = 0; agent.status().runs + agent.status().sessions > 0 && waits < 400; waits += 1) await setTimeout(5);
  expect(agent.status()).toMatchObject({ runs: 0, sessions: 0 });
  expect(new Set(ended).size).toBe(ended.length);
  expect(signals.filter((signal) => getEventListeners(signal, 'abort').length > 0)).toEqual([]);
  expect(responses).toHaveLength(signals.length);
  expect(signals.length).toBeGreaterThan(count * 0.8);
  for (const event of ['drain', 'close', 'error']) {
    expect(Math.max(...responses.map((response) => response.listenerCount(event)))).toBe(0);
  }
}

async function visit(url: string, { index, random }: { readonly index: number; readonly random: () => number }) {
  const abort = new AbortController();
  const kind = random();
  const leaveAfter = Math.floor(random() * 30);
  const leave = () => void setTimeout(leaveAfter).then(() => abort.abort());
  // One client in ten leaves before its response.
  if (kind > 0.9) leave();
  try {
    const response = await postTo(url, { id: `chat-${index}`, message: 'Hi' }, { signal: abort.signal });
    leave();
    const reader = response.body?.getReader();
    // A third reads nothing, a third reads slowly, and a third reads as fast as possible.
    if (kind < 0.33) await setTimeout(leaveAfter + 1);
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      if (kind < 0.66) await setTimeout(5);
    }
  } catch (error) {
    expect((error as Error).name).toBe('AbortError');
  }
}
