import { HookResultInvalidError, MessageInvalidError } from '../errors.js';
import { checkMessages } from '../model/check-messages.js';
import type { Message } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';
import { wholeResponse } from '../model/whole-response.js';
import type { Tool } from '../tools/tool.js';
import { assertDistinct, isTool } from '../tools/tool-set.js';
import type { WaterfallPoint } from './waterfall.js';

const ENTRY_ACTIONS = ['continue', 'approve', 'reject', 'respond'] as const;
const AN_ACTION = `an action (${ENTRY_ACTIONS.join(', ')})`;

export const beforeAgentPoint: WaterfallPoint<string> = {
  name: 'beforeAgent',
  actions: ENTRY_ACTIONS,
  expected: `beforeAgent must return the input as a string, ${AN_ACTION}, or nothing`,
  call: ({ lifecycle }, input, run) => lifecycle.beforeAgent?.(input, run.context as never),
  isValue: (result) => typeof result === 'string',
  show: (input) => input,
};

/**
 * The hook point of a run without an input. Ignores a returned string, which would become a message that nobody wrote.
 */
export const noInputPoint: WaterfallPoint<string> = { ...beforeAgentPoint, takesNoValue: true };

export const beforeModelPoint: WaterfallPoint<readonly Message[]> = {
  name: 'beforeModel',
  actions: ENTRY_ACTIONS,
  expected: `beforeModel must return an array of messages, ${AN_ACTION}, or nothing`,
  // A hook may change the list in place, and `guard` undoes an invalid change.
  call: ({ lifecycle }, messages, run) => lifecycle.beforeModel?.(messages as Message[], run.context as never),
  isValue(result): result is readonly Message[] {
    if (!Array.isArray(result)) return false;
    assertComplete(result);
    return true;
  },
  show: (messages) => messages.length,
  guard(messages, copy) {
    if (copy === undefined) return messages.slice();
    if (hasSame(messages, copy)) return copy;
    try {
      assertComplete(messages);
    } catch (error) {
      const list = messages as Message[];
      list.length = 0;
      for (const message of copy) list.push(message);
      throw error;
    }
    return messages.slice();
  },
};

export const beforeToolSelectionPoint: WaterfallPoint<readonly Tool[]> = {
  name: 'beforeToolSelection',
  actions: ENTRY_ACTIONS,
  expected: `beforeToolSelection must return an array of tools, ${AN_ACTION}, or nothing`,
  call: ({ lifecycle }, tools, run) => lifecycle.beforeToolSelection?.(tools, run.context as never),
  isValue(result): result is readonly Tool[] {
    if (!Array.isArray(result)) return false;
    const wrong = result.findIndex((tool) => !isTool(tool));
    if (wrong >= 0) {
      const expected = `\`tools[${wrong}]\` of beforeToolSelection must be a tool made by \`defineTool\``;
      throw new HookResultInvalidError(expected, result[wrong]);
    }
    assertDistinct(result);
    return true;
  },
  show: (tools) => tools.map((tool) => tool.name),
};

export const afterModelPoint: WaterfallPoint<ModelResponse> = {
  name: 'afterModel',
  actions: [...ENTRY_ACTIONS, 'suspend', 'modify'],
  expected: 'afterModel must return a HookAction or nothing',
  call: ({ lifecycle }, response, run) => lifecycle.afterModel?.(response, run.context as never),
  isValue: (_result): _result is ModelResponse => false,
  show: (response) => response,
  guard(response, copy) {
    if (copy === undefined) return copyOf(response);
    if (isSameResponse(response, copy)) return copy;
    try {
      const { usage, finishReason } = wholeResponse(response, copy);
      Object.assign(response, { usage, finishReason });
    } catch (error) {
      Object.assign(response, copy);
      throw error;
    }
    return copyOf(response);
  },
};

export const afterAgentPoint: WaterfallPoint<string> = {
  name: 'afterAgent',
  actions: [],
  expected: 'afterAgent must return the result as a string, or nothing',
  call: ({ lifecycle }, result, run) => lifecycle.afterAgent?.(result, run.context as never),
  isValue: (result) => typeof result === 'string',
  show: (result) => result,
};

function assertComplete(messages: readonly Message[]): void {
  if (checkMessages(messages) === undefined) return;
  throw new MessageInvalidError('The messages end in tool calls without results: add a result for each call.');
}

function copyOf({ content, finishReason, usage, providerMetadata, annotations }: ModelResponse): ModelResponse {
  return { content: content.slice(), finishReason, usage, providerMetadata, annotations };
}

function isSameResponse(response: ModelResponse, copy: ModelResponse): boolean {
  return (
    response.finishReason === copy.finishReason &&
    response.usage === copy.usage &&
    response.providerMetadata === copy.providerMetadata &&
    response.annotations === copy.annotations &&
    hasSame(response.content, copy.content)
  );
}

function hasSame(list: readonly unknown[], copy: readonly unknown[]): boolean {
  if (list?.length !== copy.length) return false;
  for (let i = 0; i < list.length; i++) if (list[i] !== copy[i]) return false;
  return true;
}
