import { createHash } from 'node:crypto';
import type * as Keelson from '../../src/index.js';
import type * as Stores from '../../src/stores/store.js';

/** Entries in one append. */
const CHUNK = 1_000;
/** Messages that the model reads on each side of the summary. */
const READ = 4;
const TEXT = 'The train at 9:14 was late, so the meeting in the library began without us. '.repeat(2);

/** The form of a stored conversation. */
export interface ConversationForm {
  readonly length: number;
  /** True if a summary stands near the end, so that the model reads nine messages. */
  readonly isCompacted?: boolean;
  /** The number of entries in one append. Default: 1,000. */
  readonly chunk?: number | undefined;
}

/** Makes entries that follow the first `from` ones, as runs of a session write them. */
export function entriesOf(count: number, from: number): Keelson.Entry[] {
  return Array.from({ length: count }, (_, index) => {
    const at = from + index;
    const before = at > 0 ? { parent: idOf(at - 1) } : {};
    const body = { type: 'message', message: messageOf(at), turn: at % 2 } as const;
    return { id: idOf(at), ...before, at: 1_800_000_000_000 + at, run: runOf(at), agent: 'agent', body };
  });
}

/** Stores a conversation. Returns its id. */
export async function saveConversation(
  store: Stores.SessionStore,
  { length, isCompacted = false, chunk = CHUNK }: ConversationForm,
): Promise<string> {
  const id = crypto.randomUUID();
  const token = crypto.randomUUID();
  const entries = isCompacted ? compacted(entriesOf(length, 0)) : entriesOf(length, 0);
  const context = isCompacted ? length - 2 * READ - 1 : 0;
  await store.claim(id, { token, run: token, ttlMs: 600_000 });
  // Together, since a store may write the appends that wait at once.
  const appends: Keelson.Awaitable<unknown>[] = [];
  for (let at = 0; at < length; at += chunk)
    appends.push(store.append(id, { token, length: at, entries: entries.slice(at, at + chunk) }));
  await Promise.all(appends);
  await store.append(id, { token, length, entries: [], context, release: true });
  return id;
}

/** Puts a summary in the place of the fifth entry from the end. */
function compacted(entries: readonly Keelson.Entry[]): Keelson.Entry[] {
  const at = entries.length - READ - 1;
  const body = { type: 'summary', text: TEXT, from: idOf(at - READ), keep: [], shorten: [] } as const;
  return entries.with(at, { ...(entries[at] as Keelson.Entry), body });
}

function messageOf(at: number): Keelson.Message {
  const text = `${at}: ${TEXT}`;
  return at % 2 === 0 ? { role: 'user', content: text } : { role: 'assistant', content: [{ type: 'text', text }] };
}

function idOf(at: number): string {
  return `${runOf(at)}.${at % 2}`;
}

function runOf(at: number): string {
  return `run_${createHash('md5')
    .update(`${at >> 1}`)
    .digest('hex')}`;
}
