import { setTimeout } from 'node:timers/promises';
import { Agent } from 'keelson';
import { hangs, scriptedModel, streams } from 'keelson/testing';
import { createAgentHandler } from 'keelson/ui';
import { expect } from 'vitest';
import { seeded } from '../soak/random-agent.js';
import { postTo, startChatServer } from './chat-server.js';

const DELTAS = Array.from({ length: 2_000 }, (_, index) => `word ${index} `);

/** Clients that read slowly, stop reading, or disconnect. Fails if a run, a session or a connection is left. */
export async function playVanishingClients(count: number): Promise<void> {
  const random = seeded(count);
  const endless = streams(DELTAS, hangs());
  const agent = new Agent({
    model: scriptedModel(() => (random() < 0.5 ? streams(DELTAS) : endless), { record: false }),
  });
  const ended: string[] = [];
  agent.on('run-end', ({ runId }) => void ended.push(runId));
  const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, protocol: 'sse' });
  await using chat = await startChatServer(handler);

  await Promise.all(Array.from({ length: count }, (_, index) => visit(`${chat.url}/chat`, { index, random })));

  for (let waits = 0; agent.status().runs + agent.status().sessions > 0 && waits < 400; waits += 1) await setTimeout(5);
  expect(agent.status()).toMatchObject({ runs: 0, sessions: 0 });
  expect(new Set(ended).size).toBe(ended.length);
}

async function visit(url: string, { index, random }: { readonly index: number; readonly random: () => number }) {
  const abort = new AbortController();
  const kind = random();
  const leaveAfter = Math.floor(random() * 30);
  void setTimeout(leaveAfter).then(() => abort.abort());
  try {
    const response = await postTo(url, { id: `chat-${index}`, message: 'Hi' }, { signal: abort.signal });
    const reader = response.body?.getReader();
    // A third never reads, a third reads slowly, and a third reads as fast as possible.
    if (kind < 0.33) await setTimeout(leaveAfter);
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      if (kind < 0.66) await setTimeout(5);
    }
  } catch (error) {
    expect((error as Error).name).toBe('AbortError');
  }
}
