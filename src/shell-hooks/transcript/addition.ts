import type { Message } from '../../model/message.js';
import { isSummary } from '../../model/summary-message.js';
import type { TranscriptMessages } from '../events/hook-event-context.js';
import { laterMessages, missingMessages, startOfRest } from './missing-messages.js';

type LineId = string | undefined;

/** The written part of one transcript. */
export interface Written {
  /** The keys of the messages that the next ones are compared with, in order. */
  readonly keys: readonly string[];
  /** The id of the last line of each of these messages. */
  readonly ids: readonly LineId[];
  /** The id of the last line of the file. */
  readonly lastId: LineId;
}

/** The messages that a transcript lacks. */
export interface Addition {
  readonly added: readonly Message[];
  /** The id of the line that the first message follows. */
  readonly parentId: LineId;
  /** Returns the written part, given the id of the last line of each added message. */
  readonly written: (ids: readonly LineId[]) => Written;
}

type KeyOf = (message: Message) => string;

/** Returns the messages of a new file: the whole path, with the latest summary before the messages that it left. */
export async function firstAddition({ model, people }: TranscriptMessages, keyOf: KeyOf): Promise<Addition> {
  const list = model ?? (await people?.()) ?? [];
  const summary = list.findLastIndex(isSummary);
  const isWhole = summary < 0 || people === undefined;
  const added = isWhole ? list : joined(await people(), list.slice(summary), keyOf);
  // Both lists have the same end.
  const shift = added.length - list.length;
  const written = (ids: readonly LineId[]): Written => ({
    keys: list.map(keyOf),
    ids: list.map((_, at) => ids[at + shift]),
    lastId: ids.at(-1),
  });
  return { added, parentId: undefined, written };
}

/** Returns the messages that a file lacks. */
export async function nextAddition(
  { model, people }: TranscriptMessages,
  known: Written,
  keyOf: KeyOf,
): Promise<Addition> {
  if (model === undefined) return laterAddition((await people?.()) ?? [], known, keyOf);
  const keys = model.map(keyOf);
  const missing = missingMessages(known.keys, keys);
  const added = missing.map((at) => model[at] as Message);
  const [first = 0] = missing;
  const isBranch = first < known.keys.length && missing.length === keys.length - first && !added.some(isSummary);
  const written = (ids: readonly LineId[]): Written => {
    const fresh = new Map(missing.map((at, index) => [at, ids[index]]));
    const placeOf = (key: string, at: number) => (known.keys[at] === key ? at : known.keys.lastIndexOf(key));
    return { keys, ids: keys.map((key, at) => fresh.get(at) ?? known.ids[placeOf(key, at)]), lastId: ids.at(-1) };
  };
  return { added, parentId: isBranch ? known.ids[first - 1] : known.lastId, written };
}

/** Adds the messages that people read behind the last written one. */
function laterAddition(all: readonly Message[], { keys, ids, lastId }: Written, keyOf: KeyOf): Addition {
  const added = laterMessages(keys, all.map(keyOf)).map((at) => all[at] as Message);
  const written = (later: readonly LineId[]): Written => ({
    keys: [...keys, ...added.map(keyOf)],
    ids: [...ids, ...later],
    lastId: later.at(-1),
  });
  return { added, parentId: lastId, written };
}

/** Puts a summary and the messages behind it in the place of the same messages as people read them. */
function joined(all: readonly Message[], rest: readonly Message[], keyOf: KeyOf): readonly Message[] {
  const start = startOfRest(all.map(keyOf), rest.slice(1).map(keyOf));
  return [...all.slice(0, start), ...rest];
}
