import { describe, expect, it } from 'vitest';
import { Agent, type AgentLifecycle, HookAction, type RunError } from '../../../src/index.js';
import { calls, hangs, scriptedModel } from '../../../src/testing/testing.js';
import type { ToolResult } from '../../../src/tools/tool.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { pause, rejectionOf } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';

describe('a wrap that passes another call id to `next`', () => {
  it.each(['other', 'call_2'])('gets an error result for the id %s, and the tool does not run', async (id) => {
    const executed: string[] = [];
    const tool = toolOf('work', async (_input, { callId }) => {
      executed.push(callId);
      await pause(5);
      return 'worked';
    });
    const renaming: AgentLifecycle = {
      wrapToolCall: (call, next) => next(call.id === 'call_1' ? { ...call, id } : call),
    };
    const model = scriptedModel([calls({ name: 'work' }, { name: 'work' }), 'done']);
    const agent = new Agent({ model, tools: [tool], lifecycle: [renaming] });

    const { history } = await agent.run('Hello');

    expect(executed).toEqual(['call_2']);
    expect(transcript(history)[2]).toMatch(/^tool: call_1!.*call_2=worked/);
  });
});

it('ends a hanging model by `firstPartMs` alone, also if nobody listens', async () => {
  const agent = new Agent({ model: scriptedModel([hangs()]), timeouts: { firstPartMs: 10 } });

  expect(await rejectionOf(agent.run('Hello'))).toMatchObject({
    ...{ code: 'ERR_MODEL_FAILED', retryable: true },
    cause: { code: 'ERR_TIMEOUT', timeoutMs: 10 },
  });
});

it('gives a hook that awaits `next` after `run.end` an error result', async () => {
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

it('does not check the `output` of a plain answer that is suspended in afterModel', async () => {
  const lifecycle = [{ afterModel: () => HookAction.suspend('ask') }];
  const agent = new Agent({ model: scriptedModel(['not JSON']), lifecycle });

  expect(await agent.run('Hello', { output: { type: 'object' } })).toMatchObject({
    ...{ status: 'suspended', text: 'not JSON', turns: 1 },
  });
});

it('reports a model that throws synchronously behind a wrap as a ModelError', async () => {
  const cause = new TypeError('thrown');
  const model = {
    id: 'throwing',
    generate: () => {
      throw cause;
    },
  };
  const caught: unknown[] = [];
  const wrap: AgentLifecycle = {
    wrapModelCall: (_request, next) =>
      next().catch((error) => {
        caught.push(error);
        throw error;
      }),
  };
  const error = await rejectionOf(new Agent({ model, lifecycle: [wrap] }).run('Hello'));

  expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED', model: 'throwing', cause });
  expect(caught).toEqual([error]);
});

it('gives the open call of a suspended run an error result if the run fails later', async () => {
  const lifecycle: AgentLifecycle = {
    wrapToolCall: () => HookAction.suspend('ask'),
    afterAgent: () => {
      throw new TypeError('late');
    },
  };
  const tools = [toolOf('work', () => 'worked')];
  const agent = new Agent({ model: scriptedModel([calls('work')]), tools, lifecycle: [lifecycle] });

  const error = (await rejectionOf(agent.run('Hello'))) as RunError;

  expect(error).toMatchObject({ code: 'ERR_LIFECYCLE_FAILED', point: 'afterAgent' });
  expect(transcript(error.history)).toEqual([
    'user: Hello',
    'assistant: call call_1 work',
    'tool: call_1!The call was not completed, because the run failed.',
  ]);
  expect(error.messages).toEqual(error.history);
});
