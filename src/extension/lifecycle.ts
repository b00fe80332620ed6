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

/** Creates a registry's lifecycle with only the hooks that the extensions need; undefined if they need no hook. */
export function createLifecycle(
  extensions: readonly RegisteredExtension[],
  runOf: (run: RunContext) => ExtensionRun,
): AgentLifecycle | undefined {
  const need = (member: (extension: RegisteredExtension) => unknown) =>
    extensions.some((it) => member(it) !== undefined);
  const input = need(({ onInputMessages }) => onInputMessages);
  const output = need(({ onLlmOutput, onTag, onPlainText }) => onLlmOutput ?? onTag ?? onPlainText);
  const prompt = need(({ promptAdditions, toolConfig }) => promptAdditions[0] ?? toolConfig);
  const sorting = need(({ toolConfig }) => toolConfig?.preferredTools ?? toolConfig?.avoidedTools);
  if (!input && !prompt && !output) return undefined;
  const finish = (_value: unknown, run: RunContext) => runOf(run).finish();
  return {
    name: 'extensions',
    onFailure: 'continue',
    ...(input && { beforeModel: inputHook(runOf) }),
    ...(prompt && { wrapModelCall: promptHook(runOf) }),
    ...(sorting && { beforeToolSelection: (offered, run) => sortTools(runOf(run), offered) }),
    ...(output && { holdStream: true, afterModel: (response, run) => passOutput(runOf(run), response) }),
    // Only state needs to know that a run has ended.
    ...(extensions.some(mayUseState) && { afterAgent: finish, onError: finish }),
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
