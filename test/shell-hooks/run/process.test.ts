import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Spawn } from 'keelson/mcp';
import type { HookEvent } from 'keelson/shell-hooks';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';
import { bundle } from '../../support/process/bundle.js';
import { answers, hooksIn, isGone, runOnce, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;
const next = (event: HookEvent = 'before_tool') => sh(event, 'touch next', { name: 'next' });

test('A1: terminates a hanging hook at its time limit, logs a warning with its name, and runs the next hook', async () => {
  const result = await runOnce(lab, [sh('before_tool', 'sleep 60', { timeout: 300 }), next()]);

  expect(result.outcomes.map(({ problem }) => problem?.kind)).toEqual(['timed-out', undefined]);
  expect(lab.logged('warn')[0]?.details).toMatchObject({ hookName: 'before_tool-hook', timeoutMs: 300 });
  expect(lab.has('next')).toBe(true);
});

test('A2: kills a hook that ignores SIGTERM', async () => {
  const clock = fakeClock();
  const machine = { clock, logger: lab.logger };
  const hook = sh('before_tool', 'trap "" TERM; echo $$ > pid; sleep 60; sleep 60', { timeout: 300 });
  const running = runOnce(lab, [hook], { machine });
  await until(() => lab.has('pid') && lab.read('pid') !== '');
  clock.advance(2_300);

  expect((await running).outcomes).toMatchObject([{ problem: { kind: 'timed-out' } }]);
  expect(isGone(Number(lab.read('pid')))).toBe(true);
});

test('A4: terminates the child processes of a hook together with the hook', async () => {
  await runOnce(lab, [sh('before_tool', '(sleep 60 & echo $! > child; wait) & wait', { timeout: 200 })]);

  expect(isGone(Number(lab.read('child')))).toBe(true);
});

test('A5: does not wait for a child in its own session that holds the pipe open, and reports it', async () => {
  const result = await runOnce(lab, [
    sh('before_tool', "setsid sh -c 'echo $$ > child; sleep 60' & while [ ! -s child ]; do sleep 0.1; done; echo '{}'"),
  ]);
  const child = Number(lab.read('child'));
  process.kill(child, 'SIGKILL');

  expect(result.outcomes[0]?.status).toBe('completed');
  expect(lab.logged('warn')).toMatchObject([{ message: expect.stringContaining('detached child') }]);
});

test('A7: endless output on standard error does not affect standard output', async () => {
  const flood = 'head -c 3000000 /dev/zero | tr "\\0" x >&2; echo \'{"k":1}\'';

  expect((await runOnce(lab, [sh('before_tool', flood)])).data).toEqual({ k: 1 });
});

test('A8: uses the output of a hook that does not read its large input', async () => {
  const { runner } = hooksIn(lab, { hooks: [sh('before_tool', `echo '{"k":1}'`)] });
  const describe = () => ({ data: { args: 'x'.repeat(5 * 1024 * 1024) } });

  expect((await runner.runEvent({ ...occasion, describe })).data).toEqual({ k: 1 });
});

test('A9: a hook that waits on a named pipe exceeds its time limit', async () => {
  const result = await runOnce(lab, [sh('before_tool', 'mkfifo pipe; exec cat pipe', { timeout: 200 })]);

  expect(result.outcomes[0]?.problem?.kind).toBe('timed-out');
});

test('terminates a hook with endless output and ignores the output', async () => {
  const result = await runOnce(lab, [sh('after_tool', 'yes'), next('after_tool')]);

  expect(result.outcomes.map(({ problem }) => problem?.kind)).toEqual(['output-limit', undefined]);
});

test('A11: each failure to start has a code and a hint, and blocks only with onFailure block', async () => {
  const missing = join(lab.workspace, 'missing');
  const plain = lab.write('plain', 'hello');
  const shebang = lab.write('shebang', '#!/no/such/interpreter\n');
  const textual = lab.write('textual', 'echo hi\n');
  chmodSync(textual, 0o755);
  const folder = join(lab.workspace, 'folder');
  mkdirSync(folder);
  const commands = [missing, plain, shebang, textual, folder];
  const result = await runOnce(lab, [
    ...commands.map((command) => sh('before_tool', '', { command, args: [] })),
    next(),
  ]);

  expect(result.outcomes.map(({ problem }) => problem?.code)).toEqual([
    ...['not-found', 'not-executable', 'bad-interpreter', 'bad-format', 'is-directory', undefined],
  ]);
  expect(result.outcomes.slice(0, 5).every(({ problem }) => (problem?.hint ?? '') !== '')).toBe(true);
  const guard = sh('before_tool', '', { command: missing, args: [], onFailure: 'block' });
  expect(await runOnce(lab, [guard])).toMatchObject({
    cancelled: true,
    reason: expect.stringContaining('hook "before_tool-hook" failed'),
  });
});

test('A12: a missing script does not block with a native hook; with a Claude Code hook it blocks and names the hook', async () => {
  const missing = { event: 'before_tool', name: 'py', command: 'python3', args: ['missing.py'] } as const;
  const native = await runOnce(lab, [missing]);
  const claude = await runOnce(lab, [{ ...missing, dialect: 'claude' } as never]);

  expect(native).toMatchObject({ cancelled: false, outcomes: [{ status: 'failed', exitCode: 2 }] });
  expect(claude).toMatchObject({ cancelled: true, cancelledBy: 'py', reason: expect.stringContaining('missing.py') });
});

test('A15: runs a hook in the workspace and reports it if its working directory is missing', async () => {
  mkdirSync(join(lab.workspace, 'sub'));
  const hooks = hooksIn(lab, { hooks: [sh('before_tool', 'pwd > "$KEELSON_PROJECT_DIR/where"', { cwd: 'sub' })] });
  rmSync(join(lab.workspace, 'sub'), { recursive: true });
  await hooks.runner.runEvent(occasion);

  expect(lab.read('where').trim()).toBe(lab.workspace);
  expect(hooks.status().diagnostics).toMatchObject([{ code: 'cwd-missing', level: 'warning' }]);
});

test('A16: 60 hooks at one event run one after another and leave no open files', async () => {
  const openFiles = () => readdirSync('/proc/self/fd').length;
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  await runOnce(lab, [sh('before_tool', 'true')]);
  const before = openFiles();
  const controller = new AbortController();
  const hooks = Array.from({ length: 60 }, (_, n) => sh('before_tool', `echo ${n} >> order`, { name: `n${n}` }));
  const { runner } = hooksIn(lab, { hooks });
  const result = await runner.runEvent({ ...occasion, signal: controller.signal });
  process.off('warning', onWarning);

  expect(result.outcomes.filter(({ status }) => status === 'completed')).toHaveLength(60);
  expect(lab.read('order').trim().split('\n').map(Number)).toEqual(hooks.map((_, n) => n));
  expect([openFiles() - before, warnings]).toEqual([0, []]);
}, 60_000);

const dyingHost = await bundle(fileURLToPath(new URL('../../support/shell-hooks/dying-host.ts', import.meta.url)));

test.each(['exit', 'signal'])(
  'A18: no hook process survives a host that ends during the hook by %s',
  async (way) => {
    spawnSync(process.execPath, [dyingHost, lab.workspace, way]);

    await until(() => isGone(Number(lab.read('pid'))));
  },
  60_000,
);

test('A19: a hook has no terminal', async () => {
  expect(
    (await runOnce(lab, [sh('before_tool', `(echo x > /dev/tty) 2>/dev/null && echo '{"tty":1}'; true`)])).data,
  ).toEqual({});
});

test.each(['EAGAIN', 'EMFILE'])(
  'A20: a hook at after_tool fails if spawn throws %s, and the next hook is still started',
  async (code) => {
    let spawned = 0;
    const spawn: Spawn = () => {
      spawned += 1;
      throw Object.assign(new TypeError(code), { code });
    };
    const hook = sh('after_tool', 'touch next', { name: 'next' });
    const result = await runOnce(lab, [hook, { ...hook, name: 'other' }], { machine: { spawn, logger: lab.logger } });

    expect(result.cancelled).toBe(false);
    expect(result.outcomes.map(({ problem }) => problem?.code)).toEqual(['no-resources', 'no-resources']);
    expect(spawned).toBe(2);
  },
);

test('a hook with onFailure block blocks after a timeout, a crash, an exit code and malformed output', async () => {
  const guards = [
    sh('before_tool', 'sleep 60', { timeout: 100 }),
    sh('before_tool', 'kill -9 $$'),
    sh('before_tool', 'exit 3'),
    answers('before_tool', 'not json'),
  ];
  for (const guard of guards) {
    expect(await runOnce(lab, [{ ...guard, onFailure: 'block' }])).toMatchObject({
      cancelled: true,
      cancelledBy: 'before_tool-hook',
    });
  }
});

test.each([
  ['is terminated', 'one', ''],
  ['exits with code 0 and no output', 'two', "trap 'exit 0' TERM; "],
])('a guard that %s because its host is ending still blocks the tool call', async (_how, file, trap) => {
  const onSignal = () => {};
  process.on('SIGHUP', onSignal);
  const running = runOnce(lab, [sh('before_tool', `${trap}touch ${file}; sleep 60`)]);
  await expect.poll(() => lab.has(file)).toBe(true);
  process.emit('SIGHUP', 'SIGHUP');
  const result = await running;
  process.off('SIGHUP', onSignal);

  expect(result).toMatchObject({ cancelled: true, cancelledBy: 'before_tool-hook' });
  expect(result.outcomes).toMatchObject([{ status: 'failed', problem: { kind: 'aborted' } }]);
});
