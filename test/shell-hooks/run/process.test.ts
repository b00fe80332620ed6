import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Spawn } from '../../../src/process/process-group.js';
import { answers, hooksIn, isGone, runOnce, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const occasion = { event: 'before_tool', sessionId: 's', value: undefined, describe: () => ({ data: {} }) } as const;
const next = () => sh('before_tool', 'touch next', { name: 'next' });

test('A1: a hook that hangs is ended in time, with a warning that names it, and the next one runs', async () => {
  const start = performance.now();
  const result = await runOnce(lab, [sh('before_tool', 'sleep 60', { timeout: 300 }), next()]);

  expect(performance.now() - start).toBeLessThan(3_300);
  expect(result.outcomes.map(({ problem }) => problem?.kind)).toEqual(['timed-out', undefined]);
  expect(lab.logged('warn')[0]?.details).toMatchObject({ hookName: 'before_tool-hook', timeoutMs: 300 });
  expect(lab.has('next')).toBe(true);
});

test('A2: a hook that heeds no SIGTERM is killed', async () => {
  const start = performance.now();
  await runOnce(lab, [sh('before_tool', 'trap "" TERM; echo $$ > pid; sleep 60; sleep 60', { timeout: 300 })]);

  expect(performance.now() - start).toBeLessThan(3_300);
  expect(isGone(Number(lab.read('pid')))).toBe(true);
});

test('A4: what a hook started goes with it', async () => {
  await runOnce(lab, [sh('before_tool', '(sleep 60 & echo $! > child; wait) & wait', { timeout: 200 })]);

  expect(isGone(Number(lab.read('child')))).toBe(true);
});

test('A5: a child in a session of its own that keeps the pipe does not keep the hook, and is named', async () => {
  const start = performance.now();
  const result = await runOnce(lab, [
    sh('before_tool', "setsid sh -c 'echo $$ > child; sleep 20' & sleep 0.3; echo '{}'"),
  ]);
  const child = Number(lab.read('child'));
  process.kill(child, 'SIGKILL');

  expect(performance.now() - start).toBeLessThan(5_000);
  expect(result.outcomes[0]?.status).toBe('completed');
  expect(lab.logged('warn')).toMatchObject([{ message: expect.stringContaining('detached child') }]);
});

test('A7: endless words on standard error do not spoil what is on standard output', async () => {
  const flood = 'head -c 3000000 /dev/zero | tr "\\0" x >&2; echo \'{"k":1}\'';

  expect((await runOnce(lab, [sh('before_tool', flood)])).data).toEqual({ k: 1 });
});

test('A8: a hook that reads nothing of a large input is heard all the same', async () => {
  const { runner } = hooksIn(lab, { hooks: [sh('before_tool', `echo '{"k":1}'`)] });
  const describe = () => ({ data: { args: 'x'.repeat(5 * 1024 * 1024) } });

  expect((await runner.runEvent({ ...occasion, describe })).data).toEqual({ k: 1 });
});

test('A9: a hook that waits for something else runs out of time', async () => {
  const result = await runOnce(lab, [sh('before_tool', 'mkfifo pipe; exec cat pipe', { timeout: 200 })]);

  expect(result.outcomes[0]?.problem?.kind).toBe('timed-out');
});

test('output without end is stopped, and counts for nothing', async () => {
  const result = await runOnce(lab, [sh('before_tool', 'yes'), next()]);

  expect(result.outcomes.map(({ problem }) => problem?.kind)).toEqual(['output-limit', undefined]);
});

test('A11: each way not to start has a code and a hint, and onFailure decides', async () => {
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

test('A12: a script that is not there makes no lock-out here, and a block with Claude Code that names the hook', async () => {
  const missing = { event: 'before_tool', name: 'py', command: 'python3', args: ['missing.py'] } as const;
  const native = await runOnce(lab, [missing]);
  const claude = await runOnce(lab, [{ ...missing, dialect: 'claude' } as never]);

  expect(native).toMatchObject({ cancelled: false, outcomes: [{ status: 'failed', exitCode: 2 }] });
  expect(claude).toMatchObject({ cancelled: true, cancelledBy: 'py', reason: expect.stringContaining('missing.py') });
});

test('A15: where the folder of a hook is gone it runs in that of the project, and that is said', async () => {
  mkdirSync(join(lab.workspace, 'sub'));
  const hooks = hooksIn(lab, { hooks: [sh('before_tool', 'pwd > "$KEELSON_PROJECT_DIR/where"', { cwd: 'sub' })] });
  rmSync(join(lab.workspace, 'sub'), { recursive: true });
  await hooks.runner.runEvent(occasion);

  expect(lab.read('where').trim()).toBe(lab.workspace);
  expect(hooks.status().diagnostics).toMatchObject([{ code: 'cwd-missing', level: 'warning' }]);
});

test('A16: 200 hooks at one event run in turn and leave nothing behind', async () => {
  const openFiles = () => readdirSync('/proc/self/fd').length;
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  await runOnce(lab, [sh('before_tool', 'true')]);
  const before = openFiles();
  const controller = new AbortController();
  const hooks = Array.from({ length: 200 }, (_, n) => sh('before_tool', `echo ${n} >> order`, { name: `n${n}` }));
  const { runner } = hooksIn(lab, { hooks });
  const result = await runner.runEvent({ ...occasion, signal: controller.signal });
  process.off('warning', onWarning);

  expect(result.outcomes.filter(({ status }) => status === 'completed')).toHaveLength(200);
  expect(lab.read('order').trim().split('\n').map(Number)).toEqual(hooks.map((_, n) => n));
  expect([openFiles() - before, warnings]).toEqual([0, []]);
}, 60_000);

test('A18: a host that ends while a hook runs leaves no orphan', () => {
  const host = fileURLToPath(new URL('../../support/shell-hooks/dying-host.ts', import.meta.url));
  const tsx = fileURLToPath(new URL('../../../node_modules/.bin/tsx', import.meta.url));
  for (const way of ['exit', 'signal']) {
    spawnSync(tsx, [host, lab.workspace, way], { cwd: fileURLToPath(new URL('../../..', import.meta.url)) });
    const pid = Number(lab.read('pid'));
    execFileSync('sleep', ['0.2']);

    expect(isGone(pid)).toBe(true);
    rmSync(join(lab.workspace, 'pid'));
  }
}, 60_000);

test('A19: a hook has no terminal', async () => {
  expect(
    (await runOnce(lab, [sh('before_tool', `(echo x > /dev/tty) 2>/dev/null && echo '{"tty":1}'; true`)])).data,
  ).toEqual({});
});

test.each(['EAGAIN', 'EMFILE'])('A20: a spawn that throws %s is the failure of that hook', async (code) => {
  let spawned = 0;
  const spawn: Spawn = () => {
    spawned += 1;
    throw Object.assign(new TypeError(code), { code });
  };
  const result = await runOnce(lab, [next(), { ...next(), name: 'other' }], { machine: { spawn, logger: lab.logger } });

  expect(result.outcomes.map(({ problem }) => problem?.code)).toEqual(['no-resources', 'no-resources']);
  expect(spawned).toBe(2);
});

test('a hook that blocks when it fails does so on a time-out, a crash and nonsense', async () => {
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
  ['is ended', 'one', ''],
  ['ends in silence', 'two', "trap 'exit 0' TERM; "],
])(
  'a gate that %s because its host was told to end lets nothing pass; the host may still be finishing',
  async (_how, file, trap) => {
    const onSignal = () => {};
    process.on('SIGHUP', onSignal);
    const running = runOnce(lab, [sh('before_tool', `${trap}touch ${file}; sleep 60`)]);
    await expect.poll(() => lab.has(file)).toBe(true);
    process.emit('SIGHUP', 'SIGHUP');
    const result = await running;
    process.off('SIGHUP', onSignal);

    expect(result).toMatchObject({ cancelled: true, cancelledBy: 'before_tool-hook' });
    expect(result.outcomes).toMatchObject([{ status: 'failed', problem: { kind: 'aborted' } }]);
  },
);
