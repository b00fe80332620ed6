import { expect, test } from 'vitest';
import { Agent } from '../../src/index.js';
import { scriptedModel } from '../../src/testing/testing.js';

test.each([
  ['beforeAgent', 'the input as a string, an action, or nothing'],
  ['beforeModel', 'an array of messages, an action, or nothing'],
  ['beforeToolSelection', 'an array of tools, an action, or nothing'],
  ['afterModel', 'a HookAction or nothing'],
  ['afterAgent', 'the result as a string, or nothing'],
])('the error for an invalid result of %s names the valid results', async (hook, results) => {
  const lifecycle = [{ [hook]: () => 5 }];

  await expect(new Agent({ model: scriptedModel(['done']), lifecycle }).run('go')).rejects.toMatchObject({
    code: 'ERR_LIFECYCLE_FAILED',
    cause: { message: expect.stringContaining(`${hook} must return ${results}`) },
  });
});
