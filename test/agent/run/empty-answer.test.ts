import { Agent, type AgentLifecycle, type ModelError } from 'keelson';
import { fallbackModels, retryModelCalls } from 'keelson/lifecycles';
import { calls, fails, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { echo } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { transcript } from '../../support/agent/transcript.js';

const silent = says('', { reasoning: 'Nothing to say.' });

describe('an empty answer', () => {
  test('is asked for again, in a counted turn with hooks', async () => {
    const turns: number[] = [];
    const watch: AgentLifecycle = { beforeModel: (_messages, run) => void turns.push(run.turn) };
    const model = scriptedModel([silent, 'It is red.']);

    const result = await new Agent({ model, lifecycle: [watch] }).run('What colour?');

    expect([result.text, result.turns, result.usage.inputTokens, turns]).toEqual(['It is red.', 2, 20, [1, 2]]);
    expect(transcript(result.messages)).toEqual([
      'user: What colour?',
      'user: Your answer was empty. Give your answer now.',
      'assistant: It is red.',
    ]);
  });

  test('behind tool results is the answer the second time, with a warning', async () => {
    const logger = keepingLogger();
    const model = scriptedModel([calls('echo', { text: 'x' }), silent, silent]);

    const result = await new Agent({ model, tools: [echo], logger }).run('go');

    expect([result.status, result.text, result.turns]).toEqual(['completed', '', 3]);
    expect(logger.lines).toEqual(['warn: Model "scripted" gave an empty answer twice, so the run has no text.']);
  });

  test('behind tool results is an error the second time if the run has an output schema', async () => {
    const model = scriptedModel([calls('echo', { text: 'x' }), silent, silent]);

    const error = await rejectionOf(new Agent({ model, tools: [echo] }).run('go', { output: z.object({}) }));

    expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED', kind: 'empty', retryable: false });
  });

  test('without tool results is an error the second time', async () => {
    const error = (await rejectionOf(new Agent({ model: scriptedModel([silent, silent]) }).run('go'))) as ModelError;

    expect(error).toMatchObject({ kind: 'empty', usage: { inputTokens: 20 } });
    expect(error.message).toContain('it has no text and no tool call');
  });

  test('is not asked for again in the last turn', async () => {
    const error = await rejectionOf(new Agent({ model: scriptedModel([silent]), maxTurns: 1 }).run('go'));

    expect(error).toMatchObject({ kind: 'empty' });
  });

  test('goes to the next model of fallbackModels, and not to a retry', async () => {
    const other = scriptedModel(['It is red.'], { id: 'other' });
    const lifecycle = [retryModelCalls(), fallbackModels([other], { on: ['empty'] })];

    const result = await new Agent({ model: scriptedModel([silent]), lifecycle, logger: keepingLogger() }).run('go');

    expect([result.text, result.turns]).toEqual(['It is red.', 1]);
  });

  test.each(['length', 'content-filter'] as const)(
    'with the finish reason %s says why it is empty',
    async (finishReason) => {
      const result = await new Agent({ model: scriptedModel([says('', { finishReason })]) }).run('go');

      expect([result.text, result.finishReason]).toEqual(['', finishReason]);
    },
  );

  test('shares its one repeat with a malformed tool call', async () => {
    const malformed = fails(Object.assign(new Error('malformed'), { kind: 'tool-format' }));

    expect(await rejectionOf(new Agent({ model: scriptedModel([malformed, silent]) }).run('go'))).toMatchObject({
      kind: 'empty',
    });
  });
});
