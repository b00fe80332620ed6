import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Agent, type AgentLifecycle, type ModelResponse, type RunContext } from 'keelson';
import { calls, delays, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { pause, rejectionOf, within } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const answer: ModelResponse = { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage };

describe('a hundred concurrent runs', () => {
  test('as streams each have their own events, from run-start to run-end', async () => {
    const model = scriptedModel([({ messages }) => delays(1, `${messages[0]?.content}`)], { perRun: true });
    const agent = new Agent({ model });

    const streams = await Promise.all(
      Array.from({ length: 100 }, async (_, at) => {
        const texts: string[] = [];
        const ids = new Set<string>();
        for await (const event of agent.stream(`q${at}`)) {
          ids.add(event.runId);
          if (event.type === 'text-delta') texts.push(event.text);
        }
        return { text: texts.join(''), ids: [...ids] };
      }),
    );

    expect(streams.map(({ text }) => text)).toEqual(streams.map((_, at) => `q${at}`));
    expect(new Set(streams.flatMap(({ ids }) => ids)).size).toBe(100);
  });

  test('have separate errors if the model always throws the same object', async () => {
    const down = new Error('down');
    const agent = new Agent({ model: { id: 'm', generate: () => pause(1).then(() => Promise.reject(down)) } });

    const errors = await Promise.all(Array.from({ length: 10 }, (_, at) => rejectionOf(agent.run(`q${at}`))));

    expect(errors.map((error) => (error as { messages: unknown }).messages)).toEqual(
      errors.map((_, at) => [{ role: 'user', content: `q${at}` }]),
    );
  });

  test('have separate errors if that object is a ModelError', async () => {
    const inner = new Agent({ model: scriptedModel([]) });
    const shared = await rejectionOf(inner.run('inner'));
    const agent = new Agent({ model: { id: 'm', generate: () => pause(1).then(() => Promise.reject(shared)) } });

    const errors = await Promise.all(['one', 'two'].map((input) => rejectionOf(agent.run(input))));

    expect(errors.map((error) => (error as { messages: unknown }).messages)).toEqual([
      [{ role: 'user', content: 'one' }],
      [{ role: 'user', content: 'two' }],
    ]);
  });
});

describe('models that do not remove their abort listeners', () => {
  test('do not increase the memory of an agent, and each run has its own signal', async () => {
    const signals = new Set<AbortSignal>();
    const agent = new Agent({
      model: {
        id: 'forgetful',
        async generate({ signal }) {
          if (signal === undefined) return answer;
          signals.add(signal);
          const bytes = new Uint8Array(100_000);
          signal.addEventListener('abort', () => bytes);
          return answer;
        },
      },
    });
    const warnings: string[] = [];
    const listener = ({ name }: Error) => void warnings.push(name);
    process.on('warning', listener);

    for (let at = 0; at < 50; at++) await agent.run('go');
    await pause(5);
    process.off('warning', listener);

    expect(warnings).toEqual([]);
    expect([...signals].filter((signal) => getEventListeners(signal, 'abort').length > 1)).toEqual([]);
  });
});

describe('a run inside a run', () => {
  test('of the same agent works from a hook and from a tool', async () => {
    const model = scriptedModel(
      [({ messages }) => (messages[0]?.content === 'outer' ? calls('ask', {}) : `re: ${messages[0]?.content}`), 'done'],
      { perRun: true },
    );
    const agent: Agent = new Agent({
      model,
      tools: [toolOf('ask', async () => (await agent.run('from the tool')).text)],
    });
    const inner: string[] = [];
    agent.use({
      async beforeAgent(input, run) {
        if (input !== 'outer') return;
        inner.push((await agent.run('from the hook', { parent: run })).text);
      },
    });

    const { text, messages } = await agent.run('outer');

    expect([text, inner]).toEqual(['done', ['re: from the hook']]);
    expect(transcript(messages)[2]).toBe('tool: call_1=re: from the tool');
  });

  test('is aborted with its parent, and has `run.parent`', async () => {
    const controller = new AbortController();
    const agent: Agent = new Agent({
      model: { id: 'm', generate: () => new Promise(() => {}) },
      lifecycle: [],
    });
    let child: Promise<unknown> | undefined;
    agent.use({
      beforeAgent(input, run) {
        if (input === 'outer') child = rejectionOf(agent.run('inner', { parent: run }));
      },
    });

    const outer = rejectionOf(agent.run('outer', { signal: controller.signal }));
    await pause(2);
    controller.abort('enough');

    expect(await within(outer)).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'enough' });
    expect(await within(child as Promise<unknown>)).toMatchObject({
      code: 'ERR_RUN_ABORTED',
      cause: { code: 'ERR_RUN_ABORTED', cause: 'enough' },
    });
  });

  test('accepts the run of a tool, or of another copy of the library, as its parent', async () => {
    const controller = new AbortController();
    const hanging = new Agent({ model: { id: 'm', generate: () => new Promise(() => {}) } });
    const ends: unknown[] = [];
    const methods = { attempt: 1, idempotencyKey: 'run_1', add() {}, end() {}, background: async () => '' };
    const foreign = { id: 'run_1', agent: 'other', turn: 1, context: undefined, signal: controller.signal, ...methods };
    const ask = toolOf('ask', async (_input, { run }) => {
      for (const parent of [run, foreign]) ends.push(await rejectionOf(hanging.run('inner', { parent })));
      return 'done';
    });

    const outer = new Agent({ model: scriptedModel([calls('ask', {})]), tools: [ask] });
    const running = rejectionOf(outer.run('outer', { signal: controller.signal }));
    await pause(2);
    controller.abort('enough');
    await within(running);
    await pause(2);

    expect(ends).toMatchObject([{ code: 'ERR_RUN_ABORTED' }, { code: 'ERR_RUN_ABORTED', cause: 'enough' }]);
  });

  test('whose parent is already aborted does not start', async () => {
    const controller = new AbortController();
    const parents: RunContext[] = [];
    const model = scriptedModel(['never']);
    const agent = new Agent({ model });
    const off = agent.use({
      beforeAgent(_input, run) {
        parents.push(run);
        controller.abort();
      },
    });
    await rejectionOf(agent.run('outer', { signal: controller.signal }));
    off();

    expect(await rejectionOf(agent.run('inner', { parent: parents[0] }))).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(model.requests).toEqual([]);
  });

  test('that ends removes its abort listeners from its parent', async () => {
    const agent: Agent = new Agent({ model: { id: 'm', generate: async () => answer } });
    let held = 0;
    agent.use({
      async beforeAgent(input, parent) {
        if (input !== 'outer') return;
        const { arrayBuffers } = process.memoryUsage();
        for (let at = 0; at < 300; at++) await agent.run('inner', { parent, context: new Uint8Array(100_000) });
        collect();
        await pause();
        collect();
        held = process.memoryUsage().arrayBuffers - arrayBuffers;
      },
    });

    await agent.run('outer', { signal: new AbortController().signal });

    // All runs together would need 30 MB.
    expect(held).toBeLessThan(15_000_000);
  });
});

