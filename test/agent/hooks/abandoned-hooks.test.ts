import {
  Agent,
  type AgentEvent,
  type AgentLifecycle,
  HookAction,
  type RunContext,
  type Tool,
  type ToolResult,
} from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { type Gate, gate, pause, until } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';

const endRun = (run: unknown) => (run as RunContext).end(HookAction.respond('enough'));

/** The ways in which the second tool call ends the run while the first one is running. */
const enders: Readonly<Record<string, (controller: AbortController) => Tool>> = {
  'the run is aborted': (controller) => toolOf('end', () => controller.abort()),
  'the run is ended': () => toolOf('end', (_input, { run }) => endRun(run)),
  'a hook fails': () => toolOf('end', () => 'ok'),
};
const failing: AgentLifecycle = {
  priority: 90,
  wrapToolCall: (call, next) => (call.name === 'end' ? Promise.reject(new Error('x')) : next()),
};

interface Outliving {
  readonly tool: Tool;
  readonly lifecycle?: readonly AgentLifecycle[];
}

/** Runs a call of `tool` in parallel with a call that ends the run. Opens the gate when the run has ended. */
async function outlive(how: string, opened: Gate, { tool, lifecycle = [] }: Outliving) {
  const controller = new AbortController();
  const end = (enders[how] as (controller: AbortController) => Tool)(controller);
  const agent = new Agent({
    model: scriptedModel([calls({ name: tool.name }, { name: 'end' })]),
    tools: [tool, end],
    lifecycle: how === 'a hook fails' ? [failing, ...lifecycle] : lifecycle,
  });
  const events: AgentEvent['type'][] = [];
  for (const type of ['decision', 'tool-start', 'tool-delta', 'tool-end', 'run-end'] as const) {
    agent.on(type, () => void events.push(type));
  }
  const options = how === 'the run is aborted' ? { signal: controller.signal } : {};
  const result = await agent.run('go', options).catch(() => undefined);
  const decisions = result?.decisions.length;
  opened.open();
  await pause(5);
  return { events, added: (result?.decisions.length ?? 0) - (decisions ?? 0) };
}

describe.each(Object.keys(enders))('once every call has its result because %s,', (how) => {
  test('a call whose arguments are still being checked does not run', async () => {
    const opened = gate();
    const ran: string[] = [];
    const slow = {
      ...toolOf('slow', () => void ran.push('ran')),
      check: (value: unknown) => opened.pass().then(() => ({ value })),
    };

    const { events } = await outlive(how, opened, { tool: slow });

    expect(opened.arrived).toBe(1);
    expect(ran).toEqual([]);
    expect(events.at(-1)).toBe('run-end');
  });

  test('calls that were not started do not start', async () => {
    const ran: string[] = [];
    const controller = new AbortController();
    const end = (enders[how] as (controller: AbortController) => Tool)(controller);
    const agent = new Agent({
      model: scriptedModel([calls({ name: 'end' }, { name: 'next' }, { name: 'next' })]),
      tools: [end, toolOf('next', () => void ran.push('ran'))],
      parallelToolCalls: false,
      lifecycle: how === 'a hook fails' ? [failing] : [],
    });

    await agent.run('go', { signal: controller.signal }).catch(() => undefined);
    await pause(2);

    expect(ran).toEqual([]);
  });
});

