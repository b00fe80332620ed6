import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Spawn } from 'keelson/mcp';
import type { HookDefinition } from 'keelson/shell-hooks';
import { expect, test } from 'vitest';
import { answers, hooksIn, isGone, runOnce, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const statuses = (result: Awaited<ReturnType<typeof runOnce>>) => result.outcomes.map(({ status }) => status);

test('S0-3.1: standard input contains the event as one JSON document and is then closed', async () => {
  const value = 'ä€😀\n"\\'.repeat(10) + 'x'.repeat(5 * 1024 * 1024);
  const { runner } = hooksIn(lab, { hooks: [sh('before_agent', 'cat > input.json')] });
  const describe = () => ({ data: { prompt: value }, flat: { prompt: 'short' } });
  await runner.runEvent({ event: 'before_agent', sessionId: 's1', value: undefined, describe });

  expect(JSON.parse(lab.read('input.json'))).toEqual({
    event: 'before_agent',
    hook_event_name: 'before_agent',
    session_id: 's1',
    transcript_path: '',
    permission_mode: 'default',
    cwd: lab.workspace,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    prompt: 'short',
    data: { prompt: value },
    hook_data: {},
    hook_outputs: {},
  });
});

test('S0-3.2: parses the output of a hook as JSON if its exit code is 0', async () => {
  const { outcomes } = await runOnce(lab, [answers('before_tool', { continue: true, data: { k: 1 } })]);

  expect(outcomes).toMatchObject([{ status: 'completed', exitCode: 0, output: { continue: true, data: { k: 1 } } }]);
});

test('S0-3.2: a guard that refuses and exits with code 1 still refuses', async () => {
  const result = await runOnce(lab, [sh('before_tool', `echo '{"continue":false,"reason":"no"}'; exit 1`)]);

  expect(result).toMatchObject({
    cancelled: true,
    shouldContinue: false,
    cancelledBy: 'before_tool-hook',
    reason: 'no',
  });
});

test.each(['echo \'{"continue":true,"data":{"k":1}}\'', 'echo text', 'true'])(
  'S0-3.2: exit code 1 after `%s` is a failure, and the output is ignored',
  async (text) => {
    const result = await runOnce(lab, [sh('before_tool', `${text}; exit 1`)]);

    expect(result).toMatchObject({ cancelled: false, data: {} });
    expect(result.outcomes).toMatchObject([{ status: 'failed', exitCode: 1, problem: { kind: 'exit-code' } }]);
  },
);

test('a guard that refuses and then hangs or crashes still refuses', async () => {
  const no = `echo '{"continue":false}'`;

  expect(await runOnce(lab, [sh('before_tool', `${no}; sleep 60`, { timeout: 200 })])).toMatchObject({
    cancelled: true,
  });
  expect(await runOnce(lab, [sh('before_tool', `${no}; kill -9 $$`)])).toMatchObject({ cancelled: true });
});

test('S0-3.3, S0-14.4: terminates a hook and its children at the time limit, and logs a warning with its name', async () => {
  const hook = sh('before_tool', 'sleep 60 & echo $! > child; wait', { timeout: 200 });
  const result = await runOnce(lab, [hook]);

  expect(result.outcomes).toMatchObject([{ status: 'failed', problem: { kind: 'timed-out' } }]);
  expect(lab.logged('warn')[0]).toMatchObject({
    message: 'Hook "before_tool-hook" exceeded its time limit of 200 ms and was terminated.',
    details: { hookName: 'before_tool-hook', timeoutMs: 200 },
  });
  expect(isGone(Number(lab.read('child')))).toBe(true);
});

const failures: Record<string, Partial<HookDefinition>> = {
  'exit-code': { args: ['-c', 'exit 1'] },
  signaled: { args: ['-c', 'kill -9 $$'] },
  'not-started': { command: 'no-such-program', args: [] },
  'timed-out': { args: ['-c', 'sleep 60'], timeout: 100 },
  malformed: { args: ['-c', 'echo nonsense'] },
};

test.each(Object.entries(failures))('S0-3.4: a failed hook (%s) does not stop other hooks', async (kind, more) => {
  const result = await runOnce(lab, [
    answers('before_tool', { first: 1 }, { name: 'first' }),
    sh('before_tool', '', { name: 'middle', ...more }),
    sh('before_tool', 'touch third', { name: 'third' }),
  ]);

  expect(statuses(result)).toEqual(['completed', 'failed', 'completed']);
  expect(result.outcomes[1]).toMatchObject({ hook: 'middle', problem: { kind } });
  expect(result.data).toEqual({ first: 1 });
  expect(lab.has('third')).toBe(true);
  expect(lab.logs.some(({ details }) => details?.hookName === 'middle' && details.problem !== undefined)).toBe(true);
});

test('S0-3.4: a file that is not executable is a failure with a hint', async () => {
  const command = lab.write('plain.sh', 'echo hi');
  const result = await runOnce(lab, [sh('before_tool', '', { command, args: [] }), sh('before_tool', 'touch next')]);

  expect(result.outcomes[0]?.problem).toMatchObject({ code: 'not-executable', hint: `Run: chmod +x ${command}` });
  expect(lab.has('next')).toBe(true);
});

test('S0-3.5: hooks run one after another', async () => {
  const stamp = 'date +%s%N >> times; sleep 0.05; date +%s%N >> times';
  await runOnce(
    lab,
    [1, 2, 3].map((n) => sh('before_tool', stamp, { name: `n${n}` })),
  );
  const times = lab.read('times').trim().split('\n').map(BigInt);

  expect(times).toHaveLength(6);
  expect([...times].sort()).toEqual(times);
});

/** Returns a `spawn` function for a process that never exits, and a promise that resolves when it is killed. */
function endlessProcess(): { spawn: Spawn; killed: Promise<void> } {
  let tell = () => {};
  const killed = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const spawn = (() => {
    const child = Object.assign(new EventEmitter(), {
      ...{ pid: undefined, stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() },
      unref: tell,
    });
    return Object.assign(child, { stdio: [child.stdin, child.stdout, child.stderr] });
  }) as unknown as Spawn;
  return { spawn, killed };
}

async function timeUntilKilled(timeout: number | undefined, more: Partial<HookDefinition> = {}): Promise<number> {
  const { spawn, killed } = endlessProcess();
  const timers: number[] = [];
  const clock = {
    now: () => 0,
    setTimeout: (callback: () => void, ms: number) => {
      timers.push(ms);
      queueMicrotask(callback);
      return undefined;
    },
    clearTimeout: () => {},
  };
  const hooks = { before_tool: [sh('before_tool', 'true', more)], ...(timeout !== undefined && { timeout }) };
  const { runner } = hooksIn(lab, { hooks, machine: { clock, spawn } });
  const describe = () => ({ data: {} });
  await runner.runEvent({ event: 'before_tool', sessionId: 's', value: undefined, describe });
  await killed;
  return timers[0] as number;
}

test('S0-3.6, S0-14.2: the default time limit of a hook is 30 seconds', async () => {
  expect(await timeUntilKilled(undefined)).toBe(30_000);
});

test('S0-14.1: hooks.timeout is the time limit of hooks without a timeout', async () => {
  expect(await timeUntilKilled(500)).toBe(500);
});

test('S0-14.5: the timeout of a hook wins over hooks.timeout, shorter or longer', async () => {
  expect(await timeUntilKilled(5_000, { timeout: 100 })).toBe(100);
  expect(await timeUntilKilled(100, { timeout: 5_000 })).toBe(5_000);
});

const endless = { event: 'before_tool', name: 'endless', command: 'sleep', args: ['60'] } as const;

/** Returns the time limit that the log reports for the endless hook of a file. */
async function timeoutInFile(document: object): Promise<unknown> {
  writeFileSync(join(lab.home, 'hooks.json'), JSON.stringify(document));
  const hooks = hooksIn(lab, { files: [{ path: join(lab.home, 'hooks.json') }] });
  await hooks.reload();
  await hooks.runner.run('before_tool', { tool_name: 'look' });
  return lab.logged('warn').find(({ details }) => details?.hookName === 'endless')?.details?.timeoutMs;
}

test.each<[string, object]>([
  ['next to an array of hooks', { timeout: 150, hooks: [endless] }],
  ['next to an object of events', { timeout: 150, hooks: { before_tool: [{ ...endless, event: undefined }] } }],
  ['next to an array `hooks` inside `hooks`', { hooks: { timeout: 150, hooks: [endless] } }],
  [
    'inside `hooks`, which wins over the outer one',
    { timeout: 5_000, hooks: { timeout: 150, before_tool: [endless] } },
  ],
])('S0-14.1: a file can set the default time limit %s', async (_place, document) => {
  expect(await timeoutInFile(document)).toBe(150);
});

test('S0-14.1: the host can set the default time limit together with an array of hooks', async () => {
  const hooks = hooksIn(lab, { hooks: { timeout: 150, hooks: [endless] } });
  await hooks.runner.run('before_tool', { tool_name: 'look' });

  expect(lab.logged('warn')[0]?.details).toMatchObject({ hookName: 'endless', timeoutMs: 150 });
});

test.each([
  [{ timeout: '5s', hooks: [endless] }, '`timeout` must be milliseconds from 1 to'],
  [{ hooks: { timeout: 0, hooks: [endless] } }, '`hooks.timeout` must be milliseconds from 1 to'],
])('S0-14.1: reports an invalid default time limit: %j', async (document, problem) => {
  const path = join(lab.home, 'hooks.json');
  writeFileSync(path, JSON.stringify(document));
  const hooks = hooksIn(lab, { files: [{ path }] });
  await hooks.reload();

  expect(hooks.status().diagnostics).toMatchObject([
    { level: 'error', code: 'timeout-invalid', message: expect.stringContaining(problem) },
  ]);
});

test('ignores and reports the default time limit of a workspace file', async () => {
  lab.write('hooks.json', JSON.stringify({ timeout: 1, hooks: { timeout: 1, hooks: [endless] } }));
  const hooks = hooksIn(lab, { files: ['hooks.json'] });
  await hooks.reload();

  expect(hooks.status().diagnostics.map(({ code, message }) => `${code} ${/`(.+?)`/.exec(message)?.[1]}`)).toEqual([
    'key-ignored timeout',
    'key-ignored hooks.timeout',
  ]);
});

test('S0-14.3: hooks.timeout applies to every event', async () => {
  const hooks = {
    timeout: 150,
    before_tool: [sh('before_tool', 'sleep 60', { name: 'a' }), sh('before_tool', 'sleep 60', { name: 'b' })],
    session_start: [sh('session_start', 'sleep 60', { name: 'c' })],
  };
  const { runner } = hooksIn(lab, { hooks });
  const describe = () => ({ data: {} });
  for (const event of ['before_tool', 'session_start'] as const) {
    await runner.runEvent({ event, sessionId: 's', value: undefined, describe });
  }

  const late = lab.logged('warn').filter(({ details }) => details?.timeoutMs !== undefined);
  expect(late.map(({ details }) => [details?.hookName, details?.timeoutMs])).toEqual([
    ...[
      ['a', 150],
      ['b', 150],
      ['c', 150],
    ],
  ]);
});

test('S0-3.7, B16: a cancellation stops the remaining hooks, and earlier outcomes are kept', async () => {
  const result = await runOnce(lab, [
    answers('before_tool', { seen: 1 }, { name: 'first' }),
    answers('before_tool', { continue: false, reason: 'closed on Sundays' }, { name: 'second' }),
    sh('before_tool', 'touch third', { name: 'third' }),
  ]);

  expect(result).toMatchObject({
    ...{ shouldContinue: false, cancelled: true, cancelledBy: 'second', reason: 'closed on Sundays' },
    data: { seen: 1 },
  });
  expect(statuses(result)).toEqual(['completed', 'completed']);
  expect(lab.has('third')).toBe(false);
});

test('an abort ends the running hook and starts no other hook', async () => {
  const controller = new AbortController();
  const hooks = [sh('before_tool', 'touch begun; sleep 60'), sh('before_tool', 'touch second')];
  const { runner } = hooksIn(lab, { hooks });
  const running = runner.runEvent({
    ...{ event: 'before_tool', sessionId: 's', value: undefined, signal: controller.signal },
    describe: () => ({ data: {} }),
  });
  await expect.poll(() => lab.has('begun')).toBe(true);
  controller.abort();

  expect((await running).outcomes).toMatchObject([{ status: 'failed', problem: { kind: 'aborted' } }]);
  expect(lab.has('second')).toBe(false);
});

test('a hook that is removed while another hook runs does not start', async () => {
  const hooks = hooksIn(lab, {
    hooks: [sh('before_tool', 'sleep 0.2'), sh('before_tool', 'touch second', { name: 'b' })],
  });
  const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;
  const running = hooks.runner.runEvent(occasion);
  hooks.registry.unregister('b');
  await running;

  expect(lab.has('second')).toBe(false);
});
