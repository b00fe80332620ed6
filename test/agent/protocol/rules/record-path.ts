import { type Entry, toolCallsOf } from 'keelson';

/** Remembers what was derived from a record. Records are not changed. */
function once<T>(derive: (entries: readonly Entry[]) => T): (entries: readonly Entry[]) => T {
  const derived = new WeakMap<readonly Entry[], { readonly of: number; readonly value: T }>();
  return (entries) => {
    const known = derived.get(entries);
    if (known?.of === entries.length) return known.value;
    const value = derive(entries);
    derived.set(entries, { of: entries.length, value });
    return value;
  };
}

/** Returns the entries from the first one to the head, and what was decided on them. Knows nothing of the library's way. */
export const pathOf = once((entries): readonly Entry[] => {
  const head = entries.findLast(({ body }) => ['message', 'summary', 'head'].includes(body.type));
  const onPath = new Set<string>();
  for (let at = head; at !== undefined; at = entries.find(({ id }) => id === at?.parent)) onPath.add(at.id);
  const isDecided = ({ body, parent }: Entry) =>
    (body.type === 'suspended' || body.type === 'decision') && onPath.has(parent ?? '');
  return entries.filter((entry) => onPath.has(entry.id) || isDecided(entry));
});

/** Returns the ids of the calls of the path that have no result. */
export const openCalls = once((entries): readonly string[] => {
  const messages = pathOf(entries).flatMap(({ body }) => (body.type === 'message' ? [body.message] : []));
  const given = new Set(messages.flatMap((one) => (one.role === 'tool' ? one.content.map(({ id }) => id) : [])));
  return messages.flatMap(toolCallsOf).flatMap(({ id }) => (given.has(id) ? [] : [id]));
});

/** Returns the open calls that the latest suspension names, without those that were decided on since. */
export const pendingCalls = once((entries): readonly string[] => {
  const path = pathOf(entries);
  const at = path.findLastIndex(({ body }) => body.type === 'suspended');
  const { body } = path[at] ?? {};
  if (body?.type !== 'suspended') return [];
  const open = openCalls(entries);
  const decided = path.slice(at).flatMap((entry) => (entry.body.type === 'decision' ? [entry.body.call] : []));
  return body.calls.map(({ id }) => id).filter((id) => open.includes(id) && !decided.includes(id));
});

/** Returns the calls of the path that were denied. */
export const deniedCalls = once((entries): readonly string[] => {
  return pathOf(entries).flatMap(({ body }) => {
    if (body.type !== 'decision' || typeof body.decision !== 'object') return [];
    return 'deny' in body.decision ? [body.call] : [];
  });
});

/** Returns the role of the latest message of the path. */
export function lastRole(entries: readonly Entry[]): string | undefined {
  const { body } = pathOf(entries).findLast((entry) => entry.body.type === 'message') ?? {};
  return body?.type === 'message' ? body.message.role : undefined;
}

/** Returns the ids of messages that were sent, and that neither joined nor were dropped nor are taken back. */
export const waitingMessages = once((entries): readonly string[] => {
  const settled = new Set(entries.flatMap(({ body }) => (body.type !== 'post' && 'post' in body ? [body.post] : [])));
  for (const { body } of entries) {
    if (body.type === 'post' && body.post.type === 'withdraw') settled.add(body.post.post);
  }
  const isMessage = ({ body }: Entry) => body.type === 'post' && body.post.type === 'message';
  return entries.flatMap((entry) => (isMessage(entry) && !settled.has(sentUnder(entry)) ? [sentUnder(entry)] : []));
});

/** Returns the id under which a post was sent. */
export function sentUnder({ id, body }: Entry): string {
  return (body.type === 'post' && body.post.type === 'message' && body.post.id) || id;
}

/** Returns the entry whose message was sent under an id, as the input of a run or as a post. */
export function saidUnder(entries: readonly Entry[], id: string): Entry | undefined {
  return entries.find((entry) => entry.body.type === 'message' && (entry.body.post ?? entry.id) === id);
}

/** Returns the runs that stops name. */
export function stoppedRuns(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap(({ body }) => (body.type === 'post' && body.post.type === 'stop' ? [body.post.run] : []));
}
