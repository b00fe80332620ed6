import { Agent, type AgentLifecycle, HookAction, RejectedError } from 'keelson';
import { approval, type LimitReached, limits, retryModelCalls } from 'keelson/lifecycles';
import { calls, fails, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fastClock } from '../support/agent/fake-clock.js';
import { echo, toolOf } from '../support/agent/sample-tools.js';
import { rejectionOf, unhandledDuring } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { resultsIn, transcript } from '../support/agent/transcript.js';

const call = (id: string, name = 'echo') => ({ id, name, input: { text: id } });

function agentOf(script: readonly ScriptEntry[] | ScriptEntry, ...lifecycle: readonly AgentLifecycle[]) {
  const model = scriptedModel(script, { perRun: Array.isArray(script) });
  const tools = [echo, toolOf('search', () => 'found')];
  return { model, agent: new Agent({ model, tools, lifecycle, clock: fastClock(), logger: keepingLogger() }) };
}

describe('limits: the whole run', () => {
  test('the model call beyond the limit is not made, and the error has the source and the messages', async () => {
    const { agent, model } = agentOf(calls('echo', { text: 'x' }), limits({ modelCalls: 2 }));

    const error = (await rejectionOf(agent.run('Hello'))) as RejectedError;

    expect(error).toBeInstanceOf(RejectedError);
    expect(error).toMatchObject({ by: 'limits', point: 'beforeModel' });
    expect(error.reason).toBe('The run reached its limit of 2 model calls (2 used).');
    expect(model.requests).toHaveLength(2);
    expect(transcript(error.messages)).toEqual([
      ...['user: Hello', 'assistant: call call_1 echo', 'tool: call_1=x'],
      ...['assistant: call call_2 echo', 'tool: call_2=x'],
    ]);
  });

  test('an answer from the last allowed model call is valid', async () => {
    const { agent } = agentOf(
      [calls('echo', { text: 'x' }), 'Done.'],
      limits({ modelCalls: 2, toolCalls: 1, tokens: 16 }),
    );
    expect((await agent.run('Hello')).text).toBe('Done.');
  });

  test('retries count as model calls, and the turn ends at the limit', async () => {
    const busy = fails({ message: 'busy', status: 503 });
    const { agent, model } = agentOf(() => busy, retryModelCalls({ maxRetries: 9 }), limits({ modelCalls: 3 }));

    const error = await rejectionOf(agent.run('Hello'));

    expect(error).toMatchObject({ code: 'ERR_RUN_REJECTED', by: 'limits', point: 'end' });
    expect(model.requests).toHaveLength(3);
  });

  test('the model call that reaches the token limit is the last', async () => {
    const step = says('', { calls: [call('a')], usage: { inputTokens: 30, outputTokens: 20 } });
    const { agent, model } = agentOf(() => step, limits({ tokens: 100 }));

    expect(await rejectionOf(agent.run('Hello'))).toMatchObject({
      reason: 'The run reached its limit of 100 tokens (100 used).',
      usage: { totalTokens: 100 },
    });
    expect(model.requests).toHaveLength(2);
  });

  test('tool calls within the limit finish, calls beyond the limit get an error result, and the run ends', async () => {
    const { agent, model } = agentOf([calls(call('a'), call('b'), call('c')), 'never'], limits({ toolCalls: 2 }));

    const error = (await rejectionOf(agent.run('Hello'))) as RejectedError;

    expect(resultsIn(error.messages)).toEqual({
      ...{ a: 'a', b: 'b' },
      c: '!The call was not run: the run reached its limit of 2 tool calls.',
    });
    expect(error.reason).toBe('The run reached its limit of 2 tool calls (3 used).');
    expect(model.requests).toHaveLength(1);
  });

  test('`onLimit` gets the limit and may return an answer', async () => {
    const seen: LimitReached[] = [];
    const onLimit = (reached: LimitReached) => {
      seen.push(reached);
      return HookAction.respond(`That was enough: ${reached.limit}.`);
    };
    const { agent } = agentOf([calls(call('a')), calls(call('b')), 'never'], limits({ toolCalls: 1, onLimit }));

    const { text, decisions } = await agent.run('Hello');

    expect(text).toBe('That was enough: toolCalls.');
    expect(seen).toEqual([{ limit: 'toolCalls', max: 1, used: 2 }]);
    expect(decisions.at(-1)).toMatchObject({ type: 'respond', by: 'limits', point: 'beforeModel' });
  });

  test('an `onLimit` that throws or returns an invalid action blocks the run', async () => {
    const boom = () => {
      throw new TypeError('boom');
    };
    const others = ['no', undefined, HookAction.Continue, Promise.resolve(HookAction.respond('late'))];
    for (const onLimit of [boom, ...others.map((other) => () => other as never)]) {
      const { agent, model } = agentOf([calls(call('a')), 'never'], limits({ modelCalls: 1, onLimit }));
      expect(await rejectionOf(agent.run('Hello'))).toMatchObject({ code: 'ERR_RUN_REJECTED', by: 'limits' });
      expect(model.requests).toHaveLength(1);
    }
  });
});

describe('limits: one tool', () => {
  test('a call beyond the limit gets an error result, other tools run, and the run continues', async () => {
    const script = [calls(call('a', 'search'), call('b')), calls(call('c', 'search'), call('d')), 'Done.'];
    const { agent } = agentOf(script, limits({ perTool: { search: 1 } }));

    const { text, messages } = await agent.run('Hello');

    expect(text).toBe('Done.');
    expect(resultsIn(messages)).toEqual({
      ...{ a: 'found', b: 'b', d: 'd' },
      c: '!The call was not run: tool "search" reached its limit of 1 call per run.',
    });
  });

  test('a tool may have the name of an Object.prototype member', async () => {
    const { agent } = agentOf([calls({ id: 'a', name: 'toString' }), 'Done.'], limits({ perTool: { search: 1 } }));
    expect(resultsIn((await agent.run('Hello')).messages).a).toContain('There is no tool "toString"');
  });
});

describe('limits: each run is counted separately', () => {
  test('one instance counts a hundred concurrent runs of two agents separately', async () => {
    const shared = limits({ modelCalls: 2, toolCalls: 2, perTool: { search: 1 } });
    const script = [calls(call('a', 'search'), call('b')), 'Done.'];
    const agents = [agentOf(script, shared).agent, agentOf(script, shared).agent];

    const results = await Promise.all(Array.from({ length: 100 }, (_, at) => agents[at % 2]?.run('Hello')));

    expect(results.every((result) => result?.text === 'Done.')).toBe(true);
  });

  test('a resumed run starts with zero', async () => {
    const { agent } = agentOf([calls(call('a')), 'Done.'], limits({ modelCalls: 1, toolCalls: 1 }), approval());
    const asked = await agent.run('Hello');
    expect(asked.status).toBe('suspended');
    const { text } = await agent.run('', { messages: asked.history, resume: { a: 'approve' } });
    expect(text).toBe('Done.');
  });

  test('a call beyond the limit is not passed to `ask`', async () => {
    const asked: string[] = [];
    const ask = ({ id }: { id: string }) => {
      asked.push(id);
      return 'approve' as const;
    };
    const { agent } = agentOf([calls(call('a'), call('b')), 'x'], approval({ ask }), limits({ perTool: { echo: 1 } }));
    expect(await unhandledDuring(() => agent.run('Hello'))).toEqual([]);
    expect(asked).toEqual(['a']);
  });
});
