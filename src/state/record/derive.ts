import type { Message } from '../../model/message.js';
import type { Entry } from './entry.js';
import { SessionRecord } from './session-record.js';

/**
 * Returns the messages of a record as people read them: the path to the latest entry, without summaries and other branches.
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * for (const message of messagesOf(session.entries)) console.log(message.role, textOf(message));
 */
export function messagesOf(entries: readonly Entry[]): readonly Message[] {
  return recordOf(entries).people.messages;
}

/**
 * Returns the messages that the model reads of a record: from the latest summary on, with a result for each call. Every
 * prefix of a record gives messages that every provider accepts.
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * const { length } = modelMessagesOf(session.entries);
 */
export function modelMessagesOf(entries: readonly Entry[]): readonly Message[] {
  return recordOf(entries).model.closed();
}

/** Builds the record of entries, without a store. */
export function recordOf(entries: readonly Entry[]): SessionRecord {
  const record = new SessionRecord();
  for (const entry of entries) record.add(entry);
  return record;
}
