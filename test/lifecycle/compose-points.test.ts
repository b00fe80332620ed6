import { expect, test } from 'vitest';
import { Agent, type AgentLifecycle, HookAction, type ModelResponse } from '../../src/index.js';
import { calls, scriptedModel } from '../../src/testing/testing.js';
import { toolOf } from '../support/agent/sample-tools.js';

test('reports the valid return values if wrapModelCall returns an action', async () => {
  const lifecycle: AgentLifecycle = {
    name: 'guard',
    wrapModelCall: () => HookAction.reject('no') as unknown as ModelResponse,
  };

  await expect(new Agent({ model: scriptedModel(['done']), lifecycle: [lifecycle] }).run('go')).rejects.toMatchObject({
    cause: {
      code: 'ERR_HOOK_RESULT_INVALID',
      message: expect.stringContaining(
        'wrapModelCall must return a model response; `request.run.end()` takes an action',
      ),
    },
  });
});

test('an outer hook sees why an inner hook suspended the call', async () => {
  const seen: unknown[] = [];
  const lifecycle: AgentLifecycle[] = [
    {
      wrapToolCall: (_call, next) =>
        next().catch((error: unknown) => {
          seen.push(error);
          throw error;
        }),
    },
    { wrapToolCall: () => HookAction.suspend('Ask Ann.') },
  ];
  const agent = new Agent({ model: scriptedModel([calls('pay')]), tools: [toolOf('pay', () => 'paid')], lifecycle });

  expect((await agent.run('go')).status).toBe('suspended');
  expect(seen).toMatchObject([{ code: 'ERR_CALL_SUSPENDED', message: 'The call is suspended: Ask Ann.' }]);
});
