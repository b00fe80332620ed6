import type { Message } from '../../model/message.js';
import { Decisions } from './decisions.js';
import { type Entry, followed, isOnPath, pathTo } from './entry.js';
import { MessageList } from './message-list.js';

/**
 * Returns the messages of a record as people read them: the path to the latest entry, without summaries and other branches.
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * for (const message of messagesOf(session.entries)) console.log(message.role, textOf(message));
 */
export function messagesOf(entries: readonly Entry[]): readonly Message[] {
  return derive(entries, new MessageList()).messages;
}

/**
 * Returns the messages of a record that the model reads: the latest summary and the messages after it, with a result
 * for each call.
 *
 * Every prefix of a record gives messages that all providers accept.
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * const { length } = modelMessagesOf(session.entries);
 */
export function modelMessagesOf(entries: readonly Entry[]): readonly Message[] {
  return derive(entries, new MessageList(true)).closed();
}

/** Adds the entries of the latest branch to a list. Does not load the code of sessions. */
function derive(entries: readonly Entry[], list: MessageList): MessageList {
  const known = new Map(entries.map((entry) => [entry.id, entry]));
  const head = entries.findLast(isOnPath);
  const decisions = new Decisions();
  for (const entry of entries) if (entry.path === undefined) decisions.add(entry);
  for (const entry of pathTo(head && followed(head), (id) => known.get(id))) list.add(entry);
  decisions.markAll(list);
  return list;
}
