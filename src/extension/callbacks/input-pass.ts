import { HookResultInvalidError, MessageInvalidError } from '../../errors.js';
import { cloneData, isSameData } from '../../internal/plain-data.js';
import type { EntryAction } from '../../lifecycle/hook-action.js';
import { checkMessages } from '../../model/check-messages.js';
import type { Message } from '../../model/message.js';
import type { ExtensionRun } from '../run.js';
import { isShortCircuit, type ShortCircuit } from '../short-circuit.js';
import { runCallback } from './callback.js';
import { createContext } from './callback-context.js';

/** Passes the conversation through `onInputMessages` of each extension, once a run. */
export async function passInput(
  run: ExtensionRun,
  messages: readonly Message[],
): Promise<readonly Message[] | EntryAction> {
  let current = messages;
  for (const registration of run.registrations) {
    const { source, extension } = registration;
    const { onInputMessages } = extension;
    if (onInputMessages === undefined) continue;
    const originals = new Map(current.map((message) => [cloneData(message), message]));
    const result = await runCallback<readonly Message[] | ShortCircuit>(run, registration, {
      name: 'onInputMessages',
      call: (callback) => onInputMessages.call(source, [...originals.keys()], createContext(callback)),
      accept: (returned) => acceptMessages(returned, { originals, current }),
    });
    if (isShortCircuit(result)) return { type: 'respond', text: result.text, by: extension.id };
    current = result ?? current;
  }
  return current;
}

/** What a callback was given: copies of messages, each with the one that it is a copy of. */
interface Given {
  readonly originals: ReadonlyMap<Message, Message>;
  readonly current: readonly Message[];
}

function acceptMessages(returned: unknown, given: Given): readonly Message[] | ShortCircuit {
  if (returned === undefined) return given.current;
  if (isShortCircuit(returned)) return returned;
  if (!Array.isArray(returned)) {
    throw new HookResultInvalidError('onInputMessages returns an array of messages, or shortCircuit(text)', returned);
  }
  if (checkMessages(returned) === undefined) return adopt(returned, given);
  throw new MessageInvalidError('The messages end in tool calls without results.');
}

/** A message that is as it was stays the very same, so that a session need not store it anew; others are copied. */
function adopt(returned: readonly Message[], { originals, current }: Given): readonly Message[] {
  const adopted = returned.map((message) => {
    const original = originals.get(message);
    return original !== undefined && isSameData(original, message) ? original : cloneData(message);
  });
  const isSame = adopted.length === current.length && adopted.every((message, index) => message === current[index]);
  return isSame ? current : adopted;
}
