import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Clock, systemClock, timersOf } from '../../src/internal/clock.js';
import { randomIds } from '../../src/internal/ids.js';
import { consoleLogger } from '../../src/internal/logger.js';
import { createDeferred, isPromise } from '../../src/internal/promise.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('the system clock', () => {
  test('uses the current global timers on each call, so that fake timers work', () => {
    vi.useFakeTimers({ now: 1_000 });
    const called: number[] = [];

    systemClock.setTimeout(() => void called.push(systemClock.now()), 50);
    systemClock.clearTimeout(systemClock.setTimeout(() => void called.push(-1), 10));
    vi.advanceTimersByTime(100);

    expect(called).toEqual([1_050]);
  });

  test('timersOf keeps the `this` of a clock that is a class instance', () => {
    class Counting implements Clock {
      calls: string[] = [];
      now(): number {
        return 0;
      }
      setTimeout(): number {
        return this.calls.push('set');
      }
      clearTimeout(): void {
        this.calls.push('clear');
      }
    }
    const clock = new Counting();
    const timers = timersOf(clock);

    timers.clearTimeout(timers.setTimeout(() => {}, 1));

    expect(clock.calls).toEqual(['set', 'clear']);
  });
});

describe('random ids', () => {
  test('begin with their kind and are unique', () => {
    const ids = Array.from({ length: 1_000 }, () => randomIds.next('run'));

    expect(ids[0]).toMatch(/^run_[0-9a-f]{32}$/);
    expect(new Set(ids).size).toBe(1_000);
    expect(randomIds.next('call')).toMatch(/^call_/);
  });
});

describe('the console logger', () => {
  test('prints only warnings and errors', () => {
    const printed: unknown[][] = [];
    const methods = ['warn', 'error', 'info', 'debug', 'log'] as const;
    for (const method of methods) {
      vi.spyOn(console, method).mockImplementation((...values) => void printed.push([method, ...values]));
    }

    consoleLogger.debug('d');
    consoleLogger.info('i', 1);
    consoleLogger.warn('w');
    consoleLogger.error('e', { more: 1 });

    expect(printed).toEqual([
      ['warn', '[keelson] w'],
      ['error', '[keelson] e', { more: 1 }],
    ]);
  });

  test('removes terminal control sequences', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});

    consoleLogger.warn('a tool named \u001b[2Jclear\u009b31m\r,\n\tas the model called it', 'and \u001b[31mred');

    expect(warn).toHaveBeenCalledWith('[keelson] a tool named clear\n,\n\tas the model called it', 'and red');
  });

  test('prints a message that is not a string, as untyped tools may pass it', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});

    consoleLogger.error(new TypeError('down') as unknown as string);
    consoleLogger.error(undefined as unknown as string, undefined);

    expect(error.mock.calls).toEqual([['[keelson] TypeError: down'], ['[keelson] undefined']]);
  });
});

describe('isPromise', () => {
  test.each<[string, unknown, boolean]>([
    ['a promise', Promise.resolve(), true],
    // biome-ignore lint/suspicious/noThenProperty: the test needs a thenable
    ['a thenable', { then() {} }, true],
    // biome-ignore lint/suspicious/noThenProperty: the test needs an object with a `then` property
    ['an object with a `then` that is not a function', { then: 5 }, false],
    ['null', null, false],
    ['undefined', undefined, false],
    ['a string', 'then', false],
  ])('recognises %s', (_title, value, expected) => {
    expect(isPromise(value)).toBe(expected);
  });
});

test('a deferred promise can be settled once', async () => {
  const kept = createDeferred<string>();
  kept.resolve('first');
  kept.reject(new Error('second'));
  const broken = createDeferred<string>();
  broken.reject('no');

  expect(await kept.promise).toBe('first');
  await expect(broken.promise).rejects.toBe('no');
});
