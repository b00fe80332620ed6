import { cloneData, isSameData, sliceBytes } from '../../internal/plain-data.js';
import type { Message } from '../../model/message.js';

/** Maps each object inside a frozen copy of a message to the object that it was copied from. */
const originals = new WeakMap<object, object>();
/** The frozen copy of each message, which later callbacks, extensions and runs reuse. */
const kept = new WeakMap<Message, MessageView>();

interface MessageView {
  readonly view: Message;
  /** True if the message has bytes. Bytes cannot be frozen, so each callback gets its own copy of such a message. */
  readonly hasBytes: boolean;
}

/** A conversation, with the frozen copy of each message. */
export interface ConversationView {
  readonly messages: readonly Message[];
  readonly views: readonly MessageView[];
}

/** Makes the frozen copies of the messages. Reuses the copy of a message whose data has not changed. */
export function viewConversation(messages: readonly Message[]): ConversationView {
  return { messages, views: messages.map(viewOf) };
}

/** Returns the frozen messages for one callback. Bytes are copied when the callback reads them. */
export function viewForCallback({ messages, views }: ConversationView): readonly Message[] {
  return Object.freeze(
    views.map(({ view, hasBytes }, index) => (hasBytes ? makeView(messages[index] as Message, hideBytes) : view)),
  );
}

/** Returns true if a value is the frozen copy of the original message, or has equal data. */
export function isUnchanged(original: Message, value: Message): boolean {
  return isEqual(original, value) || isSameData(original, value, isEqual);
}

/** Returns the message that a frozen copy was made of, or undefined for any other message. */
export function originalOf(view: Message): Message | undefined {
  return originals.get(view) as Message | undefined;
}

/** Returns a deep copy of a message from a callback. Frozen parts of it become the original parts again. */
export function copyReturned(message: Message): Message {
  return cloneData(message, { replace: (value) => originals.get(value) });
}

function isEqual(original: object, value: object): boolean {
  return originals.get(value) === original;
}

function viewOf(message: Message): MessageView {
  const known = kept.get(message);
  if (known !== undefined && isCurrent(message, known)) return known;
  let hasBytes = false;
  const view = makeView(message, (part) => {
    hasBytes ||= Object.values(part).some((value) => value instanceof Uint8Array);
    Object.freeze(part);
  });
  const made = { view, hasBytes };
  kept.set(message, made);
  return made;
}

/** False if the host has changed the message in place since the last run. */
function isCurrent(message: Message, { view, hasBytes }: MessageView): boolean {
  if (typeof message.content === 'string') return message.content === view.content && message.role === view.role;
  return hasBytes || isSameData(message, view);
}

/** Copies a message without its bytes. `finish` is called for each copied object. */
function makeView(message: Message, finish: (part: object) => void): Message {
  const copies = new Map<object, object>();
  const view = cloneData(message, { copies, copyBytes: (bytes) => bytes });
  for (const [from, to] of copies) {
    originals.set(to, from);
    finish(to);
  }
  return view;
}

/** Replaces bytes by getters that copy them on the first access, and freezes the object. */
function hideBytes(part: object): void {
  for (const [key, bytes] of Object.entries(part)) {
    if (!(bytes instanceof Uint8Array)) continue;
    let copy: Uint8Array | undefined;
    const get = () => {
      copy ??= sliceBytes(bytes);
      return copy;
    };
    Object.defineProperty(part, key, { get, enumerable: true });
  }
  Object.freeze(part);
}
