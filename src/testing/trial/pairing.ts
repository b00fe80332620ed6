import { describeError } from '../../errors.js';
import { checkMessages } from '../../model/check-messages.js';
import { type Message, toolCallsOf } from '../../model/message.js';

/**
 * Returns a problem that would make a provider reject the conversation. Each tool call needs exactly one result and
 * each result a call, in the same order.
 *
 * Open tool calls at the end are allowed only if `mayWait` is true.
 */
export function pairingProblem(messages: readonly Message[], mayWait = false): string | undefined {
  try {
    const open = checkMessages(messages);
    if (open !== undefined && !mayWait) return `tool call "${open.open[0]?.id}" has no result`;
  } catch (error) {
    return describeError(error);
  }
  const index = messages.findIndex((message, at) => isOutOfOrder(message, messages[at - 1]));
  return index < 0 ? undefined : `message ${index} has its results in another order than the calls`;
}

function isOutOfOrder(message: Message, before: Message | undefined): boolean {
  if (message.role !== 'tool' || before === undefined) return false;
  const ids = toolCallsOf(before).map((call) => call.id);
  const places = message.content.map((result) => ids.indexOf(result.id));
  return places.some((place, at) => at > 0 && place < (places[at - 1] as number));
}
