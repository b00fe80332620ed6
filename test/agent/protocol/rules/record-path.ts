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
  const own = entries.filter(({ path }) => path === undefined);
  const head = own.findLast(({ body }) => ['message', 'summary', 'head'].includes(body.type));
  const onPath = new Set<string>();
  for (let at = head; at !== undefined; at = own.find(({ id }) => id === at?.parent)) onPath.add(at.id);
  const isDecided = ({ body, parent }: Entry) =>
    (body.type === 'suspended' || body.type === 'decision') && onPath.has(parent ?? '');
  return own.filter((entry) => onPath.has(entry.id) || isDecided(entry));
});

/** Returns the entries of the latest run inside of a call, as if they were a conversation of their own. */
export function entriesInside(entries: readonly Entry[], call: string): readonly Entry[] {
  const run = entries.findLast(({ path }) => path?.at(-1) === call)?.run;
  const own = entries.filter((entry) => entry.run === run && run !== undefined);
  const isFirst = ({ parent }: Entry) => !own.some(({ id }) => id === parent);
  return own.map(({ path: _path, ...entry }) => (isFirst(entry) ? { ...entry, parent: undefined } : entry));
}

/** Returns the ids of the calls that have no result. For a call with a run inside that waits: what waits there. */
export const openCalls = once((entries): readonly string[] => {
  return openOn(pathOf(entries)).flatMap((id) => {
    const waiting = waitingInside(entries, id);
    return waiting.length > 0 ? waiting : [id];
  });
});

/** Returns the open calls that the latest suspension names, without those that were decided on since, at every depth. */
export const pendingCalls = once((entries): readonly string[] => {
  const named = namedOn(pathOf(entries));
  return openOn(pathOf(entries)).flatMap((id) => {
    const waiting = waitingInside(entries, id);
    return waiting.length > 0 ? waiting : named.filter((one) => one === id);
  });
});

/** Returns the calls that were denied, at every depth. */
export const deniedCalls = once((entries): readonly string[] => {
  const inside = pathOf(entries).flatMap(({ body }) =>
    body.type !== 'message'
      ? []
      : toolCallsOf(body.message).flatMap(({ id }) =>
          deniedOn(entriesInside(entries, id)).map((one) => `${id}/${one}`),
        ),
  );
  return [...deniedOn(pathOf(entries)), ...inside];
});

/** Returns the calls that were denied and have no result, also inside of open calls. */
export const deniedOpenCalls = once((entries): readonly string[] => {
  const path = pathOf(entries);
  const paths = [path, ...openOn(path).map((id) => entriesInside(entries, id))];
  return paths.flatMap((one) => deniedOn(one).filter((id) => openOn(one).includes(id)));
});

/** Returns the id that the model gave to a call, which may be inside of others. */
export function ownId(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

function waitingInside(entries: readonly Entry[], call: string): readonly string[] {
  return namedOn(entriesInside(entries, call)).map((id) => `${call}/${id}`);
}

function openOn(path: readonly Entry[]): readonly string[] {
  const messages = path.flatMap(({ body }) => (body.type === 'message' ? [body.message] : []));
  const given = new Set(messages.flatMap((one) => (one.role === 'tool' ? one.content.map(({ id }) => id) : [])));
  return messages.flatMap(toolCallsOf).flatMap(({ id }) => (given.has(id) ? [] : [id]));
}

function namedOn(path: readonly Entry[]): readonly string[] {
  const at = path.findLastIndex(({ body }) => body.type === 'suspended');
  const { body } = path[at] ?? {};
  if (body?.type !== 'suspended') return [];
  const open = openOn(path);
  const decided = path.slice(at).flatMap((entry) => (entry.body.type === 'decision' ? [entry.body.call] : []));
  return body.calls.map(({ id }) => id).filter((id) => open.includes(id) && !decided.includes(id));
}

function deniedOn(path: readonly Entry[]): readonly string[] {
  return path.flatMap(({ body }) => {
    if (body.type !== 'decision' || typeof body.decision !== 'object') return [];
    return 'deny' in body.decision ? [body.call] : [];
  });
}

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
