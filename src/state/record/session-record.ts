import { type Message, textOf, toolCallsOf } from '../../model/message.js';
import { isSummary } from '../../model/summary-message.js';
import { ANSWER, type Waiting, waitingIn } from '../../model/waiting.js';
import type { KnownRecord, StoredRecord } from '../session-store.js';
import { Decisions, type Suspension } from './decisions.js';
import { type Entry, followed, isOnPath, pathTo } from './entry.js';
import { MessageList } from './message-list.js';
import { NestedRuns, type OpenTurn } from './nested-runs.js';
import { Posts } from './posts.js';

/**
 * The entries of one conversation that this process has loaded. Derives the conversation as people read it, and the
 * messages that the model reads. Does not store anything.
 *
 * See docs/decisions/0183-a-conversation-is-a-record.md.
 */
export class SessionRecord {
  /**
   * Identifies the stored conversation. A conversation that is stored again after its deletion has another `uid`.
   * Undefined before the conversation is stored.
   */
  uid: string | undefined = undefined;
  /** The number of older entries that are stored but not loaded. */
  offset = 0;
  entries: Entry[] = [];
  /** The messages of the conversation as people read them, without summaries. */
  people = new MessageList();
  /** The messages that the model reads. A summary replaces older messages. */
  model = new MessageList(true);
  /**
   * The id of the latest entry of the current branch. The next entry gets it as its `parent`. Undefined at the start of
   * the conversation.
   */
  tip: string | undefined = undefined;
  /**
   * True if every entry that the model reads is loaded. False if another process went back to an entry that is older
   * than the loaded ones.
   */
  isWhole = true;
  /** The tool calls and answers that wait for a decision, and the decisions so far. */
  decisions = new Decisions();
  posts = new Posts();
  /** The runs inside tool calls of the conversation, such as runs of sub-agents, at every depth. */
  nested: NestedRuns<SessionRecord> = makeNested();
  /**
   * The index of each loaded entry, by the entry's id. Filled by `indexOf` on its first use, so that opening a record
   * does not take time for it.
   */
  private indexes = new Map<string, number>();

  /** The number of entries, including older entries that are not loaded. */
  get length(): number {
    return this.offset + this.entries.length;
  }

  /**
   * The position of the first entry that the next model call needs. A process can continue the conversation without the
   * entries before it.
   */
  get context(): number {
    const { messages } = this.model;
    // A summary is stored after the messages that the model still reads.
    const first = messages.findIndex((message) => !isSummary(message));
    const ids = messages.slice(0, first < 0 ? undefined : first + 1).flatMap((_, index) => this.model.idsAt(index));
    const { unhandled, works } = this.posts;
    const positions = [...ids, ...unhandled, ...(works?.keys() ?? [])]
      .map((id) => this.positionOf(id))
      .filter((position) => position >= this.offset);
    if (positions.length > 0) return Math.min(...positions);
    return this.tip === undefined ? this.length : this.positionOf(this.tip);
  }

  /** Returns the loaded entry with this id. */
  get(id: string): Entry | undefined {
    return this.entries[this.indexOf(id)];
  }

  /** Returns the position of a loaded entry in the whole record. */
  positionOf(id: string): number {
    return this.offset + this.indexOf(id);
  }

  /**
   * Adds entries that a store returned. Replaces all entries if the store has another conversation under this id. Keeps
   * entries that were added during the call to the store, because they are stored too.
   */
  take({ uid, offset, entries }: Pick<StoredRecord, 'uid' | 'offset' | 'entries'>): void {
    const { length } = this;
    const isSame = uid === this.uid;
    if (isSame && offset >= this.offset && offset <= length) {
      for (const entry of entries.slice(length - offset)) this.add(entry);
      return;
    }
    const later = isSame ? this.entries.slice(Math.max(0, offset + entries.length - this.offset)) : [];
    this.clear();
    this.uid = uid;
    this.offset = offset;
    for (const entry of [...entries, ...later]) this.add(entry);
  }

  /** Adds an entry at the end, and updates what is derived from the entries. */
  add(entry: Entry): void {
    const { parent, path } = entry;
    this.entries.push(entry);
    if (isOnPath(entry)) this.follow(entry);
    this.posts.add(entry);
    if (path !== undefined) return this.nested.add(entry);
    if (!this.decisions.add(entry)) return;
    for (const list of [this.people, this.model]) this.decisions.mark(list, parent ?? '');
  }

  /**
   * The tool calls of the latest turn that wait for a decision, or the answer that waits for one. Includes a call whose
   * nested run waits. Undefined if nothing waits.
   */
  get pending(): Suspension | undefined {
    const { openTurn } = this;
    const known = this.decisions.undecidedIn(this.model);
    // The calls of an earlier turn may also have waited.
    const latest = openTurn === undefined || known?.entry === openTurn.entry ? known : undefined;
    const open = latest === undefined ? [] : openIn(this.model, latest.entry);
    const calls = latest?.calls.filter(({ id }) => open.includes(id)) ?? [];
    const inside = openTurn?.open.filter(({ id }) => !calls.some((call) => call.id === id)) ?? [];
    const others = inside.flatMap(({ id }) => {
      const [waiting] = this.nested.inside(openTurn?.entry ?? '', id)?.record.pending?.calls ?? [];
      return waiting === undefined ? [] : [{ id, reason: waiting.reason, by: waiting.by }];
    });
    if (calls.length + others.length === 0) return undefined;
    const { entry, run } = latest ?? { entry: openTurn?.entry ?? '', run: this.get(openTurn?.entry ?? '')?.run };
    return { entry, run, calls: [...calls, ...others] };
  }

