import { spawn, spawnSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import type { Spawn } from 'keelson/mcp';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/internal/clock.js';
import { fakeClock } from '../support/agent/fake-clock.js';
import { env, remaining, sh } from '../support/process/sh.js';

const numbers = (text: string) => text.trim().split(/\s+/).map(Number);
const canSetsid = spawnSync('setsid', ['true']).status === 0;
if (!canSetsid) console.log('setsid is missing: tests of processes that leave their group are skipped');

/** Kills a process that left its group and wrote its pid. A run that waits for it exceeds the time limit of the test. */
function killAtEnd(output: string): void {
  const pid = Number(output);
  expect(pid).toBeGreaterThan(1);
  onTestFinished(() => void process.kill(pid, 'SIGKILL'));
}

test('A1: a sleeping program is ended at its time limit', async () => {
  const { outcome, durationMs, signal } = await sh('sleep 60', { timeoutMs: 300 });

  expect({ outcome, signal }).toEqual({ outcome: 'timed-out', signal: 'SIGTERM' });
  expect(durationMs).toBeGreaterThanOrEqual(299);
});

test('A2: a program that ignores SIGTERM is killed after the grace time', async () => {
  const clock = fakeClock();
  const { outcome, signal, stdout, durationMs } = await sh('trap "" TERM; echo $$; while :; do sleep 0.1; done', {
    ...{ timeoutMs: 300, clock },
    onFirstLine: () => clock.advance(2_300),
  });

  expect({ outcome, signal, durationMs }).toEqual({ outcome: 'timed-out', signal: 'SIGKILL', durationMs: 2_300 });
  expect(await remaining(numbers(stdout))).toEqual([]);
});

test('A4: a timeout ends the whole process group, including grandchildren', async () => {
  const { outcome, stdout } = await sh('sleep 61 & echo $!; sh -c "sleep 62 & echo \\$!; wait" & echo $!; wait', {
    timeoutMs: 300,
  });

  expect(outcome).toBe('timed-out');
  expect(numbers(stdout)).toHaveLength(3);
  expect(await remaining(numbers(stdout))).toEqual([]);
});

test('A4: a process that ignores SIGTERM is killed even if the group leader exits', async () => {
  const { stdout } = await sh('sh -c "trap \\"\\" TERM; echo \\$\\$; while :; do sleep 0.1; done" & sleep 60', {
    timeoutMs: 300,
  });

  expect(await remaining(numbers(stdout))).toEqual([]);
});

test('background processes are killed when the group leader exits, with or without an open pipe', async () => {
  const { outcome, stdout, exitCode, detachedChild } = await sh(
    'sleep 60 & echo $!; sleep 61 >/dev/null 2>&1 & echo $!',
  );

  expect({ outcome, exitCode, detachedChild }).toEqual({ outcome: 'exited', exitCode: 0, detachedChild: false });
  expect(numbers(stdout)).toHaveLength(2);
  expect(await remaining(numbers(stdout))).toEqual([]);
});

test('a background process that holds the output is killed 250 ms after the leader or sooner', async () => {
  const delays: number[] = [];
  const setTimeout = (callback: () => void, ms: number) => {
    delays.push(ms);
    return systemClock.setTimeout(callback, ms);
  };

  const { outcome } = await sh('sleep 60 & exit 0', { timeoutMs: 9_000, clock: { ...systemClock, setTimeout } });

  const [drainMs] = delays.filter((ms) => ms < 9_000);
  expect(outcome).toBe('exited');
  expect(drainMs).toBeLessThanOrEqual(250);
});

test('sixteen programs share one listener on their abort signal, which the last one removes', async () => {
  const controller = new AbortController();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);

  const running = Array.from({ length: 16 }, (_, at) =>
    sh(at === 0 ? 'exit 0' : 'sleep 60', { signal: controller.signal }),
  );
  await running[0];
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  controller.abort();
  const [, ...aborted] = await Promise.all(running);
  process.off('warning', onWarning);

  expect(new Set(aborted.map(({ outcome }) => outcome))).toEqual(new Set(['aborted']));
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  expect(warnings).toEqual([]);
});

