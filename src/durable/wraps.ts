import type { Run } from '../agent/run/run.js';
import type { Awaitable } from '../internal/promise.js';
import { CallSuspendedError } from '../lifecycle/compose-points.js';
import type { HookPoint } from '../lifecycle/decision.js';
import { isAside, report } from '../lifecycle/hook-run/hook-run.js';
import type { ModelCallNext, ModelCallRequest, ToolCallNext, ToolCallRequest } from '../lifecycle/lifecycle.js';
import type { ModelResponse } from '../model/model.js';
import { type RetryDelays, retryDelayMs } from '../model/retry-delay.js';
import { ModelError } from '../model/run-error.js';
import type { ToolResult } from '../tools/tool.js';
import type { Steps } from './record/steps.js';

/**
 * The delays between attempts of a model call. They have no random part, because a replay must report the same delays.
 */
const DELAYS: RetryDelays = { initialDelayMs: 500, maxDelayMs: 30_000, random: () => 1 };

/** A model call that runs as a step. */
export interface ModelCallStep {
  readonly run: Run;
  /** The name of the step, such as `model 2`, or `aside 1` for a call that a lifecycle makes outside the turns. */
  readonly name: string;
  readonly key: string;
  readonly maxAttempts: number;
  /** Returns the data that the step stores. */
  pack(response: ModelResponse): unknown;
  /** Returns the response from the data that the step has stored. */
  unpack(stored: unknown, isReplay: boolean): Awaitable<ModelResponse>;
}

/**
 * Runs a model call as a step. After a retryable ModelError, waits and repeats the call as another step, up to
 * `maxAttempts`.
 */
export async function modelStep(
  steps: Steps,
  { run, name, key: base, maxAttempts, pack, unpack }: ModelCallStep,
  { request, next }: { readonly request: ModelCallRequest; readonly next: ModelCallNext },
): Promise<ModelResponse> {
  for (let attempt = 1; ; attempt += 1) {
    const again = attempt === 1 ? '' : `, attempt ${attempt}`;
    const key = attempt === 1 ? base : `${base}:${attempt}`;
    let isReplay = true;
    const call = async () => {
      isReplay = false;
      return pack(await next());
    };
    try {
      const stored = await steps.perform({ name: `${name}${again}`, key, kind: 'model', run }, call);
      const response = await unpack(stored, isReplay);
      if (isReplay && !isAside(request)) run.turn?.skipShown(response);
      return response;
    } catch (error) {
      const delayMs =
        attempt < maxAttempts && run.end.abortError === undefined ? delayAfter(error, attempt) : undefined;
      if (delayMs === undefined) throw error;
      const news = { type: 'model-error', error, action: 'retry', model: request.model.id, delayMs } as const;
      report(request.run, news, `Attempt ${attempt + 1} follows in ${delayMs} ms: ${(error as Error).message}`);
      const wait = { name: `wait after ${name}${again}`, key: `${key}:wait`, kind: 'wait', run } as const;
      await steps.perform(wait, () => elapsed(run, delayMs));
    }
  }
}

/**
 * Runs a tool call as a step. If an inner hook suspends the call, the step stores the suspension instead of a result.
 */
export async function toolStep(
  steps: Steps,
  { run, key }: { readonly run: Run; readonly key: string },
  { call, next }: { readonly call: ToolCallRequest; readonly next: ToolCallNext },
): Promise<ToolResult> {
  const { id, name } = call;
  const outcome = await steps.perform({ name: `tool ${name} ${id}`, key, kind: 'tool', run }, () =>
    outcomeOf(run, id, next),
  );
  if (outcome.suspended === undefined) return outcome.result;
  const { reason, by, point } = outcome.suspended;
  run.end.calls?.suspend(id, { action: { type: 'suspend', reason, by }, by, point });
  throw run.end.own(new CallSuspendedError(reason));
}

/** The result of a tool call, or the reason why a hook has suspended the call. */
type ToolOutcome =
  | { readonly result: ToolResult; readonly suspended?: undefined }
  | { readonly suspended: { readonly reason: string; readonly by: string; readonly point: HookPoint | 'end' } };

async function outcomeOf(run: Run, id: string, next: ToolCallNext): Promise<ToolOutcome> {
  try {
    return { result: await next() };
  } catch (error) {
    const verdict = run.end.calls?.suspended.get(id);
    if (verdict?.action.type !== 'suspend') throw error;
    return { suspended: { reason: verdict.action.reason, by: verdict.by, point: verdict.point } };
  }
}

/** Returns the delay before the next attempt of a model call. Returns undefined if the error is not retryable. */
function delayAfter(error: unknown, attempt: number): number | undefined {
  return error instanceof ModelError && error.retryable ? retryDelayMs(error, attempt, DELAYS) : undefined;
}

/** Resolves after the delay. Rejects if the run is aborted before. */
async function elapsed({ context: { clock }, end }: Run, ms: number): Promise<null> {
  let timer: unknown;
  const passed = new Promise<null>((resolve) => {
    timer = clock.setTimeout(() => resolve(null), ms);
  });
  return end.stopper().race(passed, () => clock.clearTimeout(timer));
}
