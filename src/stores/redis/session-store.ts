import type { Message } from '../../model/message.js';
import { messageFromJson, messageToJson } from '../../state/message-json.js';
import type { SessionChange, SessionStore, StoredSession } from '../../state/session-store.js';
import { keyPrefixOf } from './client.js';
import { RedisConnection, textOf, textsOf } from './connection.js';
import { RedisDataError } from './error.js';
import { RedisKeys } from './keys.js';
import { type RedisSessionStoreOptions, resolveSessionStoreOptions } from './options.js';
import { deleteScript, loadScript, saveScript } from './session-script.js';

/**
 * Stores sessions in Redis 6 or newer, shared by all processes. Each save is one atomic script, and sends only new messages.
 * Rejects with a RedisUnavailableError if Redis does not answer within `timeoutMs`. Rejects with a RedisDataError if stored
 * data cannot be read.
 *
 * @example
 * const store = new RedisSessionStore({ client: await createClient({ url }).connect(), ttlMs: 7 * 24 * 3600 * 1000 });
 */
export class RedisSessionStore implements SessionStore {
  private readonly connection: RedisConnection;
  private readonly keys: RedisKeys;
  /** Milliseconds as a string for the scripts; 0 means that sessions never expire. */
  private readonly ttl: string;

  constructor(options: RedisSessionStoreOptions) {
    const settings = resolveSessionStoreOptions(options);
    this.connection = new RedisConnection(settings.client, settings.timeoutMs);
    this.keys = new RedisKeys(settings.prefix, keyPrefixOf(settings.client));
    this.ttl = Number.isFinite(settings.ttlMs) ? `${settings.ttlMs}` : '0';
  }

  async load(id: string): Promise<StoredSession | undefined> {
    const keys = this.keys.session(id);
    const reply = (await this.connection.begin()(loadScript, keys, [this.ttl])) as readonly unknown[] | null;
    if (reply === null) return undefined;
    const [revision, length, list] = reply;
    const messages = textsOf(list);
    if (messages.length !== Number(textOf(length))) throw messagesMissing(keys[1]);
    return { messages: messages.map((json, at) => readMessage(json, keys[1], at)), revision: Number(textOf(revision)) };
  }

  async save(id: string, { keep, append }: SessionChange, expected: number): Promise<number | undefined> {
    const keys = this.keys.session(id);
    const added = append.map((message, at) => writeMessage(message, keys[1], keep + at));
    const args = [this.ttl, `${expected}`, crypto.randomUUID(), `${keep}`, ...added];
    const revision = await this.connection.begin()(saveScript, keys, args);
    if (revision === null) return undefined;
    if (Number(revision) === 0) throw messagesMissing(keys[1]);
    return Number(revision);
  }

  async delete(id: string): Promise<void> {
    await this.connection.begin()(deleteScript, this.keys.session(id), []);
  }
}

function readMessage(json: string, key: string, at: number): Message {
  try {
    return messageFromJson(json);
  } catch (cause) {
    const shown = json.length > 60 ? `${json.slice(0, 60)}…` : json;
    throw new RedisDataError(
      key,
      `message ${at} must be a message as JSON, got ${shown}. Repair it, or delete the session.`,
      cause,
    );
  }
}

function writeMessage(message: Message, key: string, at: number): string {
  try {
    return messageToJson(message);
  } catch (cause) {
    throw new RedisDataError(
      key,
      `message ${at} cannot be written as JSON. Use only values that JSON supports.`,
      cause,
    );
  }
}

function messagesMissing(key: string): RedisDataError {
  return new RedisDataError(
    key,
    'the number of messages is wrong. Redis may have evicted keys; set `maxmemory-policy noeviction`.',
  );
}