test.skipIf(!canSetsid && !process.env.CI)(
  'A5: a grandchild in its own session that holds the pipe is reported, and does not delay the end',
  async () => {
    let expire = () => {};
    const setTimeout = (callback: () => void, ms: number) => {
      if (ms === 60_000) expire = callback;
      return systemClock.setTimeout(callback, ms);
    };
    const { outcome, stdout, detachedChild } = await sh('setsid sh -c "echo \\$\\$; exec sleep 60" & sleep 60', {
      ...{ timeoutMs: 60_000, clock: { ...systemClock, setTimeout } },
      onFirstLine: () => expire(),
    });
    killAtEnd(stdout);

    expect({ outcome, detachedChild }).toEqual({ outcome: 'timed-out', detachedChild: true });
  },
);

test.skipIf(!canSetsid && !process.env.CI)(
  'A5: a grandchild in its own session is also reported after the leader has exited',
  async () => {
    // The leader exits when the grandchild has left the group.
    const command = 'exec 3>&1; { setsid sh -c "echo \\$\\$; exec sleep 60 >&3" & } | head -n 1';
    const { stdout, ...result } = await sh(command, { timeoutMs: 60_000 });
    killAtEnd(stdout);

    expect(result).toMatchObject({ outcome: 'exited', exitCode: 0, detachedChild: true });
  },
);

test.skipIf(!canSetsid && !process.env.CI)(
  'a grandchild in its own session delays the result by no long timer, and no output of the leader is lost',
  async () => {
    const setTimeout = (callback: () => void, ms: number) =>
      ms < 100 ? systemClock.setTimeout(callback, ms) : undefined;
    for (let run = 0; run < 5; run++) {
      // The leader exits when the grandchild has left the group, and writes as much as the pipe holds before.
      const detach = 'exec 3>&1; { setsid sh -c "echo \\$\\$; exec sleep 60 >&3" & } | head -n 1 >&2';
      const command = `${detach}; head -c 150000 /dev/zero | tr "\\0" x`;
      const { stdout, stderr, detachedChild } = await sh(command, { clock: { ...systemClock, setTimeout } });
      killAtEnd(stderr);

      expect([stdout.length, detachedChild]).toEqual([150_000, true]);
    }
  },
);

test.skipIf(!canSetsid && !process.env.CI)(
  'a grandchild in its own session that never stops writing does not delay the end',
  async () => {
    const command = 'setsid timeout 60 sh -c "while :; do echo x; sleep 0.01; done" & exit 0';

    expect(await sh(command, { timeoutMs: 60_000 })).toMatchObject({ outcome: 'exited', detachedChild: true });
  },
);

test('A9: a program that does not read 5 MB of input is ended at its time limit', async () => {
  const { outcome } = await sh('sleep 60', { stdin: 'x'.repeat(5_000_000), timeoutMs: 300 });

  expect(outcome).toBe('timed-out');
});

test('a program that handles SIGTERM and exits with 0 has the outcome timed-out', async () => {
  const { outcome, exitCode, stdout } = await sh('trap "echo bye; exit 0" TERM; sleep 60 & wait', { timeoutMs: 300 });

  expect({ outcome, exitCode, stdout }).toEqual({ outcome: 'timed-out', exitCode: 0, stdout: 'bye\n' });
});

test('an abort ends the program and removes its abort listener', async () => {
  const controller = new AbortController();
  const running = sh('sleep 60', { signal: controller.signal, timeoutMs: 60_000 });
  setTimeout(() => controller.abort(), 100);

  const { outcome } = await running;

  expect(outcome).toBe('aborted');
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('a program is not started if the signal was aborted before', async () => {
  const never = () => expect.unreachable();

  expect(await sh('exit 0', { signal: AbortSignal.abort(), spawn: never as never })).toMatchObject({
    outcome: 'aborted',
  });
});

test('an abort after the exit does not change the outcome', async () => {
  const controller = new AbortController();
  const abortAtExit: Spawn = (...args) => spawn(...args).once('exit', () => setImmediate(() => controller.abort()));
  const running = sh('sleep 60 & exit 7', { signal: controller.signal, spawn: abortAtExit });

  expect(await running).toMatchObject({ outcome: 'exited', exitCode: 7 });
});

test('twenty concurrent programs keep their time limits', async () => {
  const results = await Promise.all(Array.from({ length: 20 }, () => sh('sleep 60', { timeoutMs: 400, env })));

  expect(results.map(({ outcome }) => outcome)).toEqual(Array(20).fill('timed-out'));
});
