import { Agent } from 'keelson';
import { type BuildContext, type ConceptAugmentationOptions, conceptAugmentation } from 'keelson/concepts';
import { calls, says, scriptedModel } from 'keelson/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { augmentedRun, block, keptLog } from '../support/concepts/augmented-run.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** On a busy machine lookups seem to block the event loop, and the next one waits for a real timer. This prevents it. */
const onAnIdleMachine = () => void vi.spyOn(performance, 'now').mockReturnValue(0);

/** Returns a `buildContext` that resolves each concept after its own delay, or never without a delay. */
function slowly(ms: Readonly<Record<string, number>>, fallback?: number) {
  const state = { started: [] as string[], aborted: [] as string[] };
  const buildContext: BuildContext = ({ conceptName }, { signal }) => {
    state.started.push(conceptName);
    signal.addEventListener('abort', () => void state.aborted.push(`${conceptName} at ${Date.now()}`));
    const delay = ms[conceptName] ?? fallback;
    return new Promise((resolve) => {
      if (delay !== undefined) setTimeout(() => resolve(`about ${conceptName}`), delay);
    });
  };
  return { state, buildContext };
}

/** Starts a run that records what its tool received, when, and the log. */
function start(text: string, options: ConceptAugmentationOptions) {
  vi.setSystemTime(0);
  const run = { received: undefined as unknown, at: -1, log: [] as readonly { level: string; message: string }[] };
  const { lines, logger } = keptLog();
  run.log = lines;
  const agent = new Agent({
    model: scriptedModel([calls('work', { text }), says('end')]),
    tools: [
      toolOf('work', (given) => {
        run.received = given;
        run.at = Date.now();
        return 'done';
      }),
    ],
    lifecycle: [conceptAugmentation(options)],
    logger,
  });
  return { run, ended: agent.run('go') };
}

