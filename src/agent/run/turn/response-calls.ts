import type { Ids } from '../../../internal/ids.js';
import type { AssistantPart, ToolCallPart } from '../../../model/message.js';
import type { FinishReason } from '../../../model/model.js';
import { errorResult } from '../../../tools/tool-result.js';
import type { PriorResults } from './tool-calls.js';

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

/** Replaces each id that another tool call of the response has too. */
export function withDistinctIds(content: readonly AssistantPart[], ids: Ids): readonly AssistantPart[] {
  const seen = new Set<string>();
  return content.map((part) => {
    if (part.type !== 'tool-call') return part;
    let id = seen.has(part.id) ? ids.next('call') : part.id;
    while (seen.has(id)) id += '_';
    seen.add(id);
    return id === part.id ? part : { ...part, id };
  });
}

/** Refuses the last call of a response that was cut off, because its arguments may be incomplete. */
export function resultsOfCutOff(reason: FinishReason, calls: readonly ToolCallPart[]): PriorResults | undefined {
  if (reason !== 'length' && reason !== 'content-filter') return undefined;
  const last = calls.at(-1) as ToolCallPart;
  const text = `The call was not run: the response was cut off (${reason}) before it was whole. Call again.`;
  return { results: new Map([[last.id, errorResult(text)]]) };
}
