import { isDeniedAnswer } from '../../model/denial.js';
import { type Message, textOf } from '../../model/message.js';

/**
 * Returns the messages that a page does not show: answers that a person denied, and the messages that told the model
 * about a denial.
 */
export function hiddenMessages(history: readonly Message[]): ReadonlySet<Message> {
  const hidden = new Set<Message>();
  let isDenied = false;
  for (const message of history) {
    if (message.role === 'assistant') {
      isDenied = message.denied === true;
      if (isDenied) hidden.add(message);
    } else if (isDenied && isDenial(message)) {
      isDenied = false;
      hidden.add(message);
    }
  }
  return hidden;
}

/** Returns the messages of a history that a page shows. */
export function shownMessages(history: readonly Message[]): readonly Message[] {
  const hidden = hiddenMessages(history);
  return hidden.size === 0 ? history : history.filter((message) => !hidden.has(message));
}

/** The run that resumed the answer wrote this message. */
function isDenial(message: Message): boolean {
  return message.role === 'user' && isDeniedAnswer(textOf(message));
}
