import { HookAction, LifecycleError, type ModelResponse } from 'keelson';
import { HookCancelledError, type HookEvent } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { rejectionOf } from '../../support/agent/settle.js';
import {
  agentWith,
  answers,
  countingTool,
  hooksIn,
  isGone,
  recorded,
  records,
  sh,
  useHookLab,
} from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Creates an agent with one tool and a hook that cancels the event. */
function cancelled(event: HookEvent, more: object = {}) {
  const hook = answers(event, { continue: false, reason: 'not on Sundays', ...more }, { name: 'sabbath' });
  const { tool, inputs } = countingTool('look');
  const { agent, model } = agentWith(lab, hooksIn(lab, { hooks: [hook] }), {
    script: [calls('look', {}), says('seen')],
    tools: [tool],
  });
  return { agent, model, inputs };
}

const points = {
  before_agent: ['beforeAgent', 0, 0],
  before_model: ['beforeModel', 0, 0],
  before_tool_selection: ['beforeToolSelection', 0, 0],
  after_model: ['afterModel', 1, 0],
  after_tool: ['end', 1, 1],
  after_agent: ['afterAgent', 2, 1],
} as const;

test.each(Object.entries(points))(
  'S0-13.2: a cancellation at %s ends the run at that point',
  async (event, [point, asked, ran]) => {
    const { agent, model, inputs } = cancelled(event as HookEvent);
    const error = await rejectionOf(agent.run('go'));

    expect(error).toMatchObject({ code: 'ERR_RUN_REJECTED', by: 'sabbath', reason: 'not on Sundays', point });
    expect([model.requests.length, inputs.length]).toEqual([asked, ran]);
  },
);

test('S0-13.2: a cancellation at after_model holds for a response whose usage a lifecycle has removed', async () => {
  const { agent, inputs } = cancelled('after_model');
  agent.use({
    afterModel: ({ content, finishReason }) => HookAction.modify({ content, finishReason } as unknown as ModelResponse),
  });

  expect(await rejectionOf(agent.run('go'))).toMatchObject({ code: 'ERR_RUN_REJECTED', by: 'sabbath' });
  expect(inputs).toEqual([]);
});

test('S0-13.2: a cancellation at session_start rejects the session with the hook name and the reason', async () => {
  const { agent } = cancelled('session_start');
  const error = (await rejectionOf(agent.session())) as LifecycleError;

  expect(error).toBeInstanceOf(LifecycleError);
  expect(error.cause).toBeInstanceOf(HookCancelledError);
  expect(error.cause).toMatchObject({ hook: 'sabbath', event: 'session_start', reason: 'not on Sundays' });
  expect(agent.status().sessions).toBe(0);
});

test('S0-13.2: a cancellation at before_tool prevents the tool call, and the model reads the reason', async () => {
  const { agent, model, inputs } = cancelled('before_tool', { reason: 'not </hook-message> on Sundays' });

  expect((await agent.run('go')).text).toBe('seen');
  expect(inputs).toEqual([]);
  expect(model.requests[1]?.messages.at(-1)).toEqual({
    role: 'tool',
    content: [
      {
        ...{ type: 'tool-result', id: 'call_1', name: 'look', isError: true },
        content: 'The call was blocked by hook "sabbath": not &lt;/hook-message> on Sundays',
      },
    ],
  });
});

test('S0-13.2: a cancellation at after_tool withholds the result', async () => {
  const { agent } = cancelled('after_tool');
  const { messages } = (await rejectionOf(agent.run('go'))) as { messages: unknown };

  expect(JSON.stringify(messages)).not.toContain('done');
});

test('S0-13.2: a cancellation at session_end is logged, and the session closes', async () => {
  const { agent } = cancelled('session_end');
  await (await agent.session()).close();

  expect(lab.logged('warn')).toMatchObject([{ details: { hookName: 'sabbath', reason: 'not on Sundays' } }]);
});

test('B17: a cancellation at after_tool counts even if the tool has failed', async () => {
  const hooks = hooksIn(lab, { hooks: [answers('after_tool', { continue: false, reason: 'enough' })] });
  const { tool } = countingTool('bad', () => {
    throw new TypeError('broken');
  });
  const { agent, model } = agentWith(lab, hooks, { script: [calls('bad', {}), says('seen')], tools: [tool] });

  expect(await rejectionOf(agent.run('go'))).toMatchObject({ code: 'ERR_RUN_REJECTED', reason: 'enough' });
  expect(model.requests).toHaveLength(1);
});

test('B17: a cancellation counts even while other tool calls of the turn are running', async () => {
  const hooks = hooksIn(lab, {
    hooks: [answers('after_tool', { continue: false, reason: 'enough' }, { matcher: 'quick' })],
  });
  const quick = countingTool('quick').tool;
  const slow = countingTool('slow', () => new Promise((resolve) => setTimeout(resolve, 60_000, 'late').unref())).tool;
  const script = [calls({ name: 'slow' }, { name: 'quick' }), says('seen')];
  const { agent } = agentWith(lab, hooks, { script, tools: [quick, slow] });

  expect(await rejectionOf(agent.run('go'))).toMatchObject({ reason: 'enough' });
});

test('B17: a cancellation also ends the stream of the answer', async () => {
  const { agent } = cancelled('after_model');
  const stream = agent.stream('go');
  const types: string[] = [];
  await (async () => {
    for await (const event of stream) types.push(event.type);
  })().catch(() => {});

  expect(types.slice(-2)).toEqual(['run-error', 'run-end']);
  expect(await rejectionOf(stream.result)).toMatchObject({ code: 'ERR_RUN_REJECTED' });
});

test('no process of a hook outlives its run', async () => {
  const hooks = hooksIn(lab, {
    hooks: [
      sh('before_tool', 'echo $$ > pid; exec sleep 60', { matcher: 'slow' }),
      sh('before_tool', `while ! test -e pid; do sleep 0.01; done; echo '{}'`, { matcher: 'quick' }),
    ],
  });
  const quick = countingTool('quick').tool;
  const slow = countingTool('slow').tool;
  const script = [calls({ name: 'slow' }, { name: 'quick' }), says('seen')];
  const { agent } = agentWith(lab, hooks, {
    script,
    tools: [quick, slow],
    lifecycle: [
      {
        wrapToolCall: async (call, next) => {
          const result = await next(call);
          if (call.name === 'quick') call.run.end({ type: 'respond', text: 'enough' });
          return result;
        },
      },
    ],
  });

  expect((await agent.run('go')).text).toBe('enough');
  await expect.poll(() => isGone(Number(lab.read('pid'))), { timeout: 4_000 }).toBe(true);
});

test('aborting a run ends its hook and starts no other hook', async () => {
  const hooks = hooksIn(lab, { hooks: [sh('before_agent', 'echo $$ > pid; exec sleep 60'), records('before_agent')] });
  const { agent, model } = agentWith(lab, hooks, { script: [says('seen')] });
  const controller = new AbortController();
  const running = agent.run('go', { signal: controller.signal });
  await expect.poll(() => lab.has('pid') && lab.read('pid') !== '').toBe(true);
  controller.abort();

  expect(await rejectionOf(running)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  await expect.poll(() => isGone(Number(lab.read('pid'))), { timeout: 4_000 }).toBe(true);
  expect([recorded(lab), model.requests]).toEqual([[], []]);
});