describe('S2-6.3: the time limit of one concept', () => {
  test('ends the lookup after exactly 1,000 ms', async () => {
    const { state, buildContext } = slowly({});
    const { run, ended } = start('[[A]]', { buildContext });
    await vi.advanceTimersByTimeAsync(999);
    expect([state.aborted, run.at]).toEqual([[], -1]);
    await vi.advanceTimersByTimeAsync(1);
    await ended;

    expect(state.aborted).toEqual(['A at 1000']);
    expect(run).toMatchObject({ received: { text: '[[A]]' }, at: 1_000 });
    expect(run.log[1]).toEqual({
      level: 'error',
      message: 'BuildContext failed for [[A]]',
      extra: expect.objectContaining({ error: 'TimeoutExceededError: The lookup of [[A]] took longer than 1000 ms.' }),
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('allows a lookup of 999 ms', async () => {
    const { run, ended } = start('[[A]]', { buildContext: slowly({ A: 999 }).buildContext });
    await vi.advanceTimersByTimeAsync(999);
    await ended;

    expect(run).toMatchObject({ received: { text: `${block('about A')}\n\n[[A]]` }, at: 999 });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('S2-5.4: can be set, and a lookup that ends in time is used', async () => {
    const { state, buildContext } = slowly({ A: 150 });
    const { run, ended } = start('[[A]] [[B]]', { buildContext, timeouts: { conceptMs: 200 } });
    await vi.advanceTimersByTimeAsync(200);
    await ended;

    expect(run).toMatchObject({ received: { text: `${block('about A')}\n\n[[A]] [[B]]` }, at: 200 });
    expect(state.aborted).toEqual(['B at 200']);
  });
});

describe('S2-6.3, S2-5.4: the total time limit', () => {
  const names = Array.from({ length: 40 }, (_, at) => `C${at}`);
  const text = names.map((name) => `[[${name}]]`).join(' ');

  test('S2-8.2b: ends all lookups after 5,000 ms, and no context is used', async () => {
    onAnIdleMachine();
    const { state, buildContext } = slowly({}, 900);
    const { run, ended } = start(text, { buildContext });
    await vi.advanceTimersByTimeAsync(4_999);
    expect(run.at).toBe(-1);
    await vi.advanceTimersByTimeAsync(1);
    await ended;

    expect(run).toMatchObject({ received: { text }, at: 5_000 });
    expect(state.started).toHaveLength(24);
    expect(state.aborted).toEqual(['C20', 'C21', 'C22', 'C23'].map((name) => `${name} at 5000`));
    expect(run.log.at(-1)).toEqual({
      level: 'warn',
      message: 'Augmentation failed for work: TimeoutExceededError: The lookup of concepts took longer than 5000 ms.',
      extra: {
        tool: 'work',
        error: 'TimeoutExceededError: The lookup of concepts took longer than 5000 ms.',
        sessionID: expect.stringContaining('run_'),
      },
    });
    expect(run.log.map(({ level }) => level)).toEqual(['info', 'warn']);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(state.started).toHaveLength(24);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('S2-6.5: can be set', async () => {
    const { run, ended } = start('[[A]] [[B]]', {
      buildContext: slowly({ A: 1 }).buildContext,
      timeouts: { totalMs: 200 },
    });
    await vi.advanceTimersByTimeAsync(200);
    await ended;

    expect(run).toMatchObject({ received: { text: '[[A]] [[B]]' }, at: 200 });
  });
});

test('S2-6.3: synchronous lookups block neither the process nor the total time limit', async () => {
  vi.useRealTimers();
  const text = Array.from({ length: 2_000 }, (_, at) => `[[C${at}]]`).join(' ');
  let count = 0;
  let pauses = 0;
  const beat = setInterval(() => void pauses++, 10);
  const { received, log } = await augmentedRun(
    { text },
    {
      timeouts: { totalMs: 200 },
      buildContext() {
        count += 1;
        for (const until = performance.now() + 10; performance.now() < until; );
        return 'known';
      },
    },
  );
  clearInterval(beat);

  expect(received).toEqual([{ text }]);
  expect(log.at(-1)?.message).toContain('took longer than 200 ms');
  expect(count).toBeLessThan(50);
  expect(pauses).toBeGreaterThan(0);
});

describe('S2-7.2: several concepts', () => {
  test('are looked up concurrently and used in the order of the links', async () => {
    const { state, buildContext } = slowly({ A: 800, B: 700, C: 600, D: 500 });
    const { run, ended } = start('[[A]] [[B]] [[C]] [[D]]', { buildContext });
    await vi.advanceTimersByTimeAsync(499);
    expect(state.started).toEqual(['A', 'B', 'C', 'D']);
    await vi.advanceTimersByTimeAsync(301);
    await ended;

    const context = ['A', 'B', 'C', 'D'].map((name) => `about ${name}`).join('\n\n---\n\n');
    expect(run).toMatchObject({ received: { text: expect.stringContaining(block(context)) }, at: 800 });
  });

  test('S2-7.1e: take less than a second, each of them 700 ms', async () => {
    const took: number[] = [];
    for (const text of ['[[A]]', '[[A]] [[B]]', '[[A]] [[B]] [[C]] [[D]]']) {
      const { run, ended } = start(text, { buildContext: slowly({}, 700).buildContext });
      await vi.advanceTimersByTimeAsync(700);
      await ended;
      took.push(run.at);
    }

    expect(took).toEqual([700, 700, 700]);
  });

  test('are looked up at most `parallel` at a time', async () => {
    onAnIdleMachine();
    const { state, buildContext } = slowly({}, 100);
    const { run, ended } = start('[[A]] [[B]] [[C]]', { buildContext, parallel: 1 });
    await vi.advanceTimersByTimeAsync(99);
    expect(state.started).toEqual(['A']);
    await vi.advanceTimersByTimeAsync(201);
    await ended;

    expect(run.at).toBe(300);
  });

  test('are used if the lookup of another one fails', async () => {
    const { buildContext } = slowly({}, 800);
    const { run, ended } = start('[[A]] [[B]] [[C]] [[D]]', {
      buildContext: (request, options) =>
        request.conceptName === 'B' ? Promise.reject(new Error('no')) : buildContext(request, options),
    });
    await vi.advanceTimersByTimeAsync(800);
    await ended;

    const context = ['A', 'C', 'D'].map((name) => `about ${name}`).join('\n\n---\n\n');
    expect(run).toMatchObject({ received: { text: expect.stringContaining(block(context)) }, at: 800 });
  });
});

test('an abort of the run aborts the lookup and leaves no timers behind', async () => {
  const { state, buildContext } = slowly({});
  const { lines, logger } = keptLog();
  const agent = new Agent({
    model: scriptedModel([calls('work', { text: '[[A]]' })]),
    tools: [toolOf('work', () => 'done')],
    lifecycle: [conceptAugmentation({ buildContext })],
    logger,
  });
  const controller = new AbortController();
  const ended = agent.run('go', { signal: controller.signal }).catch((error) => error.code);
  await vi.advanceTimersByTimeAsync(10);
  controller.abort();

  expect(await ended).toBe('ERR_RUN_ABORTED');
  await vi.advanceTimersByTimeAsync(0);
  expect(state.aborted).toHaveLength(1);
  expect(lines.map(({ level }) => level)).toEqual(['info']);
  expect(vi.getTimerCount()).toBe(0);
});

test('S2-7.1c, S2-7.1d: inserts a megabyte of context in less than 10 ms', async () => {
  vi.useRealTimers();
  const context = `${'what is known '.repeat(70_000)}`;
  let least = Number.POSITIVE_INFINITY;
  // Load from other processes only adds time, so the shortest time counts.
  for (let tries = 0; tries < 100 && least >= 10; tries += 1) {
    let from = 0;
    await augmentedRun(
      { text: '[[A]]' },
      {
        buildContext() {
          from = performance.now();
          return context;
        },
      },
      {
        execute() {
          least = Math.min(least, performance.now() - from);
          return 'done';
        },
      },
    );
  }

  expect(least).toBeLessThan(10);
});
