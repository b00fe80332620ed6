import type { Spawn } from 'keelson/mcp';
import { createTrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { hooksIn, runOnce, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';
import { crowdedRunner, REFUSED, refusal } from '../../support/shell-hooks/run-crowded.js';
import { hookOfWorkspace } from '../../support/shell-hooks/workspace-hook.js';

const lab = useHookLab();
const runCrowded = await crowdedRunner();
const failing = (code: string): Spawn => {
  return () => {
    throw Object.assign(new TypeError(`spawn ${code}`), { code });
  };
};

// `npm run soak` makes 1,000 calls with each value of `onFailure`. With "continue", a failed guard lets the tool run.
const hook = { ...refusal, onFailure: 'continue' };

test('calls run no guarded tool if no descriptor is free for the guard', { timeout: 60_000 }, async () => {
  const { ran, results, reasons } = await runCrowded({ workspaceDir: lab.workspace, calls: 200, free: 3, hook });

  expect({ ran, results }).toEqual({ ran: 0, results: 200 });
  expect(reasons.join()).toContain('EMFILE');
});

test('with 256 descriptors, 100 calls of one response all get the answer of their guard', {
  timeout: 60_000,
}, async () => {
  const { ran, results, reasons } = await runCrowded({ workspaceDir: lab.workspace, calls: 100, hook });

  expect({ ran, results }).toEqual({ ran: 0, results: 100 });
  expect(reasons).toEqual([REFUSED]);
});

test.each(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])('a guard whose start fails with %s blocks', async (code) => {
  for (const event of ['before_tool', 'before_agent'] as const) {
    for (const onFailure of [undefined, 'continue', 'block'] as const) {
      const machine = { spawn: failing(code), logger: lab.logger };
      const result = await runOnce(lab, [sh(event, 'true', { onFailure })], { machine });

      expect(result).toMatchObject({ cancelled: true, cancelledBy: `${event}-hook` });
      expect(result.reason).toContain(code);
    }
  }
});

test('a guard blocks if a spawn of the host names the missing resource as the cause of its error', async () => {
  const cause = Object.assign(new RangeError('too many open files'), { code: 'EMFILE' });
  const spawn: Spawn = () => {
    throw new RangeError('the sandbox could not start', { cause });
  };
  const machine = { spawn, logger: lab.logger };

  expect(await runOnce(lab, [sh('before_tool', 'true')], { machine })).toMatchObject({
    cancelled: true,
    outcomes: [{ problem: { code: 'no-resources' } }],
  });
});

test('a guard that is missing or not executable follows onFailure', async () => {
  lab.write('plain.sh', 'exit 0');
  for (const command of ['./missing.sh', './plain.sh']) {
    for (const onFailure of ['continue', 'block'] as const) {
      const hook = { event: 'before_tool', name: 'guard', command, onFailure } as const;

      expect((await runOnce(lab, [hook])).cancelled).toBe(onFailure === 'block');
    }
  }
});

test('at other events, a hook without resources follows onFailure', async () => {
  const machine = { spawn: failing('EMFILE'), logger: lab.logger };
  for (const onFailure of ['continue', 'block'] as const) {
    const result = await runOnce(lab, [sh('after_model', 'true', { onFailure })], { machine });

    expect(result.cancelled).toBe(onFailure === 'block');
  }
});

test('a guard whose time limit ends in the queue blocks', async () => {
  const hooks = [sh('before_tool', 'exec sleep 60', { name: 'slow', timeout: 400 })];
  const { runner } = hooksIn(lab, { hooks, maxProcesses: 1 });
  const run = () => runner.run('before_tool', { tool_name: 'pay' });
  const [first, second, third] = await Promise.all([run(), run(), run()]);

  // The first guard had its whole time limit, so `onFailure` decides.
  expect(first).toMatchObject({ cancelled: false, outcomes: [{ problem: { kind: 'timed-out' } }] });
  for (const late of [second, third]) {
    expect(late).toMatchObject({ cancelled: true, outcomes: [{ problem: { code: 'no-resources' } }] });
  }
});

test('at most `maxProcesses` hooks run at once, in order of their calls', async () => {
  const script = 'n=$(ls | grep -c "^run-"); touch "run-$$"; echo "$n" >> seen; sleep 0.02; rm "run-$$"';
  const { runner } = hooksIn(lab, { hooks: [sh('before_tool', script)], maxProcesses: 2 });
  await Promise.all(Array.from({ length: 8 }, () => runner.run('before_tool', { tool_name: 'pay' })));
  const seen = lab.read('seen').trim().split('\n').map(Number);

  expect(seen).toHaveLength(8);
  expect(Math.max(...seen)).toBeLessThan(2);
});

test('a call that is aborted in the queue starts no program', async () => {
  const { runner } = hooksIn(lab, { hooks: [sh('before_tool', 'echo x >> ran; sleep 0.2')], maxProcesses: 1 });
  const controller = new AbortController();
  const first = runner.run('before_tool', { tool_name: 'pay' });
  const second = runner.run('before_tool', { tool_name: 'pay' }, { signal: controller.signal });
  controller.abort();
  const aborted = await second;
  await first;

  expect(aborted.outcomes).toMatchObject([{ problem: { kind: 'aborted' } }]);
  expect(lab.read('ran')).toBe('x\n');
});

test('refuses an invalid `maxProcesses`', () => {
  for (const maxProcesses of [0, -1, 1.5, Number.NaN, '16' as never]) {
    expect(() => hooksIn(lab, { maxProcesses })).toThrow(/maxProcesses/);
  }
});

test('an approved workspace guard blocks if its approval cannot be verified for lack of descriptors', async () => {
  lab.write('guard.sh', '#!/bin/sh\nexit 0\n');
  const { start } = hookOfWorkspace(lab);
  const hooks = start();
  await hooks.runner.run('before_tool', { tool_name: 'pay' });
  const gate = createTrustGate({ workspaceDir: lab.workspace, logger: lab.logger });
  const noFile = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  Object.assign(gate.store, { list: () => Promise.reject(noFile) });
  const crowdedHooks = hooksIn(lab, { registry: hooks.registry, gate });
  const result = await crowdedHooks.runner.run('before_tool', { tool_name: 'pay' });

  expect(result).toMatchObject({ cancelled: true, outcomes: [{ problem: { code: 'no-resources' } }] });
});
