import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { type OpenProcess, type OpenProcessOptions, openProcess } from '../../src/process/open-process.js';
import { fakeClock } from '../support/agent/fake-clock.js';
import { env, remaining } from '../support/process/sh.js';

async function open(text: string, more: Partial<OpenProcessOptions> = {}): Promise<OpenProcess> {
  const opened = await openProcess({ command: '/bin/sh', args: ['-c', text], env, ...more });
  if ('failure' in opened) return expect.unreachable(opened.failure.message);
  return opened;
}

async function firstLine({ stdout }: OpenProcess): Promise<string> {
  const [line] = await once(createInterface({ input: stdout }), 'line');
  return line as string;
}

test('a server answers until its input ends, and then may exit by itself', async () => {
  const server = await open('while read -r line; do echo "got $line"; done; echo over >&2; exit 5');
  server.stdin.write('a\n');
  expect(await firstLine(server)).toBe('got a');

  const end = await server.stop();

  expect(end).toMatchObject({ exitCode: 5, signal: null, failure: undefined });
  expect(server.stderr()).toBe('over\n');
});

test('a server that ignores the end of its input gets SIGTERM', async () => {
  const clock = fakeClock();
  const server = await open('trap "exit 6" TERM; echo up; while :; do sleep 0.05; done', { clock });
  await firstLine(server);
  const stopped = server.stop();
  clock.advance(2_000);

  expect(await stopped).toMatchObject({ exitCode: 6 });
});

test('stop ends a whole process tree that ignores SIGTERM', async () => {
  const clock = fakeClock();
  const text = 'trap "" TERM; sh -c "trap \\"\\" TERM; sleep 60 & echo $$ \\$\\$ \\$!; wait" & wait';
  const server = await open(text, { clock });
  const pids = (await firstLine(server)).split(' ').map(Number);
  const stopped = server.stop();
  clock.advance(4_000);

  expect(await stopped).toMatchObject({ signal: 'SIGKILL' });
  expect(pids).toHaveLength(3);
  expect(await remaining(pids)).toEqual([]);
});

test('a server that exits takes its children along, and its last stderr output is kept', async () => {
  const server = await open('sleep 60 & echo $!; echo no config >&2; exit 1');
  const pid = Number(await firstLine(server));

  expect(await server.ended).toMatchObject({ exitCode: 1 });
  expect(server.stderr()).toBe('no config\n');
  expect(await remaining([pid])).toEqual([]);
});

test('writing to an exited server does not throw, and stopping it twice gives the same result', async () => {
  const server = await open('exit 0');
  await server.ended;
  server.stdin.write('x'.repeat(100_000));

  expect(await Promise.all([server.stop(), server.stop()])).toEqual([await server.ended, await server.ended]);
});

test('an abort ends a server, and so does a signal that was aborted before the start', async () => {
  const controller = new AbortController();
  const server = await open('exec sleep 60', { signal: controller.signal });
  controller.abort();
  expect(await server.ended).toMatchObject({ signal: 'SIGTERM' });

  const late = await open('exec sleep 60', { signal: controller.signal });
  expect(await late.ended).toMatchObject({ signal: 'SIGTERM' });
});

test('a server that cannot be started gives a failure', async () => {
  expect(await openProcess({ command: '/nowhere/server', env })).toMatchObject({ failure: { code: 'not-found' } });
});

test('F14: a pipe that nobody reads does not keep an exited server alive', async () => {
  const server = await open('yes | head -c 300000; exit 3');

  const end = await server.stop();

  expect(end.detachedChild).toBe(false);
  expect(await remaining([server.pid])).toEqual([]);
});
