import { Agent, type ToolResultPart } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { errorOutcome, outcomeProblems } from '../../../src/testing/trial/outcome.js';
import { SCENARIOS } from '../../../src/testing/trial/scenarios.js';
import { trialTools } from '../../../src/testing/trial/trial.js';

describe('an outcome', () => {
  it('with an error without a code is a problem', () => {
    const outcome = errorOutcome(new TypeError('broken'), { requests: [], events: [] });

    expect(outcome.ending).toBe('an error without code');
    expect(outcomeProblems(outcome)).toEqual([{ problem: 'the run could not start: broken' }]);
  });
});

describe('the scenario of failing tools', () => {
  it('has one call of an unknown tool, and each other call reaches its tool', async () => {
    const agent = new Agent({ model: scriptedModel(SCENARIOS.toolErrors().script), tools: trialTools() });
    const { messages } = await agent.run('go');
    const results = messages.flatMap(({ role, content }) => (role === 'tool' ? content : [])) as ToolResultPart[];

    expect(results.filter(({ content }) => /no tool|unknown tool/i.test(String(content)))).toHaveLength(1);
    expect(results.map(({ name, isError = false }) => [name, isError])).toEqual([
      ['trial_throws', true],
      ['trial_missing', true],
      ['trial_gives_no_json', true],
      ['trial_echo', false],
      ['trial_echo', true],
    ]);
  });
});
