import { Agent, type AgentLifecycle, defineTool, ModelError } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, fails, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toolOf } from '../support/agent/sample-tools.js';
import { Execution, outcomeOf, twice } from '../support/durable/attempts.js';

const busy = (hints: object = {}) => fails(Object.assign(new TypeError('busy'), { status: 503, ...hints }));

/** The delays that the warnings of an attempt name. */
const delaysOf = (lines: readonly string[]) => lines.map((line) => Number(/in (\d+) ms:/.exec(line)?.[1]));

describe('the model calls of a durable run', () => {
  test('a retryable call stops at `maxAttempts`, also on a replay', async () => {
    const { first, replay, names } = await twice(() => ({ script: [busy(), busy(), busy(), says('late')] }));

    expect(first.outcome).toBeInstanceOf(ModelError);
    expect(replay.outcome).toMatchObject({ message: first.outcome.message, retryable: true, kind: 'overloaded' });
    expect([first.requests, replay.requests]).toEqual([3, 0]);
    expect(names).toEqual([
      'start',
      ...['model 1', 'wait after model 1', 'model 1, attempt 2', 'wait after model 1, attempt 2', 'model 1, attempt 3'],
    ]);
  });

  test('the delays double up to half a minute, and every attempt of `maxAttempts` is made', async () => {
    const script = () => [...Array.from({ length: 8 }, () => busy()), says('At last.')];
    const { first, replay } = await twice(() => ({ script: script() }), undefined, { maxAttempts: 9 });

    expect([first.outcome.text, replay.outcome.text]).toEqual(['At last.', 'At last.']);
    expect([first.requests, replay.requests]).toEqual([9, 0]);
    expect(delaysOf(first.lines)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(replay.lines).toEqual(first.lines);
  });

  test('a call waits as long as the provider asked, unless that exceeds half a minute', async () => {
    const patient = await twice(() => ({ script: [busy({ retryAfterMs: 30_000 }), says('ok')] }));
    const impatient = await twice(() => ({ script: [busy({ retryAfterMs: 30_001 }), says('ok')] }));

    expect(delaysOf(patient.first.lines)).toEqual([30_000]);
    expect(patient.first.outcome.text).toBe('ok');
    expect(impatient.first.outcome).toBeInstanceOf(ModelError);
    expect(impatient.first.requests).toBe(1);
  });
});

test('a suspended call looks to a wrap around the steps as it does without an engine, also on a replay', async () => {
  const seen: unknown[] = [];
  const around: AgentLifecycle = {
    name: 'around',
    wrapToolCall: async (_call, next) => {
      try {
        return await next();
      } catch (error) {
        seen.push((error as { code?: unknown }).code);
        throw error;
      }
    },
  };
  const pay = toolOf('pay', () => 'paid');
  const { first, replay } = await twice(
    () => ({ script: [calls('pay')], tools: [pay] }),
    () => [around, approval({ tools: ['pay'] })],
    { outside: ['around'] },
  );

  expect([first.outcome.status, replay.outcome.status]).toEqual(['suspended', 'suspended']);
  expect(seen).toEqual(['ERR_CALL_SUSPENDED', 'ERR_CALL_SUSPENDED']);
});

test('a call that the caller runs waits for its result, and a replay goes on with the same result', async () => {
  const askColour = defineTool({ name: 'askColour', description: 'Asks.', input: z.object({}) });
  const execution = new Execution();
  const attempt = async (script: readonly ScriptEntry[]) => {
    const agent = new Agent(execution.options({ model: scriptedModel(script), tools: [askColour] }));
    const suspended = await agent.run('Hello.');
    const resume = { call_1: { result: 'red' } };
    return [suspended.pending, outcomeOf(await agent.run('', { messages: suspended.history, resume }))];
  };

  const first = await attempt([calls('askColour'), says('Red it is.')]);
  const replay = await attempt([]);

  expect(first).toMatchObject([[{ id: 'call_1', needs: 'result' }], { status: 'completed', text: 'Red it is.' }]);
  expect(replay).toEqual(first);
});
