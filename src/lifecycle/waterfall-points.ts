import { MessageInvalidError } from '../errors.js';
import { checkMessages } from '../model/check-messages.js';
import { checkResponse } from '../model/check-response.js';
import type { Message } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';
import type { Tool } from '../tools/tool.js';
import { assertDistinct, isTool } from '../tools/tool-set.js';
import type { WaterfallPoint } from './waterfall.js';

const ENTRY_ACTIONS = ['continue', 'approve', 'reject', 'respond'] as const;

export const beforeAgentPoint: WaterfallPoint<string> = {
  name: 'beforeAgent',
  actions: ENTRY_ACTIONS,
  expected: 'beforeAgent must return the input as a string, an action, or nothing',
  call: ({ lifecycle }, input, run) => lifecycle.beforeAgent?.(input, run.context as never),
  isValue: isString,
  show: (input) => input,
};

/** For a run without an input, such as a resumed run: a returned string would be a message that nobody wrote. */
export const noInputPoint: WaterfallPoint<string> = { ...beforeAgentPoint, takesNoValue: true };

export const beforeModelPoint: WaterfallPoint<readonly Message[]> = {
  name: 'beforeModel',
  actions: ENTRY_ACTIONS,
  expected: 'beforeModel must return an array of messages, an action, or nothing',
  call: ({ lifecycle }, messages, run) => lifecycle.beforeModel?.(messages, run.context as never),
  isValue(result): result is readonly Message[] {
    if (!Array.isArray(result)) return false;
    if (checkMessages(result) === undefined) return true;
    throw new MessageInvalidError('The messages end in tool calls without results.');
  },
  show: (messages) => messages.length,
  copy: (messages) => [...messages],
  repair(messages, copy) {
    if (messages.length === copy.length && messages.every((message, i) => message === copy[i])) return undefined;
    try {
      if (checkMessages(messages) === undefined) return undefined;
      throw new MessageInvalidError('The messages end in tool calls without results.');
    } catch (error) {
      const list = messages as Message[];
      list.length = 0;
      for (const message of copy) list.push(message);
      return error;
    }
  },
};

export const beforeToolSelectionPoint: WaterfallPoint<readonly Tool[]> = {
  name: 'beforeToolSelection',
  actions: ENTRY_ACTIONS,
  expected: 'beforeToolSelection must return an array of tools, an action, or nothing',
  call: ({ lifecycle }, tools, run) => lifecycle.beforeToolSelection?.(tools, run.context as never),
  isValue(result): result is readonly Tool[] {
    if (!Array.isArray(result) || !result.every(isTool)) return false;
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
  copy: (response) => ({ ...response, content: [...response.content] }),
  repair(response, copy) {
    try {
      checkResponse(response);
      return undefined;
    } catch (error) {
      Object.assign(response, copy);
      return error;
    }
  },
};

export const afterAgentPoint: WaterfallPoint<string> = {
  name: 'afterAgent',
  actions: [],
  expected: 'afterAgent must return the result as a string, or nothing',
  call: ({ lifecycle }, result, run) => lifecycle.afterAgent?.(result, run.context as never),
  isValue: isString,
  show: (result) => result,
};

function isString(result: unknown): result is string {
  return typeof result === 'string';
}
