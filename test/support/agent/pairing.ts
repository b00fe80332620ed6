import { type Message, toolCallsOf } from 'keelson';

/**
 * Returns why a provider would refuse the messages. Each tool call needs exactly one result, directly after the calls and
 * in their order. Calls at the end may be open if `mayWait` is true.
 */
export function pairingProblem(messages: readonly Message[], mayWait = false): string | undefined {
  let open: readonly string[] = [];
  let answerable = false;
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const ids = message.content.map(({ id }) => id);
      const expected = open.filter((id) => ids.includes(id));
      if (!answerable || expected.join() !== ids.join()) return `message ${index} has the results ${ids} for ${open}`;
      open = open.filter((id) => !ids.includes(id));
      continue;
    }
    const calls = toolCallsOf(message).map(({ id }) => id);
    if (calls.length > 0 && open.length > 0) return `message ${index} has calls while ${open} are open`;
    if (calls.length > 0) open = calls;
    answerable = calls.length > 0;
  }
  return open.length === 0 || mayWait ? undefined : `${open} have no result`;
}
