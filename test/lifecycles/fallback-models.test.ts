import { Agent } from 'keelson';
import { fallbackModels } from 'keelson/lifecycles';
import { fails, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { rejectionOf } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';

function run(error: object, on: NonNullable<Parameters<typeof fallbackModels>[1]>['on']) {
  const lifecycle = [fallbackModels([scriptedModel('Second.')], { on })];
  return new Agent({ model: scriptedModel(() => fails(error)), lifecycle, logger: keepingLogger() }).run('Hi');
}

test('the next model is called for the kinds in `on` only', async () => {
  const busy = { message: 'busy', kind: 'overloaded' };
  const wrong = { message: 'wrong', kind: 'invalid-request' };

  expect((await run(busy, ['rate-limit', 'overloaded'])).text).toBe('Second.');
  expect((await run({ message: 'slow down', status: 429 }, ['rate-limit'])).text).toBe('Second.');
  expect(await rejectionOf(run(wrong, ['rate-limit', 'overloaded']))).toMatchObject({ kind: 'invalid-request' });
  expect(await rejectionOf(run(wrong, []))).toMatchObject({ kind: 'invalid-request' });
  expect((await run(wrong, undefined)).text).toBe('Second.');
});
