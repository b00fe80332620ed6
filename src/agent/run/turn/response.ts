import { describeError, HookResultInvalidError } from '../../../errors.js';
import type { Ids } from '../../../internal/ids.js';
import type { Verdict } from '../../../lifecycle/hook-run/run-end.js';
import { type AssistantPart, type ToolCallPart, textOf } from '../../../model/message.js';
import type { FinishReason, ModelResponse } from '../../../model/model.js';
import { BETWEEN } from '../../../model/waiting.js';
import { wholeResponse } from '../../../model/whole-response.js';
import { errorResult } from '../../../tools/tool-result.js';
import type { Run } from '../run.js';
import { pendingIn } from './pending.js';
import type { PriorResults } from './tool-calls.js';

/** Checks a response that hooks may have changed. An invalid change cannot be undone, so it throws. */
export function intactResponse(
  run: Run,
  response: ModelResponse,
  point: 'wrapModelCall' | 'afterModel',
): ModelResponse {
  run.end.throwIfAborted();
  try {
    return wholeResponse(response);
  } catch (error) {
    const hooks = run.config.chain.entries.filter(({ lifecycle }) => lifecycle[point] !== undefined);
    const names = hooks.map(({ name }) => name).join('", "');
    const damage = `${point} of "${names}" must not make the response invalid in place (${describeError(error)})`;
    throw run.end.own(new HookResultInvalidError(damage, response));
  }
}

/**
 * Adds a response that a hook suspended to the conversation. The run ends suspended, and its calls or its answer are
 * `pending`.
 */
export function holdResponse(run: Run, content: readonly AssistantPart[], { action, by }: Verdict): void {
  const { conversation } = run;
  const calls = callsOf(content);
  const reason = 'reason' in action ? action.reason : '';
  if (calls !== undefined) {
    conversation.say({ role: 'assistant', content });
    run.pending = pendingIn(
      run,
      calls,
      calls.map(({ id }) => ({ id, reason, by })),
    );
  } else {
    conversation.say({ role: 'assistant', content, suspended: true });
    run.answer = textOf({ role: 'assistant', content });
    run.pending = [{ type: 'answer', id: 'answer', text: run.answer, reason, by }];
  }
  conversation.addQueued();
}

/** Returns the tool calls that Keelson has to run (not the provider), or undefined without such calls. */
export function callsOf(content: readonly AssistantPart[]): readonly ToolCallPart[] | undefined {
  let calls: ToolCallPart[] | undefined;
  for (const part of content) {
    if (part.type !== 'tool-call' || part.providerExecuted) continue;
    calls ??= [];
    calls.push(part);
  }
  return calls;
}

/** True if two calls have the same id, or if an id looks like the id of a nested call. */
export function haveUnclearIds(calls: readonly ToolCallPart[]): boolean {
  if (calls.some(({ id }) => id.includes(BETWEEN))) return true;
  return calls.length > 1 && new Set(calls.map(({ id }) => id)).size < calls.length;
}

/** Replaces each id that is not unique in the response, or that looks like the id of a nested call. */
export function withDistinctIds(content: readonly AssistantPart[], ids: Ids): readonly AssistantPart[] {
  const seen = new Set<string>();
  return content.map((part) => {
    if (part.type !== 'tool-call') return part;
    let id = seen.has(part.id) || part.id.includes(BETWEEN) ? ids.next('call') : part.id;
    while (seen.has(id)) id += '_';
    seen.add(id);
    return id === part.id ? part : { ...part, id };
  });
}

/** Refuses the last call of a response that was cut off, because its arguments may be incomplete. */
export function resultsOfCutOff(reason: FinishReason, calls: readonly ToolCallPart[]): PriorResults | undefined {
  if (reason !== 'length' && reason !== 'content-filter') return undefined;
  const last = calls.at(-1) as ToolCallPart;
  const text = `The call was not run: the response was cut off (${reason}) before the call was complete. Call again.`;
  return { results: new Map([[last.id, errorResult(text)]]) };
}
