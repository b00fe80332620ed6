import { afterEach, describe, expect, it, vi } from 'vitest';
import { Agent } from '../../../src/agent/agent.js';
import type { RunContext } from '../../../src/lifecycle/run-context.js';
import { checkAbort } from '../../../src/testing/assert/abort-check.js';
import type { Bench } from '../../../src/testing/assert/bench.js';
import { createCountedSignal } from '../../../src/testing/assert/listener-count.js';
import { watchRejections } from '../../../src/testing/assert/rejection-watch.js';
import { LATE, within } from '../../../src/testing/assert/time-limit.js';
import { scriptedModel } from '../../../src/testing/testing.js';
import { errorOutcome, outcomeProblems } from '../../../src/testing/trial/outcome.js';
import { createProbe } from '../../../src/testing/trial/probe.js';

afterEach(() => vi.unstubAllGlobals());

describe('a probe', () => {
  it('reports nothing if a run calls afterAgent or onError once', async () => {
    const probe = createProbe('probe', 50);
    await new Agent({ model: scriptedModel('ok'), lifecycle: [probe.lifecycle] }).run('Hello');

    expect(probe.takeProblems()).toEqual([]);
  });

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

describe('a time limit', () => {
  it('returns the outcome of a promise, or LATE', async () => {
    expect(await within(Promise.resolve(1), 20)).toBe(1);
    await expect(within(Promise.reject(new TypeError('broken')), 20)).rejects.toThrow('broken');
    expect(await within(new Promise(() => {}), 20)).toBe(LATE);
  });
});

describe('watchRejections', () => {
  it('does nothing without a global process', () => {
    vi.stubGlobal('process', undefined);

    expect(watchRejections(() => {})()).toBeUndefined();
  });
});
