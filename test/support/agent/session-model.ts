import { type Entry, type Message, toolCallsOf } from 'keelson';

/** One stored message. A result is `ran`, or `error` for an error result of any text. */
export interface Row {
  readonly role: Message['role'];
  readonly text: string;
  readonly calls: readonly string[];
  readonly results: Readonly<Record<string, string>>;
  readonly mark: '' | 'stopped' | 'suspended' | 'denied';
}

/** A step of a history. Each one adds the texts and the calls that it names. */
export type Step =
  | { readonly type: 'ask' | 'fail' | 'suspend-answer' | 'discard'; readonly text: string }
  | { readonly type: 'stop'; readonly text: string; readonly shown: string }
  | {
      readonly type: 'tools' | 'stop-tools' | 'fail-later' | 'suspend' | 'crash' | 'compact';
      readonly text: string;
      readonly calls: number;
    }
  | { readonly type: 'append'; readonly role: 'user' | 'assistant' | 'system'; readonly text: string }
  | { readonly type: 'resume'; readonly yes: readonly boolean[]; readonly text: string }
  | { readonly type: 'fork' | 'branch'; readonly share: number }
  | { readonly type: 'delete' };

/** The steps that may have this type. */
export type StepOf<Type extends Step['type'], One = Step> = One extends { readonly type: infer Types }
  ? Type extends Types
    ? One
    : never
  : never;

export function row(role: Row['role'], text: string, more: Partial<Row> = {}): Row {
  return { role, text, calls: [], results: {}, mark: '', ...more };
}

/** Converts stored messages to rows. */
export function rowsOf(messages: readonly Message[]): Row[] {
  return messages.map((message) => {
    if (message.role === 'tool') {
      const results = message.content.map(({ id, isError }) => [id, isError === true ? 'error' : 'ran'] as const);
      return row('tool', '', { results: Object.fromEntries(results) });
    }
    const { content } = message;
    const text =
      typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : '')).join('');
    return row(message.role, text, { calls: toolCallsOf(message).map(({ id }) => id), mark: markOf(message) });
  });
}

function markOf(message: Message): Row['mark'] {
  if (message.role !== 'assistant') return '';
  if (message.stopped === true) return 'stopped';
  if (message.suspended === true) return 'suspended';
  return message.denied === true ? 'denied' : '';
}

/** The calls of the last turn without a result, and the index of their message. */
export function openCalls(
  rows: readonly Row[],
): { readonly index: number; readonly ids: readonly string[] } | undefined {
  const index = rows.findLastIndex(({ calls }) => calls.length > 0);
  if (index < 0) return undefined;
  const done = Object.keys(rows[index + 1]?.results ?? {});
  const ids = (rows[index] as Row).calls.filter((id) => !done.includes(id));
  return ids.length === 0 ? undefined : { index, ids };
}

/** The index of a suspended answer that nobody has decided on. */
export function openAnswer(rows: readonly Row[]): number | undefined {
  const index = rows.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  return rows[index]?.mark === 'suspended' ? index : undefined;
}

/** Throws unless the messages are what every provider accepts: each call has one result, directly behind its message. */
export function checkAccepted(messages: readonly Message[]): void {
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    const called = before === undefined ? [] : toolCallsOf(before).map(({ id }) => id);
    const answered = message.role === 'tool' ? message.content.map(({ id }) => id) : [];
    if (called.join() !== answered.join())
      throw new TypeError(`message ${at} answers ${answered}, called were ${called}`);
  }
  if (toolCallsOf(messages.at(-1) ?? { role: 'user', content: '' }).length > 0) throw new TypeError('calls are open');
}

/** Returns the entries from the first message to the latest one. */
export function pathOf(entries: readonly Entry[]): readonly Entry[] {
  const last = entries.findLast(({ body }) => ['message', 'summary', 'head'].includes(body.type));
  const path: Entry[] = [];
  let id = last?.body.type === 'head' ? last.parent : last?.id;
  for (let one = find(entries, id); one !== undefined; one = find(entries, id)) {
    path.unshift(one);
    id = one.parent;
  }
  return path;
}

function find(entries: readonly Entry[], id: string | undefined): Entry | undefined {
  return entries.find((entry) => entry.id === id);
}
