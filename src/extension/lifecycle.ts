import { isPromise } from '../internal/promise.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import { passInput } from './callbacks/input-pass.js';
import { passOutput } from './callbacks/output-pass.js';
import type { RegisteredExtension } from './definition.js';
import { assemblePrompt } from './prompt/prompt-assembly.js';
import { sortTools } from './prompt/tool-guidance.js';
import { mayUseState } from './registration.js';
import type { ExtensionRun } from './run.js';

/** The points of a run that the extensions of a registry need. */
export interface Points {
  readonly input: boolean;
  readonly prompt: boolean;
  readonly tools: boolean;
  readonly output: boolean;
  /** Whether anything may use state, so that the run's end matters. */
  readonly end: boolean;
}

/** What these extensions need, and nothing else. */
export function pointsOf(extensions: readonly RegisteredExtension[]): Points {
  const input = extensions.some(({ onInputMessages }) => onInputMessages !== undefined);
  const output = extensions.some(
    ({ onLlmOutput, onTag, onPlainText }) => (onLlmOutput ?? onTag ?? onPlainText) !== undefined,
  );
  const prompt = extensions.some(
    ({ promptAdditions, toolConfig }) => promptAdditions.length > 0 || toolConfig !== undefined,
  );
  const tools = extensions.some(
    ({ toolConfig }) => (toolConfig?.preferredTools ?? toolConfig?.avoidedTools) !== undefined,
  );
  return { input, prompt, tools, output, end: extensions.some(mayUseState) };
}

/** The one lifecycle of a registry, with the hooks that it needs; undefined where it needs none. */
export function createLifecycle(
  { input, prompt, tools, output, end }: Points,
  runOf: (run: RunContext) => ExtensionRun,
): AgentLifecycle | undefined {
  if (!input && !prompt && !output) return undefined;
  const finish = (_value: unknown, run: RunContext) => runOf(run).finish();
  return {
    name: 'extensions',
    onFailure: 'continue',
    ...(input && { beforeModel: inputHook(runOf) }),
    ...(prompt && { wrapModelCall: promptHook(runOf) }),
    ...(tools && { beforeToolSelection: (offered, run) => sortTools(runOf(run), offered) }),
    ...(output && { holdStream: true, afterModel: (response, run) => passOutput(runOf(run), response) }),
    ...(end && { afterAgent: finish, onError: finish }),
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
    const assembled = assemblePrompt(runOf(request.run), request);
    return isPromise(assembled) ? assembled.then(next) : next(assembled);
  };
}
