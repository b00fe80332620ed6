import { Agent } from 'keelson';
import type { Spawn } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { ProcessQueue } from '../../../src/shell-hooks/run/process-queue.js';
import { startInProcess } from '../../support/process/in-process.js';
import { countingTool, hooksIn, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Returns a `spawn` that counts the processes that run at once. */
function countingSpawn() {
  const count = { now: 0, most: 0, all: 0 };
  const spawn: Spawn = (command, args, options) => {
    count.now += 1;
    count.all += 1;
    count.most = Math.max(count.most, count.now);
    const child = startInProcess({ command, args, options }, ({ timers, exit }) => void timers.setTimeout(exit, 2, 0));
    return child.once('exit', () => {
      count.now -= 1;
    });
  };
  return { count, spawn };
}

/** Runs an agent with one loader for each limit, whose model calls a tool `times` times at once. */
async function runLoaders(limits: readonly (number | undefined)[], times: number) {
  const { count, spawn } = countingSpawn();
  const { tool, inputs } = countingTool('look');
  const machine = { spawn, logger: lab.logger };
  const loaders = limits.map((maxProcesses, at) =>
    hooksIn(lab, { hooks: [sh('before_tool', 'true', { name: `guard-${at}` })], maxProcesses, machine }),
  );
  const call = { name: 'look', input: {} };
  const script = [calls(call, ...Array.from({ length: times - 1 }, () => call)), says('ok')];
  const agent = new Agent({ model: scriptedModel(script), tools: [tool], loaders, logger: lab.logger });
  await agent.run('go');
  await agent.close();
  return { ...count, ran: inputs.length };
}

describe('the limit of hook processes', () => {
  test.each([
    ['three loaders', [undefined, undefined, undefined], 16],
    ['a loader with a limit, and loaders without one', [undefined, 3, undefined], 3],
    ['two limits', [4, 2], 2],
    ['a limit above the default', [18, undefined], 18],
  ])('counts all loaders of an agent: %s', async (_what, limits, most) => {
    const result = await runLoaders(limits, 24);

    expect(result).toMatchObject({ all: 24 * limits.length, ran: 24 });
    expect(result.most).toBeLessThanOrEqual(most);
    expect(result.most).toBeGreaterThan(1);
  });

  test('is separate for each agent', () => {
    const [one, two] = [new AbortController().signal, new AbortController().signal];

    expect(ProcessQueue.of(one)).toBe(ProcessQueue.of(one));
    expect(ProcessQueue.of(one)).not.toBe(ProcessQueue.of(two));
  });

  test('holds if it becomes smaller while hooks run', async () => {
    const queue = new ProcessQueue();
    const wait = { timeoutMs: 10_000, clock: { now: () => 0, setTimeout: () => 0, clearTimeout: () => {} } };
    const entered: number[] = [];
    const enter = (id: number) => queue.enter(wait).then(() => entered.push(id));
    await Promise.all([1, 2, 3].map(enter));
    queue.limitTo(2);
    const fourth = enter(4);
    queue.leave();
    await Promise.resolve();

    expect(entered).toEqual([1, 2, 3]);
    queue.leave();
    await fourth;
    expect(entered).toEqual([1, 2, 3, 4]);
  });
});

test('many loaders of one agent cause no warning about listeners', async () => {
  const warnings: string[] = [];
  const warn = (warning: Error) => warnings.push(warning.message);
  process.on('warning', warn);
  const { ran } = await runLoaders(Array.from({ length: 12 }), 12);
  await new Promise(setImmediate);
  process.off('warning', warn);

  expect({ ran, warnings }).toEqual({ ran: 12, warnings: [] });
});
