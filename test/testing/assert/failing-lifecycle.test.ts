import type { AgentLifecycle } from 'keelson';
import { assertLifecycle } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { faultsOf, itFinds } from '../../support/testing/find-faults.js';

const never = () => new Promise<void>(() => {});
const moment = () => new Promise((resolve) => setTimeout(resolve, 1));

describe('assertLifecycle finds a lifecycle that fails, when it', () => {
  const inRun = 'answer (a run with one answer)';
  itFinds([
    {
      it: 'throws on every call',
      make: () => ({
        beforeModel() {
          throw new TypeError('broken');
        },
      }),
      faults: [`${inRun}: Lifecycle "lifecycle" failed in beforeModel: broken`],
    },
    {
      it: 'cannot start',
      make: () => ({ onInit: () => Promise.reject(new TypeError('broken')) }),
      faults: ['shape (outside any run): Lifecycle "lifecycle" failed in onInit: broken'],
    },
    {
      it: 'cannot open a session',
      make: () => ({ onSessionStart: () => Promise.reject(new TypeError('broken')) }),
      faults: ['session (outside any run): Lifecycle "lifecycle" failed in onSessionStart: broken'],
    },
    {
      it: 'throws when the run has failed',
      make: () => ({ onError: () => Promise.reject(new TypeError('broken')) }),
      faults: ['model-errors (a run whose model fails): onError of "lifecycle" failed: broken'],
    },
    {
      it: 'throws if a tool call has invalid JSON arguments',
      make: () => ({ wrapToolCall: (call, next) => next({ ...call, input: Object.entries(call.input as object) }) }),
      faults: [
        'tool-errors (a run whose tools fail): ' +
          'Lifecycle "lifecycle" failed in wrapToolCall: Cannot convert undefined or null to object',
      ],
    },
    {
      it: 'replaces the error of the model',
      make: () => ({ wrapModelCall: (_request, next) => next().catch(() => Promise.reject(new TypeError('mine'))) }),
      faults: ['model-errors (a run whose model fails): Lifecycle "lifecycle" failed in wrapModelCall: mine'],
    },
    {
      it: 'hangs in a hook',
      make: () => ({ beforeModel: never }),
      faults: [
        `${inRun}: the run did not end within 200 ms, beforeModel was still pending; the remaining checks were skipped`,
      ],
    },
    {
      it: 'retries for ever',
      make: () => ({
        async wrapModelCall(_request, next) {
          for (;;) {
            const response = await next().catch(async () => void (await moment()));
            if (response !== undefined) return response;
          }
        },
      }),
      faults: [expect.stringContaining('model-errors (a run whose model fails): the run did not end within 200 ms')],
    },
    {
      it: 'hangs when the agent is closed',
      make: () => ({ onShutdown: never }),
      faults: [expect.stringContaining('`close` did not end within 200 ms, onShutdown was still pending')],
    },
    {
      it: 'hangs when a session is opened',
      make: () => ({ onSessionStart: never }),
      faults: [expect.stringContaining('session (outside any run): the session did not open within 200 ms')],
    },
    {
      it: 'hangs when a session is closed',
      make: () => ({ onSessionEnd: never }),
      faults: [expect.stringContaining('the session did not close within 200 ms')],
    },
    {
      it: 'has a pending hook after its run',
      make: () => ({ beforeModel: (_messages, run) => (run.turn === 1 ? afterAbort(run.signal) : undefined) }),
      faults: [expect.stringContaining('200 ms after the run had ended, beforeModel was still pending')],
    },
  ]);
});

/** Hangs if the run is aborted during the wait. */
async function afterAbort(signal: AbortSignal): Promise<void> {
  await moment();
  if (signal.aborted) await never();
}

describe('assertLifecycle finds an unhandled rejection', () => {
  it('and reports its message', async () => {
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    try {
      const floating: AgentLifecycle = { afterModel: () => void Promise.reject(new TypeError('floating')) };
      expect(await faultsOf(() => floating)).toEqual(['answer (a run with one answer): unhandled rejection: floating']);
      expect(process.listenerCount('unhandledRejection')).toBe(0);
    } finally {
      for (const listener of others) process.on('unhandledRejection', listener);
    }
  });
});

describe('the error of assertLifecycle', () => {
  it('lists every fault with its count', async () => {
    const make = (): AgentLifecycle => ({
      name: 'careless',
      afterModel: () => void Promise.resolve().then(() => undefined),
      wrapToolCall: (_call, next) => next().catch(() => ({ content: 'Sorry.' })),
      afterAgent: () => 5 as never,
    });

    await expect(assertLifecycle(make, { skip: ['streaming', 'concurrency', 'session'] })).rejects.toMatchObject({
      name: 'LifecycleFaultyError',
      code: 'ERR_LIFECYCLE_FAULTY',
      lifecycle: 'careless',
      message: expect.stringMatching(
        /^Lifecycle "careless" breaks its contract:\n- answer \(a run with one answer\): Lifecycle "careless" failed in afterAgent: .* \(\d+ times\)\n- abort \(.*\): wrapToolCall swallowed the abort: .* \(\d+ times\)$/,
      ),
    });
  });
});
