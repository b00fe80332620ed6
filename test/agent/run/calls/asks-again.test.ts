import { Agent, type ModelError } from 'keelson';
import { openai } from 'keelson/openai';
import { calls, fails, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { echo } from '../../../support/agent/sample-tools.js';
import { rejectionOf } from '../../../support/agent/settle.js';
import { transcript } from '../../../support/agent/transcript.js';
import { completionOf } from '../../../support/providers/openai-reply.js';
import { startOpenAIServer } from '../../../support/providers/openai-server.js';

const failure = (message: string, kind: string) => fails(Object.assign(new Error(message), { kind, status: 400 }));
const refused = failure('bad call', 'tool-format');
const ASKED = 'user: The tool call was refused: bad call\nCall the tool again, in the right format.';

test('a tool call that the service refused is put to the model again, as a turn', async () => {
  const model = scriptedModel([refused, calls({ id: 'c1', name: 'echo', input: { text: 'a' } }), 'Done.']);
  const agent = new Agent({ model, tools: [echo] });

  const { text, turns, history } = await agent.run('Echo.');

  expect([text, turns]).toEqual(['Done.', 3]);
  expect(transcript(history)[1]).toContain('was refused: bad call');
});

test('it is asked again once in a run', async () => {
  const model = scriptedModel([refused, calls('echo', { text: 'a' }), refused]);

  const error = (await rejectionOf(new Agent({ model, tools: [echo] }).run('Echo.'))) as ModelError;

  expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED', kind: 'tool-format' });
  expect(model.requests).toHaveLength(3);
});

test('the hooks around the model call run again', async () => {
  const ran: string[] = [];
  const agent = new Agent({
    model: Object.assign(scriptedModel([refused, 'Done.']), { id: 'm' }),
    lifecycle: [
      {
        beforeModel: () => void ran.push('beforeModel'),
        wrapModelCall: (_request, next) => {
          ran.push('wrapModelCall');
          return next();
        },
        afterModel: () => void ran.push('afterModel'),
        onError: () => void ran.push('onError'),
      },
    ],
  });

  const { history } = await agent.run('Hello');

  expect(ran).toEqual(['beforeModel', 'wrapModelCall', 'beforeModel', 'wrapModelCall', 'afterModel']);
  expect(transcript(history)).toEqual(['user: Hello', ASKED, 'assistant: Done.']);
});

test('it is not asked again in the last turn, or by other failures', async () => {
  const last = new Agent({ model: scriptedModel([refused, 'Done.']), maxTurns: 1 });
  const other = new Agent({ model: scriptedModel([failure('no', 'invalid-request'), 'Done.']) });

  expect(await rejectionOf(last.run('Hello'))).toMatchObject({ kind: 'tool-format' });
  expect(await rejectionOf(other.run('Hello'))).toMatchObject({ kind: 'invalid-request' });
});

test("the model reads Groq's failed generation", async () => {
  const message = "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.";
  const failed = {
    message,
    type: 'invalid_request_error',
    code: 'tool_use_failed',
    failed_generation: '<function=echo>{',
  };
  await using server = await startOpenAIServer((_body, index) =>
    index === 0 ? { status: 400, json: { error: failed } } : { json: completionOf({ text: 'Done.' }) },
  );
  const agent = new Agent({ model: openai('m', { baseURL: server.baseURL }), tools: [echo] });

  const { text } = await agent.run('Echo.');

  expect(text).toBe('Done.');
  expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('<function=echo>{');
});