  /** The latest turn of the model, if one of its tool calls has no result. Otherwise undefined. */
  get openTurn(): OpenTurn | undefined {
    if (this.model.isClosed) return undefined;
    const at = this.model.messages.findLastIndex(hasCalls);
    const open = this.model.openAt(at);
    const [entry] = this.model.idsAt(at);
    return open.length === 0 || entry === undefined ? undefined : { entry, open };
  }

  /** Returns the loaded entries from the first one to the entry `tip`, found by following `parent` backwards. */
  pathTo(tip: string | undefined): readonly Entry[] {
    return pathTo(tip, (id) => this.get(id));
  }

  /** Returns the messages that the model would read if the conversation continued after the entry `tip`. */
  modelAt(tip: string | undefined): MessageList {
    const list = new MessageList(true);
    for (const entry of this.pathTo(tip)) list.add(entry);
    this.decisions.markAll(list);
    return list;
  }

  /** Removes all loaded entries. */
  clear(): void {
    this.uid = undefined;
    this.offset = 0;
    this.entries = [];
    this.indexes = new Map();
    this.decisions = new Decisions();
    this.posts = new Posts();
    this.nested = makeNested();
    this.derive(undefined);
  }

  /** Returns the index of a loaded entry, or -1. */
  private indexOf(id: string): number {
    const { entries, indexes } = this;
    for (let at = indexes.size; at < entries.length; at++) indexes.set((entries[at] as Entry).id, at);
    return indexes.get(id) ?? -1;
  }

  /** Makes this entry the latest one of the conversation. */
  private follow(entry: Entry): void {
    const next = followed(entry);
    if (entry.parent !== this.tip || entry.body.type === 'head') return this.derive(next);
    this.tip = next;
    this.people.add(entry);
    this.isWhole ||= isFirst(entry, this.people);
    this.model.add(entry);
  }

  private derive(tip: string | undefined): void {
    this.tip = tip;
    this.isWhole = tip === undefined;
    this.people = new MessageList();
    for (const entry of this.pathTo(tip)) {
      this.people.add(entry);
      this.isWhole ||= isFirst(entry, this.people);
    }
    this.decisions.markAll(this.people);
    this.model = this.modelAt(tip);
  }
}

/**
 * Returns every tool call that waits for a decision, including calls in nested runs, or the answer that waits for one.
 */
export function waitingOf({ openTurn, pending, model, nested }: SessionRecord): readonly Waiting[] {
  if (pending === undefined) return [];
  const { calls, entry } = pending;
  if (openTurn !== undefined) {
    const asked = openTurn.open.filter(({ id }) => calls.some((call) => call.id === id));
    return waitingIn(
      asked.map((call) => nested.withInside(entry, call)),
      calls,
    );
  }
  const answer = model.messages[model.indexOf(entry)];
  return [{ id: ANSWER, callers: [], call: undefined, text: answer ? textOf(answer) : '', question: calls[0] }];
}

/**
 * Returns a description of the known entries for a store, which then returns only newer entries. Undefined before the
 * conversation is stored.
 */
export function knownOf({ uid, length }: SessionRecord): KnownRecord | undefined {
  return uid === undefined ? undefined : { uid, length };
}

function makeNested(): NestedRuns<SessionRecord> {
  return new NestedRuns(recordInside);
}

/**
 * Creates the record of a nested run. `nested` holds the nested runs of the whole conversation, so both records share
 * it.
 */
export function recordInside(nested: NestedRuns<SessionRecord>): SessionRecord {
  const record = new SessionRecord();
  record.nested = nested;
  return record;
}

/** True if a loaded entry has this id, or if a loaded message was sent under this id. */
export function knows(record: SessionRecord, id: string): boolean {
  return record.get(id) !== undefined || record.posts.stateOf(id) !== undefined;
}

/**
 * True if the model reads nothing before this entry: it is the first entry, or a summary of all messages that are not
 * loaded.
 */
function isFirst({ parent, body }: Entry, people: MessageList): boolean {
  if (body.type !== 'summary') return parent === undefined;
  return body.from === undefined || people.indexOf(body.from) >= 0;
}

function hasCalls(message: Message): boolean {
  return toolCallsOf(message).length > 0;
}

/**
 * Returns the ids of an entry's tool calls that have no result, or the id `answer` if its answer is suspended. Returns
 * an empty array if the model has continued since.
 */
function openIn(list: MessageList, entry: string): readonly string[] {
  const at = list.indexOf(entry);
  const later = list.messages.slice(at + 1);
  const message = list.messages[at];
  if (message?.role !== 'assistant') return [];
  if (message.suspended) return later.some(({ role }) => role === 'assistant') ? [] : [ANSWER];
  return later.some(hasCalls) ? [] : list.openAt(at).map(({ id }) => id);
}

/** Builds a record from entries. */
export function recordOf(entries: readonly Entry[]): SessionRecord {
  const record = new SessionRecord();
  for (const entry of entries) record.add(entry);
  return record;
}
