import type { ResumeDecisions } from '../../agent/run/resume/continuation.js';
import type { RunResult } from '../../agent/run-result.js';
import type { JsonValue } from '../../internal/json.js';
import { withMethods } from '../../internal/options/rules.js';
import { validateOption } from '../../internal/options/validate.js';
import { createDeferred } from '../../internal/promise.js';
import { asDecisions, decisionProblem } from '../check-decisions.js';
import { type DecisionOptions, defineStep, type Step } from '../step.js';
import { OneAwait } from './one-await.js';
import type { RestatePromiseLike } from './restate-promise.js';

// The SDK calls this function, which Node has since version 22.
if (!('withResolvers' in Promise)) {
  const value = function withResolvers(this: PromiseConstructor) {
    return createDeferred(this);
  };
  Object.defineProperty(Promise, 'withResolvers', { value, writable: true, configurable: true });
}

/** The members of a Restate `Context` that the adapter uses. */
export interface RestateStepContext {
  /** Runs a step, or returns its stored result. */
  run(name: string, action: () => Promise<JsonValue>): RestatePromiseLike<JsonValue>;
  /** Creates a promise that another process resolves, and the id with which it does so. */
  awakeable(): { readonly id: string; readonly promise: RestatePromiseLike<unknown> };
  /** The id of the invocation, and a signal that is aborted when this attempt ends. */
  request(): { readonly id: string; readonly attemptCompletedSignal: AbortSignal };
}

/** The steps of one Restate invocation, for the option `step` of `durable`. */
export interface RestateStep extends Step {
  /**
   * Waits in Restate until somebody has decided on the pending tool calls of a suspended run. `notify` receives the id
   * of an awakeable.
   *
   * Another process resolves the awakeable with the decisions as JSON: `{ "<call id>": "approve" }`. If the decisions
   * are invalid, `notify` is called again, with the problem and a new id.
   */
  decisions(result: Pick<RunResult, 'pending'>, options: DecisionOptions): Promise<ResumeDecisions>;
}

/**
 * Creates the steps of a Restate invocation. Call it once for each invocation. Steps that begin at the same time run in
 * parallel.
 *
 * Do not await other promises of `ctx` while a run is active: Restate allows one pending `await` at a time.
 *
 * @example
 * const step = restateStep(ctx);
 * const agent = new Agent(durable({ step }).options({ model, tools, lifecycle: [approval({ tools: ['pay'] })] }));
 * let result = await agent.run(question);
 * while (result.status === 'suspended') {
 *   const resume = await step.decisions(result, { notify: ({ id, pending }) => saveRequest(id, pending) });
 *   result = await agent.run('', { messages: result.history, resume });
 * }
 */
export function restateStep(ctx: RestateStepContext): RestateStep {
  validateOption('ctx', ctx, CONTEXT);
  const { id, attemptCompletedSignal } = ctx.request();
  const awaits = new OneAwait(attemptCompletedSignal);
  const options = { replaysInOrder: true, isCancelled };
  const step = defineStep(id, (name, run) => awaits.settle(() => ctx.run(name, run)), options);
  const decisions: RestateStep['decisions'] = async (result, { notify }) => {
    for (let problem: string | undefined; ; ) {
      const awakeable = ctx.awakeable();
      const request = { id: awakeable.id, pending: result.pending, ...(problem !== undefined && { problem }) };
      await awaits.settle(() =>
        ctx.run(`ask ${result.pending.map((call) => call.id).join(' ')}`, async () => {
          await notify(request);
          return null;
        }),
      );
      const given = await awaits.wait(() => awakeable.promise);
      problem = await decisionProblem(given, result);
      if (problem === undefined) return asDecisions(given);
    }
  };
  return Object.assign(step, { decisions });
}

/** True for the error with which Restate cancels an invocation. */
function isCancelled(error: unknown): boolean {
  return (Object(error) as { readonly code?: unknown }).code === CANCELLED;
}

const CANCELLED = 409;

const CONTEXT = {
  ...withMethods('run', 'awakeable', 'request'),
  expected: 'the context of a Restate handler',
  isRequired: true,
};
