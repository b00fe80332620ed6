import { HookResultInvalidError, MessageInvalidError } from '../../errors.js';
import { cloneData, isSameData } from '../../internal/plain-data.js';
import type { EntryAction } from '../../lifecycle/hook-action.js';
import { checkMessages } from '../../model/check-messages.js';
import type { Message } from '../../model/message.js';
import type { ExtensionRun } from '../run.js';
import { isShortCircuit, type ShortCircuit } from '../short-circuit.js';
import { runCallback } from './callback.js';
import { createContext } from './callback-context.js';

/** Passes the conversation through `onInputMessages` of each extension. */
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

/** The input of a callback. Maps each copy to its original message. */
interface CallbackInput {
  readonly originals: ReadonlyMap<Message, Message>;
  readonly current: readonly Message[];
}

function acceptMessages(returned: unknown, input: CallbackInput): readonly Message[] | ShortCircuit {
  if (returned === undefined) return input.current;
  if (isShortCircuit(returned)) return returned;
  if (!Array.isArray(returned)) {
    throw new HookResultInvalidError('onInputMessages returns an array of messages, or shortCircuit(text)', returned);
  }
  if (checkMessages(returned) === undefined) return adopt(returned, input);
  throw new MessageInvalidError('The messages that `onInputMessages` returned must have a result for each tool call.');
}

/** Keeps the original of each unchanged message, so that a session does not store it again, and copies all others. */
function adopt(returned: readonly Message[], { originals, current }: CallbackInput): readonly Message[] {
  const adopted = returned.map((message) => {
    const original = originals.get(message);
    return original !== undefined && isSameData(original, message) ? original : cloneData(message);
  });
  const isSame = adopted.length === current.length && adopted.every((message, index) => message === current[index]);
  return isSame ? current : adopted;
}
