import { describe, expect, test } from 'vitest';
import { AgentListeners } from '../../src/agent/listeners.js';
import { consoleLogger } from '../../src/internal/logger.js';

const event = { type: 'turn-start', runId: 'r', turn: 1 } as const;

function listening() {
  const errors: unknown[] = [];
  const listeners = new AgentListeners({ ...consoleLogger, error: (...entry) => void errors.push(entry) });
  return { listeners, errors };
}

describe('listeners of an agent', () => {
  test('`once` calls its listener for one event and removes it', () => {
    const { listeners } = listening();
    const heard: unknown[] = [];
    listeners.on('turn-start', (it) => void heard.push(it), true);

    expect(listeners.active).toBe(true);
    listeners.emit(event);
    listeners.emit(event);

    expect(heard).toEqual([event]);
    expect(listeners.active).toBe(false);
  });

  test('`off` removes only the given listener of `on` or `once`', () => {
    const { listeners } = listening();
    const heard: string[] = [];
    const a = () => void heard.push('a');
    const b = () => void heard.push('b');
    listeners.on('turn-start', a);
    listeners.on('turn-start', b);
    listeners.on('turn-start', a, true);
    listeners.off('turn-start', undefined as never);
    listeners.off('turn-start', () => {});
    listeners.off('turn-start', a);
    listeners.emit(event);

    expect(heard).toEqual(['b']);
    listeners.off('turn-start', b);
    expect(listeners.active).toBe(false);
  });

  test('a throw and a rejection are logged, and the next listener gets the event', async () => {
    const { listeners, errors } = listening();
    const heard: string[] = [];
    listeners.on('turn-start', () => {
      throw new TypeError('thrown');
    });
    listeners.on('turn-start', () => Promise.reject(new TypeError('rejected')));
    listeners.on('turn-start', () => void heard.push('heard'));
    listeners.emit(event);
    await Promise.resolve();

    expect(heard).toEqual(['heard']);
    expect(errors).toEqual(
      ['thrown', 'rejected'].map((text) => ['A listener of "turn-start" failed.', new TypeError(text)]),
    );
  });

  test('a listener that is added during an event gets the next event', () => {
    const { listeners } = listening();
    const heard: string[] = [];
    listeners.on('turn-start', () => listeners.on('turn-start', () => void heard.push('late'), true), true);
    listeners.on('turn-start', () => void heard.push('early'));
    listeners.emit(event);
    expect(heard).toEqual(['early']);
    listeners.emit(event);

    expect(heard).toEqual(['early', 'early', 'late']);
  });
});
