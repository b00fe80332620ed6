import type { DurableEngine } from '../../lifecycle/hook-run/hook-run.js';
import type { UserMessage } from '../../model/message.js';
import { type Entry, isOnPath } from '../../state/record/entry.js';
import { MessageList } from '../../state/record/message-list.js';
import { knownOf, knows, SessionRecord } from '../../state/record/session-record.js';
import type { RecordQuery, SessionStore } from '../../state/session-store.js';
import type { Tool } from '../../tools/tool.js';
import type { AgentDefaults, AnyRunOptions, SessionOptions } from '../agent-options.js';
import type { Attached } from '../run/run.js';
import type { RunResult } from '../run-result.js';
import { EntryInvalidError, SessionStoreError } from './session-error.js';

/** The members of an agent that the runs of a session use. */
export interface SessionAgent {
  readonly defaults: AgentDefaults;
  /** Set if a durable engine may repeat the runs of the agent. */
  readonly durable: DurableEngine | undefined;
  launch(input: string | UserMessage, options: AnyRunOptions, attached: Attached): Promise<RunResult<unknown>>;
  /** Returns the current tool with this name. */
  findTool(name: string): Tool | undefined;
}

/**
 * Returns the entry id of a sent message. It differs from the id of the message, because a run may add the same message
 * under the message id itself.
 */
export function postEntryId(id: string): string {
  return `${id}:post`;
}

/** A stored conversation, and the entries that were loaded from it. */
export class StoredSession {
  readonly id: string;
  readonly store: SessionStore;
  readonly record = new SessionRecord();
  /**
   * Resolves when the last run has released its claim. An aborted run ends before that, so the next run waits for this
   * promise.
   */
  ending: Promise<unknown> = Promise.resolve();
  /** The position of each entry that `page` has returned, by id. */
  private readonly positions = new Map<string, number>();

  constructor(
    readonly agent: SessionAgent,
    readonly options: SessionOptions,
  ) {
    this.id = options.id ?? agent.defaults.ids.next('session');
    this.store = options.store ?? agent.defaults.store;
  }

  /** Loads the new entries. At the first call, loads the entries that the model reads. */
  async load(query: RecordQuery = { from: 'context' }): Promise<void> {
    const { record } = this;
    const known = knownOf(record);
    try {
      const stored = await this.store.load(this.id, { known, ...query });
      if (stored === undefined) record.clear();
      else record.take(stored);
      if (!record.isWhole) await this.loadAll();
    } catch (error) {
      throw new SessionStoreError(this.id, 'loaded', error);
    }
  }

  /** Returns the id of the active run of the conversation, in any process. */
  async running(): Promise<string | undefined> {
    const holder = (await this.store.load(this.id, { limit: 0 }))?.holder;
    return holder !== undefined && holder.until > this.agent.defaults.clock.now() ? holder.run : undefined;
  }

  /** Loads all entries of the conversation. */
  async loadAll(): Promise<void> {
    if (this.record.offset > 0) await this.load({ known: undefined });
  }

  /** Loads all entries if an entry that is not loaded has this id, or stores a message that was sent with this id. */
  async loadIfStored(id: string): Promise<void> {
    const { record } = this;
    if (record.offset === 0 || knows(record, id)) return;
    if ((await this.isStored(id)) || (await this.isStored(postEntryId(id)))) await this.loadAll();
  }

  private async isStored(id: string): Promise<boolean> {
    const { record, store } = this;
    // An append without the claim adds nothing, but its answer says which entries are stored.
    const entries = [{ id, at: 0, body: { type: 'head' } }] as const;
    try {
      const { stored } = await store.append(this.id, { token: crypto.randomUUID(), length: record.length, entries });
      return stored;
    } catch (error) {
      throw new SessionStoreError(this.id, 'loaded', error);
    }
  }

  /** Returns the last entries before an entry, or before the end. */
  async page(before: string | undefined, limit: number): Promise<readonly Entry[]> {
    const { record, positions } = this;
    const end = before === undefined ? record.length : (positions.get(before) ?? (await this.positionOf(before)));
    const first = end - limit - record.offset;
    if (first >= 0) return record.entries.slice(first, first + limit);
    const page = await this.store.load(this.id, { before: end, limit });
    for (const [at, { id }] of (page?.entries ?? []).entries()) positions.set(id, (page?.offset ?? 0) + at);
    return page?.entries ?? [];
  }

  /**
   * Returns the entry with this id, and loads it if necessary. Throws an EntryInvalidError if the conversation has no
   * such entry.
   */
  async find(id: string): Promise<Entry> {
    if (this.record.get(id) === undefined) await this.load();
    if (this.record.get(id) === undefined) await this.loadAll();
    const entry = this.record.get(id);
    if (entry === undefined) throw new EntryInvalidError(this.id, id, 'is unknown');
    return entry;
  }

  private async positionOf(id: string): Promise<number> {
    await this.find(id);
    return this.record.positionOf(id);
  }

  /**
   * Checks that a run may begin after an entry: a message or a summary that is not between tool calls and their
   * results.
   */
  async branchPoint(id: string): Promise<void> {
    const entry = await this.find(id);
    const list = new MessageList();
    for (const one of this.record.pathTo(id)) list.add(one);
    if (isOnPath(entry) && list.isClosed) return;
    throw new EntryInvalidError(this.id, id, 'lies between tool calls and their results');
  }
}
