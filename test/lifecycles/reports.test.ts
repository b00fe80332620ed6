import { Agent, type AgentEvent, type AgentLifecycle, ModelError, type RunContext } from 'keelson';
import { compaction, fallbackModels, retryModelCalls } from 'keelson/lifecycles';
import { fails, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { manualClock } from '../support/lifecycle/manual-clock.js';

const soon = retryModelCalls({ initialDelayMs: 1, random: () => 0 });

/** Makes an agent whose first model call fails. Returns the agent and its log lines. */
function agentOf(lifecycle: AgentLifecycle) {
  const logger = keepingLogger();
  const agent = new Agent({
    model: scriptedModel([fails(Object.assign(new Error('busy'), { status: 503 })), 'done']),
    lifecycle: [lifecycle],
    logger,
  });
  return { agent, logger };
}

async function newsOf(agent: Agent): Promise<unknown[]> {
  const news: AgentEvent[] = [];
  for await (const event of agent.stream('go')) {
    if (event.type === 'model-error' || event.type.startsWith('compaction')) news.push(event);
  }
  return news;
}

describe('a diagnostic is reported once', () => {
  test.each<[string, AgentLifecycle, object]>([
    ['a retry', soon, { action: 'retry', model: 'scripted', delayMs: 0.5 }],
    ['a fallback', fallbackModels([scriptedModel(['other'])]), { action: 'fallback', model: 'scripted', delayMs: 0 }],
  ])('%s is reported as an event if the event has a listener', async (_what, lifecycle, expected) => {
    const { agent, logger } = agentOf(lifecycle);

    expect(await newsOf(agent)).toMatchObject([
      { type: 'model-error', turn: 1, error: { code: 'ERR_MODEL_FAILED' }, ...expected },
    ]);
    expect(logger.lines).toEqual([]);
  });

  test('it is logged if the event has no listener', async () => {
    const { agent, logger } = agentOf(soon);
    agent.on('run-end', () => {});

    await agent.run('go');

    expect(logger.lines).toHaveLength(1);
    expect(String(logger.lines)).toContain('Attempt 2 follows in');
  });

  test('it is logged if the hook is called without an agent, such as in a unit test', async () => {
    const logger = keepingLogger();
    const model = scriptedModel([]);
    const run = { logger, clock: manualClock(), signal: AbortSignal.abort() };
    const error = new ModelError('m', Object.assign(new Error('busy'), { status: 503 }));
    const request = { messages: [], tools: [], model, run: run as unknown as RunContext };

    await expect(soon.wrapModelCall?.(request, () => Promise.reject(error))).rejects.toBe(error);

    expect(logger.lines).toEqual([expect.stringContaining('warn: Attempt 2 follows in')]);
  });

  test('a listener of that event type suffices', async () => {
    const { agent, logger } = agentOf(soon);
    const heard: string[] = [];
    agent.on('model-error', ({ action }) => void heard.push(action));

    await agent.run('go');

    expect([heard, logger.lines]).toEqual([['retry'], []]);
  });
});

test('a compaction emits a start and an end event with the number of messages', async () => {
  const short = compaction({ maxMessages: 4, keep: 2, summarize: () => 'Short.' });
  const messages = Array.from({ length: 6 }, (_, at) =>
    at % 2 === 0
      ? ({ role: 'user', content: `question ${at}` } as const)
      : ({ role: 'assistant', content: [{ type: 'text', text: `answer ${at}` }] } as const),
  );
  const agent = new Agent({ model: scriptedModel(['done']), lifecycle: [short] });
  const news: unknown[] = [];
  for await (const event of agent.stream('go', { messages })) {
    if (event.type === 'compaction-start' || event.type === 'compaction-end') news.push([event.type, event.messages]);
  }
  expect(news[0]).toEqual(['compaction-start', 7]);
  expect(news[1]).toMatchObject(['compaction-end', expect.any(Number)]);
});
