import type { Entry } from 'keelson';
import type { AppendAnswer, SessionDetails, SessionStore, StoredRecord } from 'keelson/store';

/** Makes an entry with a message of the person. The id is the text. */
export function said(text: string): Entry {
  return { id: text, at: 1, body: { type: 'message', message: { role: 'user', content: text } } };
}

/** The members of an append other than its entries. */
interface Additions {
  readonly details?: SessionDetails;
  readonly context?: number;
}

/** Claims a session, adds one entry for each text, and releases the session. */
export async function addTexts(
  store: SessionStore,
  id: string,
  { texts, details, context }: Additions & { readonly texts: readonly string[] },
): Promise<AppendAnswer | undefined> {
  const claim = await store.claim(id, { token: 'once', run: 'once', ttlMs: 60_000, details });
  if (!claim.claimed) return undefined;
  return store.append(id, { token: 'once', length: claim.length, entries: texts.map(said), context, release: true });
}

/** Returns the texts of the messages in a record. */
export function textsOf(record: StoredRecord | undefined): string[] {
  return (record?.entries ?? []).map(({ body }) =>
    body.type === 'message' ? String(body.message.content) : body.type,
  );
}
