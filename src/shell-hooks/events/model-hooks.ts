import { describeError } from '../../errors.js';
import type { EntryAction, HookAction } from '../../lifecycle/hook-action.js';
import { isAside } from '../../lifecycle/hook-run/hook-run.js';
import type { ModelCallNext, ModelCallRequest } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { Message } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { Tool } from '../../tools/tool.js';
import { hookMessage } from '../hook/text.js';
import type { CallRecord } from '../run/input.js';
import {
  afterModelFields,
  answerOf,
  isFinal,
  joinLimits,
  limitTools,
  rewriteMessages,
  rewriteResponse,
  sentMessages,
} from '../run/model-fields.js';
import type { HookEventResult } from '../run/outcome.js';
import { rejectionOf } from './agent-hooks.js';
import type { HookParts, RunState } from './run-state.js';

/** Runs the `before_model` hooks. Their messages are added to this model request. */
export async function beforeModel(
  messages: readonly Message[],
  run: RunContext,
  parts: HookParts,
): Promise<EntryAction | undefined> {
  const state = parts.runs.of(run);
  const shown = (sent: readonly Message[]) => ({ messages: sent, model: run.model.id });
  const outcome = await parts.runner.runEvent({
    event: 'before_model',
    ...state.context,
    value: sentMessages(run, messages),
    describe: (sent) => ({ data: shown(sent), conversation: () => shown(sent) }),
    rewrite: rewriteMessages,
  });
  state.changes = outcome.model;
  return takeEntry(outcome, run, parts);
}

/** Runs the `after_tools` hooks, when all calls of a turn have their results. A cancellation ends the run. */
export async function afterTools(
  calls: readonly CallRecord[],
  run: RunContext,
  parts: HookParts,
): Promise<EntryAction | undefined> {
  const data = { tool_calls: calls.map(({ id, name, args }) => ({ id, name, args: args ?? null })) };
  const outcome = await parts.runner.runEvent({
    event: 'after_tools',
    ...parts.runs.of(run).context,
    value: undefined,
    describe: () => ({ data }),
  });
  return takeEntry(outcome, run, parts);
}

/** Runs the `before_tool_selection` hooks. Their messages are added to this model request. */
export async function beforeToolSelection(
  tools: readonly Tool[],
  run: RunContext,
  parts: HookParts,
): Promise<readonly Tool[] | EntryAction | undefined> {
  const state = parts.runs.of(run);
  const outcome = await parts.runner.runEvent({
    event: 'before_tool_selection',
    ...state.context,
    value: tools,
    describe: (left) => ({
      data: { available_tools: left.map(({ name }) => name) },
      conversation: () => ({ messages: sentMessages(run, run.messages), model: run.model.id }),
    }),
    rewrite: (left, effects) => (effects.tools && !effects.tools.joins ? limitTools(left, [effects.tools]) : left),
  });
  state.mustCallTool = outcome.tools.some(({ joins, mode }) => joins && mode === 'any');
  const left = joinLimits(outcome.value, outcome.tools, (name, hook) => parts.runner.namesOf(name, hook));
  return takeEntry(outcome, run, parts) ?? (left === tools ? undefined : left);
}

function takeEntry(outcome: HookEventResult, run: RunContext, parts: HookParts): EntryAction | undefined {
  const rejection = rejectionOf(outcome);
  if (rejection === undefined) {
    const state = parts.runs.of(run);
    state.texts = [...state.texts, ...outcome.modelTexts.map(({ hook, text }) => hookMessage(hook, text))];
  } else parts.pending.keep(run.session?.id, outcome.modelTexts);
  return rejection;
}

/** Sends the model request with the changes of the hooks. A retry sends the same changes again. */
export function callModel(request: ModelCallRequest, next: ModelCallNext, parts: HookParts): ReturnType<ModelCallNext> {
  if (isAside(request)) return next(request);
  const state = parts.runs.of(request.run);
  const { texts, changes, mustCallTool } = state;
  if (texts.length === 0 && changes.length === 0 && !mustCallTool) return next(request);
  const answer = changes.findLast(({ response }) => response !== undefined)?.response;
  if (answer !== undefined) return Promise.resolve(answerOf(answer([])));
  const changed = changeRequest(request, state, parts);
  const messages = texts.length === 0 ? changed.messages : [...changed.messages, ...texts];
  const isForced = mustCallTool && changed.tools.length > 0;
  const sent = { ...changed, messages };
  return next(isForced ? { ...sent, toolChoice: 'required' } : sent);
}

function changeRequest(request: ModelCallRequest, { changes }: RunState, { logger }: HookParts): ModelCallRequest {
  let changed = request;
  for (const { request: wanted } of changes) {
    if (wanted === undefined) continue;
    const { model, settings, change } = wanted;
    if (model !== undefined && model !== request.model.id) {
      logger.warn(
        `A hook asked for the model "${model}". Hooks cannot change the model: "${request.model.id}" answers.`,
      );
    }
    try {
      changed = { ...changed, messages: change(changed.messages), settings: { ...changed.settings, ...settings } };
    } catch (error) {
      logger.error(
        `The request changes of a hook were ignored, because the request cannot be sent: ${describeError(error)}`,
        error,
      );
    }
  }
  return changed;
}

/** Runs the `after_model` hooks. Returns the rewritten response, or the action that ends the run. */
export async function afterModel(
  response: ModelResponse,
  run: RunContext,
  parts: HookParts,
): Promise<ModelResponse | HookAction> {
  const outcome = await parts.runner.runEvent({
    event: 'after_model',
    ...parts.runs.of(run).context,
    value: response,
    describe: (value) => afterModelFields(run, value),
    rewrite: rewriteResponse,
  });
  const rejection = rejectionOf(outcome);
  // After a final response, the messages wait for the next run, to save a model call.
  if (rejection !== undefined || isFinal(outcome.value)) parts.pending.keep(run.session?.id, outcome.modelTexts);
  else for (const { hook, text } of outcome.modelTexts) run.add(hookMessage(hook, text));
  return rejection ?? outcome.value;
}