describe('memory', () => {
  /** Returns the heap size of a run with this number of turns at its last model call. */
  async function heapAt(turns: number): Promise<number> {
    let before = 0;
    let held = 0;
    let call = 0;
    const agent = new Agent({
      maxTurns: turns,
      tools: [echo],
      lifecycle: [touching],
      model: {
        id: 'm',
        async generate() {
          call += 1;
          if (call === 1 || call === turns) {
            collect();
            const { heapUsed } = process.memoryUsage();
            if (call === 1) before = heapUsed;
            else held = heapUsed - before;
          }
          if (call === turns) return answer;
          const part = {
            type: 'tool-call',
            id: `c${call}`,
            name: 'echo',
            input: { text: 'x'.repeat(100) + call },
          } as const;
          return { content: [part], finishReason: 'tool-calls', usage };
        },
      },
    });
    await agent.run('go');
    return held;
  }

  const touching: AgentLifecycle = {
    beforeModel: (messages) => [...messages],
    wrapModelCall: (request, next) => next({ ...request, settings: { seed: 1 } }),
    wrapToolCall: (call, next) => next({ ...call, input: call.input }),
  };

  test('of a run whose hooks copy the messages and the requests grows linearly with its turns', {
    timeout: 60_000,
  }, async () => {
    await heapAt(50);

    const short = await heapAt(200);
    const long = await heapAt(1_000);

    // One array of messages per turn would need 8 MB in the long run and 0.3 MB in the short run.
    expect(long).toBeLessThan(5 * short + 2_000_000);
  });
});
