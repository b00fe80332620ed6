import { Agent, type RunContext, type ToolResultPart } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { checkAbort } from '../../../src/testing/assert/abort-check.js';
import type { Bench } from '../../../src/testing/assert/bench.js';
import { createCountedSignal } from '../../../src/testing/assert/listener-count.js';
import { errorOutcome, outcomeProblems } from '../../../src/testing/trial/outcome.js';
import { createProbe } from '../../../src/testing/trial/probe.js';
import { SCENARIOS } from '../../../src/testing/trial/scenarios.js';
import { trialTools } from '../../../src/testing/trial/trial.js';

describe('a probe', () => {
  it('reports a run with two calls or none, once', async () => {
    const { lifecycle, takeProblems } = createProbe('probe', 50);
    const [twice, never] = [{} as RunContext, {} as RunContext];
    await lifecycle.beforeAgent?.('Hello', twice);
    await lifecycle.beforeAgent?.('Hello', never);
    await lifecycle.afterAgent?.('ok', twice);
    await lifecycle.onError?.(undefined, twice);

    expect(takeProblems()).toEqual([
      'another lifecycle must get one call of afterAgent or onError in a run that it entered, got 2',
      'another lifecycle must get one call of afterAgent or onError in a run that it entered, got 0',
    ]);
    expect(takeProblems()).toEqual([]);
  });
});

describe('a counted signal', () => {
  it('counts the listeners that are still registered', () => {
    const { signal, abort, listeners } = createCountedSignal();
    const heard: string[] = [];
    const listener = () => heard.push('removed');

    signal.addEventListener('abort', listener);
    signal.addEventListener('abort', () => heard.push('kept'));
    signal.addEventListener('abort', () => heard.push('once'), { once: true });
    expect(listeners()).toBe(3);
    signal.removeEventListener('abort', listener);
    expect(listeners()).toBe(2);

    abort('reason');
    expect([heard, listeners(), signal.reason]).toEqual([['kept', 'once'], 1, 'reason']);
  });
});

describe('checkAbort', () => {
  it('reports an aborted run that completed', async () => {
    const problems = new Set<string>();
    const trial = { run: async () => ({ aborted: true, ending: 'completed' }) } as unknown as Bench['trial'];

    await checkAbort({ trial, report: (problem: string) => problems.add(problem) } as unknown as Bench);

    expect([...problems]).toEqual(['an aborted run must end with ERR_RUN_ABORTED, got completed']);
  });
});

describe('an outcome', () => {
  it('with an error without a code is a problem', () => {
    const outcome = errorOutcome(new TypeError('broken'), { requests: [], events: [], aborted: false });

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
