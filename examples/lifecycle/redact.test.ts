import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent } from 'keelson';
import { assertLifecycle, scriptedModel } from 'keelson/testing';
import { redact } from './redact.js';

test('hides a secret in an answer and in its stream', async () => {
  const model = scriptedModel(['The password is hunter2.']);
  await using agent = new Agent({ model, lifecycle: [redact(['hunter2'])] });
  const stream = agent.stream('What is the password?');
  let shown = '';
  for await (const text of stream.text) shown += text;

  assert.equal(shown, 'The password is ***.');
  assert.equal((await stream.result).text, shown);
});

test('keeps the rules of every lifecycle', async () => {
  await assertLifecycle(() => redact(['hunter2']));
});
