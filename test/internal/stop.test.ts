import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Stop } from '../../src/internal/stop.js';
import { pause, rejectionOf, unhandledDuring } from '../support/agent/settle.js';

describe('Stop', () => {
  test('calls each listener once, with the reason of the first stop', () => {
    const stop = new Stop();
    const told: unknown[] = [];
    stop.onStop(() => void told.push(stop.reason));

    stop.stop('first');
    stop.stop('second');

    expect([stop.stopped, stop.reason, told]).toEqual([true, 'first', ['first']]);
  });

  test('calls a late listener at once, and never calls a removed listener', () => {
    const stop = new Stop();
    const told: string[] = [];
    const off = stop.onStop(() => void told.push('off'));
    off();

    stop.stop('x');
    stop.onStop(() => void told.push('late'));

    expect(told).toEqual(['late']);
  });

  test('calls all listeners even if one of them removes another', () => {
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

  test.each(['before', 'after'])('has one abort signal with the reason, read %s the stop', (when) => {
    const stop = new Stop();
    const early = when === 'before' ? stop.signal : undefined;

    stop.stop('x');

    expect([stop.signal.aborted, stop.signal.reason]).toEqual([true, 'x']);
    expect(early ?? stop.signal).toBe(stop.signal);
  });
});

describe('a Stop that follows', () => {
  test('a signal stops with its reason, and removes its listener', () => {
    const controller = new AbortController();
    const stop = new Stop();
    stop.follow(controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);

    controller.abort('x');

    expect(stop.reason).toBe('x');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('an aborted signal stops at once, and undefined is ignored', () => {
    const stop = new Stop();
    stop.follow(undefined);
    expect(stop.stopped).toBe(false);

    stop.follow(AbortSignal.abort('x'));

    expect(stop.reason).toBe('x');
  });

  test('a signal removes its listener on release, and no longer stops', () => {
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

  test('a signal shares one listener with all others, so that Node does not warn of a leak', () => {
    const controller = new AbortController();
    const stops = Array.from({ length: 20 }, () => new Stop());
    for (const stop of stops) stop.follow(controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);

    stops[0]?.release();
    stops[1]?.onStop(() => stops[2]?.release());
    controller.abort('enough');

    expect(stops.map((stop) => stop.stopped)).toEqual(stops.map((_, i) => i !== 0 && i !== 2));
    for (const stop of stops) stop.release();
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  test('another Stop stops with its reason', () => {
    const other = new Stop();
    const stop = new Stop();
    stop.followStop(other);

    other.stop('x');

    expect(stop.reason).toBe('x');
  });
});

describe('Stop.race', () => {
  test('settles as the promise does if that happens first', async () => {
    const stop = new Stop();

    expect(await stop.race(Promise.resolve('x'))).toBe('x');
    expect(await rejectionOf(stop.race(Promise.reject('y')))).toBe('y');
  });

  test('rejects with the reason on a stop, also an earlier one, and ignores a late rejection', async () => {
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

  test('accepts a thenable', async () => {
    // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable
    const thenable = { then: (resolve: (value: string) => unknown) => resolve('x') } as PromiseLike<string>;

    expect(await new Stop().race(thenable)).toBe('x');
  });
});
