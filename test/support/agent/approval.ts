import { type AgentLifecycle, HookAction, type Message, type ToolCallPart, type ToolResultPart } from 'keelson';

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
