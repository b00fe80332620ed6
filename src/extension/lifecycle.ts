import type { JsonValue } from '../internal/json.js';
import { isAside, KEPT_STATE, type KeptState } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import { passInput } from './callbacks/input-pass.js';
import { passOutput } from './callbacks/output-pass.js';
import { streamGate } from './callbacks/stream-gate.js';
import type { CallbackPlan } from './plan.js';
import { assemblePrompt } from './prompt/prompt-assembly.js';
import { checkLazyNames, sortTools } from './prompt/tool-guidance.js';
import { mayHaveState, mayUseState } from './registration.js';
import type { ExtensionRun } from './run.js';
import type { StateWrite } from './state/store-calls.js';

/** Creates a registry's lifecycle with only the hooks that the extensions need; undefined if they need no hook. */
export function createLifecycle(
  { registrations, input, output, plain, handlers, additions, guidance }: CallbackPlan,
  runOf: (run: RunContext) => ExtensionRun,
  onFailure: 'continue' | 'throw',
): AgentLifecycle | undefined {
  const hasOutput = output.length + plain.length + handlers.length > 0;
  const hasPrompt = additions.length + guidance.length > 0;
  const isSorting = guidance.some(
    ({ extension: { toolConfig } }) => toolConfig?.preferredTools ?? toolConfig?.avoidedTools,
  );
  if (input.length === 0 && !hasOutput && !hasPrompt) return undefined;
  // Only extensions with state need the hooks for the end of a run.
  const mustEnd = registrations.some(mayUseState);
  const state: KeptState = {
    take: (run) => runOf(run).takeWrites() as JsonValue | undefined,
    restore: (run, writes) => runOf(run).repeat(writes as unknown as readonly StateWrite[]),
  };
  return {
    ...(registrations.some(mayHaveState) && { [KEPT_STATE]: state }),
    name: 'extensions',
    onFailure,
    beforeModel: input.length > 0 ? inputHook(runOf) : undefined,
    wrapModelCall: hasPrompt ? promptHook(runOf) : undefined,
    beforeToolSelection: isSorting ? (offered, run) => sortTools(runOf(run), offered) : undefined,
    holdStream: hasOutput ? (run) => streamGate(runOf(run).plan) : undefined,
    afterModel: hasOutput ? (response, run) => passOutput(runOf(run), response) : undefined,
    afterAgent: mustEnd ? (_answer, run) => runOf(run).finish(true) : undefined,
    onError: mustEnd ? (_error, run) => runOf(run).finish(false) : undefined,
  };
}

function inputHook(runOf: (run: RunContext) => ExtensionRun): NonNullable<AgentLifecycle['beforeModel']> {
  return (messages, context) => {
    const run = runOf(context);
    if (run.begun) return undefined;
    run.begun = true;
    return passInput(run, messages);
  };
}

function promptHook(runOf: (run: RunContext) => ExtensionRun): NonNullable<AgentLifecycle['wrapModelCall']> {
  return (request, next) => {
    if (isAside(request)) return next(request);
    const run = runOf(request.run);
    checkLazyNames(run);
    return assemblePrompt(run, request).then(next);
  };
}
