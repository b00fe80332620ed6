import { Agent, type AgentLifecycle, type ModelCallNext, RunAbortedError, RunError } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { type Random, seeded } from '../soak/random-agent.js';
import { pairingProblem } from './pairing.js';
import { toolOf } from './sample-tools.js';
import { keepingLogger } from './silent-logger.js';

type Hook = 'beforeAgent' | 'beforeModel' | 'wrapModelCall' | 'afterModel' | 'wrapToolCall' | 'afterAgent';

/** Waits for some microtasks, so that hooks settle in any order. */
async function ticks(random: Random): Promise<void> {
  for (let left = Math.floor(random() * 12); left > 0; left -= 1) await Promise.resolve();
}

/** Races two model calls, leaves one behind, retries, or passes through. */
function randomCall(random: Random, next: ModelCallNext): ReturnType<ModelCallNext> {
  const way = random();
  const late = () => ticks(random).then(() => next());
  if (way < 0.3) return Promise.any([next(), late()]);
  if (way < 0.5) return next().catch(late);
  if (way < 0.6) return late().then((response) => ticks(random).then(() => response));
  return next();
}

function randomLifecycle(random: Random, at: (hook: Hook) => void): AgentLifecycle {
  return {
    ...{ priority: Math.floor(random() * 100), onFailure: random() < 0.3 ? 'continue' : 'throw' },
    beforeAgent: () => ticks(random).then(() => at('beforeAgent')),
    beforeModel: () => at('beforeModel'),
    wrapModelCall(_request, next) {
      at('wrapModelCall');
      return randomCall(random, next);
    },
    afterModel: () => ticks(random).then(() => at('afterModel')),
    async wrapToolCall(_call, next) {
      at('wrapToolCall');
      await ticks(random);
      return next();
    },
    afterAgent: () => at('afterAgent'),
  };
}

/**
 * Makes one run with random wraps, of which outer ones settle before inner ones, and an abort inside a random hook.
 * Returns the broken rule, or undefined.
 */
export async function fuzzWraps(seed: number): Promise<string | undefined> {
  const random = seeded(seed);
  const stop = new AbortController();
  let hooksUntilAbort = random() < 0.5 ? Math.floor(random() * 20) : Number.POSITIVE_INFINITY;
  const at = () => {
    hooksUntilAbort -= 1;
    if (hooksUntilAbort < 0) stop.abort();
  };
  let open: number | undefined;
  const problems: string[] = [];
  const model = scriptedModel(async ({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    if (open === undefined || turn !== open) problems.push(`turn ${turn} was asked in step ${open}`);
    await ticks(random);
    if (random() < 0.2) throw Object.assign(new TypeError('overloaded'), { status: 503 });
    return turn < 2 ? calls('work') : 'done';
  });
  const steps: AgentLifecycle = {
    priority: 0,
    beforeModel: (messages) => {
      open = messages.filter(({ role }) => role === 'assistant').length;
    },
    afterModel: () => {
      open = undefined;
    },
  };
  const lifecycle = [steps, ...Array.from({ length: 3 }, () => randomLifecycle(random, at))];
  const agent = new Agent({ model, tools: [toolOf('work', () => 'worked')], lifecycle, logger: keepingLogger() });
  const problem = await agent.run('Hello', { signal: stop.signal }).then(
    ({ history }) => pairingProblem(history),
    (error: unknown) => {
      if (!(error instanceof RunError)) return `unexpected error ${String(error)}`;
      if (stop.signal.aborted && !(error instanceof RunAbortedError)) return `aborted run ended with ${error.code}`;
      return pairingProblem(error.history);
    },
  );
  const asked = model.requests.length;
  for (let left = 60; left > 0; left -= 1) await Promise.resolve();
  if (model.requests.length > asked) problems.push('the model was called after the run had ended');
  return problem ?? problems[0];
}
