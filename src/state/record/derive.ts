import type { Message } from '../../model/message.js';
import { Decisions } from './decisions.js';
import { type Entry, followed, isOnPath, pathTo } from './entry.js';
import { MessageList } from './message-list.js';

/**
 * Returns the whole conversation for people to read: its messages from the first one to the latest one. Leaves out
 * summaries, and messages on branches that the conversation has left.
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * for (const message of messagesOf(session.entries)) console.log(message.role, textOf(message));
 */
export function messagesOf(entries: readonly Entry[]): readonly Message[] {
  return derive(entries, new MessageList()).messages;
}

/**
 * Returns the messages that the model reads: the latest summary and the messages after it. Adds an error result for
 * each tool call without a result, because providers require one.
 *
 * Also works for any first part of a record. The messages are then valid for every provider too.
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * const { length } = modelMessagesOf(session.entries);
 */
export function modelMessagesOf(entries: readonly Entry[]): readonly Message[] {
  return derive(entries, new MessageList(true)).closed();
}

/**
 * Adds the entries from the first one to the latest one of the current branch to a list. Does without a
 * `SessionRecord`, so that importing this module does not load the code of sessions.
 */
function derive(entries: readonly Entry[], list: MessageList): MessageList {
  const known = new Map(entries.map((entry) => [entry.id, entry]));
  const head = entries.findLast(isOnPath);
  const decisions = new Decisions();
  for (const entry of entries) if (entry.path === undefined) decisions.add(entry);
  for (const entry of pathTo(head && followed(head), (id) => known.get(id))) list.add(entry);
  decisions.markAll(list);
  return list;
}
