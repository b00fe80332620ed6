import type { StoredSession } from '../../agent/session/stored-session.js';
import { toJson } from '../../internal/json.js';
import type { UserMessage } from '../../model/message.js';
import type { Entry, MessageBody } from '../../state/record/entry.js';
import { knows, type SessionRecord } from '../../state/record/session-record.js';
import { UIMessageUnknownError } from '../error.js';
import { shownIn } from '../history/shown.js';
import type { UIRequest, UISentMessage } from '../request.js';

/** The input of a run, and its position in the conversation. */
export interface Place {
  /** An empty string if the run answers a message that is already stored. */
  readonly input: UserMessage | '';
  /** The id under which the input is stored. */
  readonly id?: string | undefined;
  /**
   * The entry after which the run starts a new branch. Null means before the first entry, and undefined means at the
   * end.
   */
  readonly at?: string | null | undefined;
}

type Sent = Extract<UIRequest, UISentMessage>;
type Regenerate = Extract<UIRequest, { readonly type: 'regenerate' }>;

/**
 * Decides where in the conversation a message of a page belongs. A new message is added at the end. If the latest
 * message is sent again, its run is continued. If an earlier message is sent again, it gets a new answer.
 *
 * A message whose text differs from the stored one is an edit: it starts a new branch before the stored message, with a
 * new id. Throws a UIMessageUnknownError or an EntryInvalidError if the session has no such message to regenerate or to
 * edit.
 */
export async function placeOf(session: StoredSession, read: Sent): Promise<Place> {
  const { id, message } = read;
  if (id === undefined) return { input: message };
  const versions = await versionsOf(session, read);
  if (read.type === 'regenerate') return regenerate(session, read, versions);
  const [first] = versions;
  if (first === undefined) return added(session.record, read);
  const same = versions.findLast((entry) => isSame(entry, message));
  if (same === undefined)
    return checked(session, { input: message, id: nextVersion(id, versions), at: first.parent ?? null });
  const isLatest = !read.edited && latestIds(session.record).includes(same.id);
  return isLatest ? { input: message, id: same.id } : checked(session, { input: '', at: same.id });
}

/**
 * Returns the stored versions of a page's message, oldest first: the message itself, and its edits.
 *
 * Loads the whole conversation if the versions may be stored before the loaded entries. This is not necessary for a
 * message that the page sent directly after the latest one, because it is new.
 */
async function versionsOf(session: StoredSession, { id = '', after }: Sent): Promise<readonly Entry[]> {
  const { record } = session;
  const find = () => record.entries.filter((entry) => isUser(entry) && idsOf(entry).some((one) => isVersion(one, id)));
  const versions = find();
  if (versions.length > 0 || record.offset === 0 || latestIds(record).includes(after)) return versions;
  await session.loadAll();
  return find();
}

/**
 * Returns the place of a message that the page sent as new: the end of the conversation. Throws a UIMessageUnknownError
 * if the session already has a message with this id, or if the page edits a message that does not follow the latest one.
 */
function added(record: SessionRecord, read: Sent): Place {
  const { id = '', message, after } = read;
  const isNew = read.type === 'message' && !read.edited;
  const isKnown = knows(record, id) && record.posts.stateOf(id)?.type !== 'waiting';
  if (isKnown || (!isNew && !isBehindLatest(record, after))) throw new UIMessageUnknownError();
  return { input: message, id };
}

/**
 * Places a run before an answer, so that a new branch gets another answer. The page names the answer. Without a name,
 * it is the answer to the last message of the page.
 */
function regenerate(session: StoredSession, read: Regenerate, versions: readonly Entry[]): Promise<Place> | Place {
  const { record } = session;
  const named = record.entries.find((entry) => isAssistant(entry) && entry.run === (read.answer ?? ''));
  const entry = named ?? record.get(read.answer ?? '');
  if (entry !== undefined) return checked(session, { input: '', at: isAssistant(entry) ? entry.parent : entry.id });
  const asked = versions.findLast((version) => isSame(version, read.message)) ?? versions.at(-1);
  if (asked === undefined) return added(record, read);
  return checked(session, { input: '', at: beforeAnswer(record, asked) });
}

/** Returns the id of the entry before the answer to a message: the message itself, or a summary after it. */
function beforeAnswer(record: SessionRecord, { id }: Entry): string {
  const path = record.pathTo(record.tip);
  const at = path.findIndex((entry) => entry.id === id);
  const answer = at < 0 ? undefined : path.slice(at + 1).find((entry) => isAssistant(entry) || isUser(entry));
  return (answer && isAssistant(answer) && answer.parent) || id;
}

/** Checks that a run may start at a position. Throws an EntryInvalidError if it may not. */
async function checked(session: StoredSession, place: Place): Promise<Place> {
  // Without an input, the run needs a message to answer.
  if (place.at === undefined) throw new UIMessageUnknownError();
  if (place.at !== null) await session.branchPoint(place.at);
  return place;
}

/** Returns the ids of the latest user message, and of the messages that were sent during its answer. */
function latestIds(record: SessionRecord): readonly (string | undefined)[] {
  const shown = shownIn(record);
  const latest = shown.slice(shown.findLastIndex(({ type }) => type === 'user'));
  const joined = latest.flatMap((item) => (item.type === 'answer' ? item.steps.flatMap((step) => step.joined) : []));
  const [first] = latest;
  return [...(first?.type === 'user' ? [first] : []), ...joined].flatMap(({ id, post = id }) => [id, post]);
}

function isBehindLatest(record: SessionRecord, after: string | undefined): boolean {
  const latest = latestIds(record);
  if (latest.length === 0) return record.offset === 0 && after === undefined;
  return after !== undefined && latest.some((id = '') => isVersion(id, after));
}

/**
 * Returns true for the id of a message and of its edits. The id of an edit is the id of the message, `~`, and a number.
 */
function isVersion(id: string, page: string): boolean {
  return id === page || (id.startsWith(`${page}~`) && /^\d+$/.test(id.slice(page.length + 1)));
}

function nextVersion(page: string, versions: readonly Entry[]): string {
  const numbers = versions.flatMap(idsOf).map((id) => (isVersion(id, page) ? Number(id.slice(page.length + 1)) : 0));
  return `${page}~${1 + Math.max(...numbers)}`;
}

/** Returns the ids by which a page may know a message: the id of its entry, and the id under which it was sent. */
function idsOf({ id, body }: Entry): readonly string[] {
  const { post } = body as MessageBody;
  return post === undefined ? [id] : [id, post];
}

function isUser({ body, path }: Entry): boolean {
  return path === undefined && body.type === 'message' && body.message.role === 'user';
}

function isAssistant({ body, path }: Entry): boolean {
  return path === undefined && body.type === 'message' && body.message.role === 'assistant';
}

function isSame({ body }: Entry, { content }: UserMessage): boolean {
  return body.type === 'message' && toJson(partsOf(body.message.content)) === toJson(partsOf(content));
}

function partsOf(content: string | readonly unknown[]): readonly unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
