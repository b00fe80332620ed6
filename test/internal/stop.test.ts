import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Stop } from '../../src/internal/stop.js';
import { pause, rejectionOf, unhandledDuring } from '../support/agent/settle.js';

describe('a Stop', () => {
  test('tells its listeners once, with the reason of the first call', () => {
    const stop = new Stop();
    const told: unknown[] = [];
    stop.onStop(() => void told.push(stop.reason));

    stop.stop('first');
    stop.stop('second');

    expect([stop.stopped, stop.reason, told]).toEqual([true, 'first', ['first']]);
  });

  test('tells a listener that comes late at once, and not one that was taken off', () => {
    const stop = new Stop();
    const told: string[] = [];
    const off = stop.onStop(() => void told.push('off'));
    off();

    stop.stop('x');
    stop.onStop(() => void told.push('late'));

    expect(told).toEqual(['late']);
  });

  test('tells all its listeners, also where one of them takes another off', () => {
    const stop = new Stop();
    const told: string[] = [];
    const offs: (() => void)[] = [];
    offs.push(stop.onStop(() => void told.push('a')));
    stop.onStop(() => {
      told.push('b');
      for (const off of offs) off();
    });
    stop.onStop(() => void told.push('c'));

    stop.stop('x');

    expect(told).toEqual(['a', 'b', 'c']);
  });

  test.each(['before', 'after'])('has one signal, aborted with the reason, read %s it stops', (when) => {
    const stop = new Stop();
    const early = when === 'before' ? stop.signal : undefined;

    stop.stop('x');

    expect([stop.signal.aborted, stop.signal.reason]).toEqual([true, 'x']);
    expect(early ?? stop.signal).toBe(stop.signal);
  });
});

describe('a Stop that follows', () => {
  test('a signal stops with its reason, and lets go of it', () => {
    const controller = new AbortController();
    const stop = new Stop();
    stop.follow(controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);

    controller.abort('x');

    expect(stop.reason).toBe('x');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('a signal that has aborted stops at once; no signal is none', () => {
    const stop = new Stop();
    stop.follow(undefined);
    expect(stop.stopped).toBe(false);

    stop.follow(AbortSignal.abort('x'));

    expect(stop.reason).toBe('x');
  });

  test('something lets go of it when it is released, and is deaf from then on', () => {
    const controller = new AbortController();
    const other = new Stop();
    const stop = new Stop();
    const released: string[] = [];
    stop.follow(controller.signal);
    stop.followStop(other);
    stop.whenReleased(() => void released.push('released'));

    stop.release();
    stop.release();
    controller.abort();
    other.stop('x');

    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect([stop.stopped, released]).toEqual([false, ['released']]);
  });

  test('another Stop stops with its reason', () => {
    const other = new Stop();
    const stop = new Stop();
    stop.followStop(other);

    other.stop('x');

    expect(stop.reason).toBe('x');
  });
});

describe('a race against a Stop', () => {
  test('gives the outcome of the promise where that comes first', async () => {
    const stop = new Stop();

    expect(await stop.race(Promise.resolve('x'))).toBe('x');
    expect(await rejectionOf(stop.race(Promise.reject('y')))).toBe('y');
  });

  test('rejects with the reason where it stops first, or has stopped, and what comes late goes nowhere', async () => {
    const stop = new Stop();
    let fail: (error: unknown) => void = () => {};
    const slow = new Promise<never>((_, reject) => {
      fail = reject;
    });

    const unhandled = await unhandledDuring(async () => {
      const racing = rejectionOf(stop.race(slow));
      stop.stop('enough');
      expect(await racing).toBe('enough');
      expect(await rejectionOf(stop.race(slow))).toBe('enough');
      fail(new Error('late'));
      await pause();
    });

    expect(unhandled).toEqual([]);
  });

  test('takes a thenable as well', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what this is about
    const thenable = { then: (resolve: (value: string) => unknown) => resolve('x') } as PromiseLike<string>;

    expect(await new Stop().race(thenable)).toBe('x');
  });
});
