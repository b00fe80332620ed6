import { Agent, type AgentLifecycle, formatRun, HookAction } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';

const search = toolOf('search', () => 'found');
const fails = toolOf('fails', () => {
  throw new Error('broken');
});

describe('formatRun', () => {
  test('formats the summary, a line per turn and the decisions', async () => {
    const guard: AgentLifecycle = {
      name: 'guard',
      wrapToolCall: (call, next) => (call.name === 'search' ? next({ ...call, input: { q: 'safe' } }) : next()),
    };
    const script = [
      calls({ id: 'c1', name: 'search', input: { q: 'x' } }, { id: 'c2', name: 'fails', input: {} }),
      'Two.',
    ];
    const agent = new Agent({ model: scriptedModel(script), tools: [search, fails], lifecycle: [guard] });
    const result = await agent.run('go');

    const { inputTokens, outputTokens } = result.usage;
    expect(formatRun(result).split('\n')).toEqual([
      `completed: 2 turns, 2 tool calls, ${inputTokens} + ${outputTokens} tokens`,
      '├─ turn 1  search {"q":"x"} ✓, fails {} ✗ (broken)',
      '│           guard: modify search',
      '└─ turn 2  "Two."',
    ]);
  });

  test('marks suspended calls, and starts a resumed run at turn 0', async () => {
    const ask: AgentLifecycle = {
      name: 'ask',
      wrapToolCall: (call, next) => (call.approved ? next() : HookAction.suspend('ask first')),
    };
    const script = [calls({ id: 'c1', name: 'search', input: {} })];
    const suspended = await new Agent({ model: scriptedModel(script), tools: [search], lifecycle: [ask] }).run('go');
    const resumed = await new Agent({ model: scriptedModel(['Done.']), tools: [search], lifecycle: [ask] }).run('', {
      messages: suspended.history,
      resume: { c1: 'approve' },
    });

    expect(formatRun(suspended)).toContain('└─ turn 1  search {} … waits for a decision');
    expect(formatRun(resumed).split('\n').slice(1)).toEqual([
      '├─ turn 0  search ✓',
      '│           resume: approve search',
      '└─ turn 1  "Done."',
    ]);
  });

  test('formats the error of a failed run', async () => {
    const script = [calls({ id: 'c1', name: 'fails', input: {} })];
    const agent = new Agent({ model: scriptedModel(script), tools: [fails], maxTurns: 1 });
    const error = await agent.run('go').catch((thrown) => thrown);

    expect(formatRun(error).split('\n')).toEqual([
      expect.stringMatching(/^failed: 1 turn, 1 tool call, \d+ \+ \d+ tokens$/),
      '└─ turn 1  fails {} ✗ (broken)',
      "✗ TurnLimitError: The run took 1 turn without a final answer. Raise `maxTurns`, or set `maxTurns.atLimit` to 'answer'.",
    ]);
    expect(formatRun(new RangeError('too far'))).toBe('✗ RangeError: too far');
  });

  test('cuts long texts and removes control characters', async () => {
    const agent = new Agent({ model: scriptedModel([`\u001b[2J${'word '.repeat(100)}`]) });

    const drawn = formatRun(await agent.run('go'));

    expect(drawn).not.toContain('\u001b');
    expect(drawn.length).toBeLessThan(200);
    expect(drawn).toContain('…"');
  });
});
