import { HookResultInvalidError, MessageInvalidError } from '../../errors.js';
import type { EntryAction } from '../../lifecycle/hook-action.js';
import { checkMessages } from '../../model/check-messages.js';
import type { Message } from '../../model/message.js';
import type { Registration } from '../registration.js';
import type { ExtensionRun } from '../run.js';
import { isShortCircuit, type ShortCircuit } from '../short-circuit.js';
import { type CallbackCall, runCallback } from './callback.js';
import {
  type ConversationView,
  copyReturned,
  isUnchanged,
  originalOf,
  viewConversation,
  viewForCallback,
} from './message-view.js';

type Input = readonly Message[] | ShortCircuit;

/** Passes the conversation through `onInputMessages` of each extension. */
export async function passInput(
  run: ExtensionRun,
  messages: readonly Message[],
): Promise<readonly Message[] | EntryAction> {
  let conversation = viewConversation(messages);
  for (const registration of run.plan.input) {
    const result = await callOne(run, registration, conversation);
    if (isShortCircuit(result)) return { type: 'respond', text: result.text, by: registration.extension.id };
    if (result !== undefined && result !== conversation.messages) conversation = viewConversation(result);
  }
  return conversation.messages;
}

function callOne(
  run: ExtensionRun,
  registration: Registration,
  conversation: ConversationView,
): Promise<Input | undefined> {
  const { messages } = conversation;
  const view = viewForCallback(conversation);
  const { source, extension } = registration;
  const call: CallbackCall<Input> = {
    name: 'onInputMessages',
    call: (context) => extension.onInputMessages?.call(source, view, context),
    accept: (returned) => (returned === undefined || returned === view ? messages : acceptMessages(returned, messages)),
  };
  return runCallback(run, registration, call);
}

function acceptMessages(returned: unknown, messages: readonly Message[]): Input {
  if (isShortCircuit(returned)) return returned;
  if (!Array.isArray(returned)) {
    throw new HookResultInvalidError('onInputMessages returns an array of messages, or shortCircuit(text)', returned);
  }
  if (checkMessages(returned) === undefined) return adopt(returned, messages);
  throw new MessageInvalidError('The messages that `onInputMessages` returned must have a result for each tool call.');
}

/**
 * Returns the messages of a callback, with the original of each unchanged message, by which the agent recognizes it.
 * Copies all others.
 *
 * A message that is not a frozen copy is compared with up to three originals. These are the one after the last match,
 * and the two at its position from the start and from the end.
 */
function adopt(returned: readonly Message[], current: readonly Message[]): readonly Message[] {
  const shift = current.length - returned.length;
  let next = 0;
  const adopted = returned.map((message, index) => {
    const original = originalOf(message);
    if (original !== undefined) {
      if (original === current[next]) next += 1;
      return original;
    }
    const at = [next, index + shift, index].find((position) => isSame(current[position], message));
    next = (at ?? next) + 1;
    return at === undefined ? copyReturned(message) : (current[at] as Message);
  });
  const isWhole = shift === 0 && adopted.every((message, index) => message === current[index]);
  return isWhole ? current : adopted;
}

function isSame(original: Message | undefined, message: Message): boolean {
  return original !== undefined && isUnchanged(original, message);
}