describe('a hook that an outer hook has abandoned', () => {
  /** An outer hook that answers without awaiting `next`, and an inner hook that waits at the gate. */
  function arrange(opened: Gate) {
    const touched: string[] = [];
    const answer = {
      content: [{ type: 'text', text: 'from the hook' } as const],
      finishReason: 'stop' as const,
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    };
    const outer: AgentLifecycle = {
      priority: 90,
      wrapModelCall(request, next) {
        if (request.run.turn === 1) return next();
        next().catch((error) => touched.push(error.code));
        return answer;
      },
      wrapToolCall(_call, next) {
        void next().then(({ isError }) => touched.push(isError ? 'an error' : 'a result'));
        return { content: 'from the hook' };
      },
    };
    const inner: AgentLifecycle = {
      async wrapModelCall(request, next) {
        if (request.run.turn === 2) await opened.pass();
        return next();
      },
      wrapToolCall: (_call, next) => opened.pass().then(() => next()),
    };
    const model = scriptedModel([calls('slow'), 'never']);
    const tools = [toolOf('slow', () => void touched.push('tool'))];
    return { touched, model, agent: new Agent({ model, tools, lifecycle: [outer, inner] }) };
  }

  test('cannot call the tool or the model after the run has ended', async () => {
    const opened = gate();
    const { touched, model, agent } = arrange(opened);

    const { text } = await agent.run('go');
    opened.open();
    await pause(2);

    expect([text, opened.arrived]).toEqual(['from the hook', 2]);
    expect(touched.sort()).toEqual([expect.stringMatching(/^ERR_/), 'an error']);
    expect(model.requests).toHaveLength(1);
  });
});

describe('a late run.end', () => {
  test.each([
    ['the only call', 1],
    ['one of two calls', 2],
  ])('in %s that then hangs ends the run', async (_title, count) => {
    const hang = toolOf('hang', async (_input, { run }) => {
      await pause(1);
      endRun(run);
      return new Promise(() => {});
    });
    const [first, ...rest] = Array.from({ length: count }, () => ({ name: 'hang' }));
    const agent = new Agent({ model: scriptedModel([calls(first as { name: string }, ...rest)]), tools: [hang] });
    const ended: string[] = [];

    // A run without a signal would wait for its only call.
    const { signal } = new AbortController();
    void agent.run('go', { signal }).then(({ text }) => ended.push(text));

    await until(() => ended.length === 1);
    expect(ended).toEqual(['enough']);
  });
});

describe('a tool call that a hook abandoned to return its own answer,', () => {
  const impatient: AgentLifecycle = {
    wrapToolCall: (call, next) =>
      call.name === 'slow' ? Promise.race([next(), pause(1).then(() => ({ content: 'too slow' }))]) : next(),
  };
  const arrange = () => {
    const signals: AbortSignal[] = [];
    const slow = toolOf('slow', (_input, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    const quick = toolOf('quick', (_input, { signal }) => {
      signals.push(signal);
      return 'ok';
    });
    return { signals, tools: [slow, quick] };
  };

  test.each<[string, { name: string }[]]>([
    ['alone', []],
    ['with another call', [{ name: 'quick' }]],
  ])('%s, is aborted once the turn has its results', async (_title, others) => {
    const { signals, tools } = arrange();
    let aborted: boolean | undefined;
    const answers = () => {
      aborted = signals[0]?.aborted;
      return 'done';
    };
    const model = scriptedModel([calls({ name: 'slow' }, ...others), answers]);

    const { messages } = await new Agent({ model, tools, lifecycle: [impatient] }).run('go');

    expect(resultsIn(messages)).toMatchObject({ call_1: 'too slow' });
    expect(aborted).toBe(true);
    expect(signals[0]?.reason).toBe('The call got a result before it was completed.');
    expect(signals.slice(1).map((signal) => signal.aborted)).toEqual(others.map(() => false));
  });
});

test('a hook that awaits `next` after `run.end` gets an error result, and the tool does not run', async () => {
  const seen: ToolResult[] = [];
  let executed = 0;
  const ending: AgentLifecycle = {
    wrapToolCall: async (call, next) => {
      call.run.end(HookAction.respond('early'));
      const result = await next();
      seen.push(result);
      return result;
    },
  };
  const tools = [toolOf('work', () => String(++executed))];
  const agent = new Agent({ model: scriptedModel([calls('work')]), tools, lifecycle: [ending] });

  expect((await agent.run('Hello')).text).toBe('early');
  await pause();

  expect(executed).toBe(0);
  expect(seen).toMatchObject([{ isError: true }]);
});
