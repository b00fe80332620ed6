import { HookResultInvalidError } from '../../errors.js';
import type { JsonValue } from '../../internal/json.js';
import { isSameData } from '../../internal/plain-data.js';
import { type Message, textOf } from '../../model/message.js';
import { runCallback } from '../callbacks/callback.js';
import type { ExtensionContext } from '../context.js';
import type { AdditionCondition } from '../definition.js';
import { matchesTag, type Registration } from '../registration.js';
import type { ExtensionRun } from '../run.js';
import { pairTags } from '../tags/pairs.js';
import { scanTags } from '../tags/scanner.js';

/** A condition of one extension, and the conversation to evaluate it for. */
export interface ConditionCase {
  readonly registration: Registration;
  readonly condition: AdditionCondition;
  readonly messages: readonly Message[];
}

/**
 * Returns true if a condition is met. If the condition fails or does not return a boolean, logs it and returns false.
 */
export async function isMet(run: ExtensionRun, { registration, condition, messages }: ConditionCase): Promise<boolean> {
  const met = await runCallback(run, registration, {
    name: 'condition',
    call(context) {
      if (typeof condition === 'function') return condition.call(registration.source, context);
      if (condition.type === 'tag_present') return hasTag(run, condition.tag, messages);
      if (condition.type === 'state_value') return hasState(condition, context);
      return isMatch(valueAt(context.context, condition.path), condition.equals);
    },
    accept(returned) {
      if (typeof returned === 'boolean') return returned;
      throw new HookResultInvalidError('a condition returns a boolean', returned);
    },
  });
  return met === true;
}

async function hasState(
  { key, equals }: { readonly key: string; readonly equals?: JsonValue | undefined },
  context: ExtensionContext,
): Promise<boolean> {
  const value = await context.getState(key);
  return equals === undefined ? value !== undefined : isSameData(value, equals);
}

function isMatch(value: unknown, equals: JsonValue | undefined): boolean {
  return equals === undefined ? value !== undefined && value !== null : isSameData(value, equals);
}

/** Reads own properties only, since inherited properties are not data of the caller. */
function valueAt(context: unknown, path: string): unknown {
  let value = context;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

function hasTag({ handledTags }: ExtensionRun, tag: string, messages: readonly Message[]): boolean {
  return (
    [...handledTags].some((name) => matchesTag(tag, name)) ||
    messages.some((message) => [...tagsIn(message)].some((name) => matchesTag(tag, name)))
  );
}

const EVERY_TAG = { isWanted: () => true, isWantedInCode: () => false };

/** The tag names in each message. A message never changes, so it is scanned once. */
const tagsByMessage = new WeakMap<Message, ReadonlySet<string>>();

/** Returns the tag names in a user or assistant message. Tool results and instructions do not count. */
function tagsIn(message: Message): ReadonlySet<string> {
  const isConversation = message.role === 'user' || message.role === 'assistant';
  const found =
    tagsByMessage.get(message) ??
    new Set(isConversation ? pairTags(scanTags(textOf(message), EVERY_TAG)).map(({ name }) => name) : []);
  tagsByMessage.set(message, found);
  return found;
}
