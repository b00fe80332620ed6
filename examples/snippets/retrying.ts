import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, ModelError } from 'keelson';
import { fails, says, scriptedModel } from 'keelson/testing';

// #region retry
const retry: AgentLifecycle = {
  name: 'retry',
  async wrapModelCall(request, next) {
    const { clock, signal } = request.run;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await next(request);
      } catch (error) {
        // An abort is not a ModelError, so it is thrown again here.
        if (!(error instanceof ModelError) || !error.retryable || attempt === 3) throw error;
        const waitMs = error.retryAfterMs ?? 500 * 2 ** attempt;
        await new Promise<void>((resolve) => {
          const timer = clock.setTimeout(resolve, waitMs);
          // Without this line, the timer would keep running after an abort.
          signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true });
        });
      }
    }
  },
};
// #endregion

// #region fallback
const backup = scriptedModel('From the other one.');

const fallback: AgentLifecycle = {
  name: 'fallback',
  // Lower than the default of 50, so `fallback` is inside of `retry`: both models are called before `retry` waits.
  priority: 40,
  wrapModelCall: (request, next) =>
    next(request).catch((error) =>
      error instanceof ModelError ? next({ ...request, model: backup }) : Promise.reject(error),
    ),
};
// #endregion

const busy = fails({ message: 'busy', status: 429, retryAfterMs: 1 });
const model = scriptedModel([busy, busy, says('At last.')]);
const retried = await new Agent({ model, lifecycle: [retry] }).run('Hello');
assert.deepEqual([retried.text, retried.turns], ['At last.', 1]);
const broken = scriptedModel(fails({ message: 'no such model', status: 404 }));
await assert.rejects(new Agent({ model: broken, lifecycle: [retry] }).run('Hello'), { status: 404 });
const fallen = await new Agent({ model: broken, lifecycle: [retry, fallback] }).run('Hello');
assert.equal(fallen.text, 'From the other one.');
