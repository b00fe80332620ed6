import {
  Agent,
  type AgentLifecycle,
  type AgentOptions,
  defineTool,
  HookAction,
  type Message,
  type ToolCallPart,
  type ToolContext,
  type ToolOutput,
  type ToolResultPart,
} from 'keelson';
import { approval as readyMade } from 'keelson/lifecycles';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

/** A lifecycle that suspends the calls of these tools until they are approved. */
export function approval(...names: readonly string[]): AgentLifecycle {
  return {
    name: 'approval',
    wrapToolCall: (call, next) =>
      names.includes(call.name) && !call.approved ? HookAction.suspend(`may I call ${call.name}?`) : next(),
  };
}

/** An assistant message with a call of `echo` for each of these ids. */
export function callsOf(...ids: readonly string[]): Message {
  const content = ids.map((id): ToolCallPart => ({ type: 'tool-call', id, name: 'echo', input: { text: id } }));
  return { role: 'assistant', content };
}

/** A tool message with a result for each of these ids. */
export function resultsOf(...ids: readonly string[]): Message {
  const content = ids.map((id): ToolResultPart => ({ type: 'tool-result', id, name: 'echo', content: `old ${id}` }));
  return { role: 'tool', content };
}

export const asked: Message = { role: 'user', content: 'go' };

/** The function of the tool `pay` of a cashier. */
export type Pay = (input: { readonly euro: number }, context: ToolContext) => ToolOutput | Promise<ToolOutput>;

/** An agent that asks before each payment. Its schema checks in a promise, as one that looks something up. */
export function cashier(script: readonly ScriptEntry[], options: Partial<AgentOptions> & { readonly pay?: Pay } = {}) {
  const { pay = ({ euro }) => `paid ${euro}`, ...others } = options;
  const paid: unknown[] = [];
  const tool = defineTool({
    name: 'pay',
    description: 'Pays an amount.',
    input: z.object({ euro: z.number().refine(async (euro) => euro <= 100, 'must be at most 100') }),
    execute: (input, context) => {
      paid.push(input);
      return pay(input, context);
    },
  });
  const model = scriptedModel(script);
  const agent = new Agent({ model, tools: [tool], lifecycle: [readyMade({ tools: ['pay'] })], ...others });
  return { agent, model, paid };
}

/** A model that calls `pay` with 40 euro. */
export const PAY = calls('pay', { euro: 40 });

/** The tool calls of a conversation. */
export function callsIn(messages: readonly Message[]): readonly object[] {
  return messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.filter(({ type }) => type === 'tool-call') : [],
  );
}
