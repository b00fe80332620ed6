import { EventEmitter } from 'node:events';
import { Agent } from 'keelson';
import { hangs, scriptedModel, streams } from 'keelson/testing';
import { pipeResponse, pipeUIMessages, sseResponse } from 'keelson/ui';
import { expect, test } from 'vitest';

/** A response of `node:http` in memory. `write` returns false, as if the buffer is full, after `room` chunks. */
class Target extends EventEmitter {
  destroyed = false;
  ended = false;
  written = 0;

  constructor(private readonly room: number) {
    super();
  }

  writeHead(): void {}

  write(): boolean {
    this.written += 1;
    return this.written < this.room;
  }

  end(): void {
    this.ended = true;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const endless = () => new Agent({ model: scriptedModel([streams(['Hel', 'lo'], hangs())]) });
const listenersOf = (target: Target) => ['drain', 'close', 'error'].map((event) => target.listenerCount(event));

test('aborts the run if the client disconnected before the first event', async () => {
  const stream = endless().stream('Hi');
  const target = new Target(9);
  target.destroy();

  await pipeUIMessages(stream, target);

  await expect(stream.result).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect([target.written, ...listenersOf(target)]).toEqual([0, 0, 0, 0]);
});

test('aborts the run if the client disconnects while the buffer is full', async () => {
  const stream = endless().stream('Hi');
  const target = new Target(1);
  const piped = pipeResponse(sseResponse(stream), target);
  await new Promise<void>((resolve) => target.on('newListener', (event) => event === 'drain' && resolve()));

  target.destroy();
  await piped;

  await expect(stream.result).rejects.toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect([target.written, ...listenersOf(target)]).toEqual([1, 0, 0, 0]);
});

test('writes nothing while the buffer is full, and removes its listeners at the end', async () => {
  const stream = new Agent({ model: scriptedModel(['Hello.']) }).stream('Hi');
  const target = new Target(1);
  const piped = pipeResponse(sseResponse(stream), target);
  await stream.result;
  const writtenWhileFull = target.written;

  target.on('newListener', (event) => event === 'drain' && setImmediate(() => target.emit('drain')));
  target.emit('drain');
  await piped;

  expect(writtenWhileFull).toBe(1);
  expect(target.ended).toBe(true);
  expect(listenersOf(target)).toEqual([0, 0, 0]);
});
