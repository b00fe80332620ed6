import { expect, test } from 'vitest';
import { Agent, type AgentLifecycle, HookAction, type ModelResponse } from '../../src/index.js';
import { scriptedModel } from '../../src/testing/testing.js';

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
