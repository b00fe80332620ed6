import { type Entry, modelMessagesOf, type ToolResultPart, textOf, toolCallsOf } from 'keelson';
import { checkAccepted } from '../agent/session-model.js';
import { type AckLine, digestOf, plannedTurns, type ToolLine, type TurnLine } from './turn-plan.js';

/** The records of all sessions after the last turn, by id, with the uid of each. */
export type FinalRecords = ReadonlyMap<string, { readonly uid: string; readonly entries: readonly Entry[] }>;

/** Returns what is wrong with the records, given what the processes have printed. */
export function turnFaults(seed: number, lines: readonly TurnLine[], records: FinalRecords): string[] {
  const entriesOf = (session: string) => records.get(session)?.entries ?? [];
  return [
    ...[...records.values()].flatMap(({ entries }) => [...recordFaults(entries), ...prefixFaults(entries)]),
    ...questionFaults(seed, entriesOf),
    ...lines.flatMap((line) => (line.type === 'ack' ? ackFaults(line, entriesOf(line.session)) : [])),
    ...toolFaults(
      lines.filter((line) => line.type === 'tool'),
      records,
    ),
  ];
}

/** Each entry is there once and follows the one before it, and no run is mixed with another one. */
function recordFaults(entries: readonly Entry[]): string[] {
  const faults: string[] = [];
  if (new Set(entries.map(({ id }) => id)).size < entries.length) faults.push('an entry is stored twice');
  const runs = entries.map(({ run }) => run).filter((run, at, all) => run !== all[at - 1]);
  if (new Set(runs).size < runs.length) faults.push('the entries of two runs are mixed');
  const path = entries.filter(({ body }) => body.type === 'message' || body.type === 'summary');
  if (path.some(({ parent }, at) => parent !== path[at - 1]?.id)) faults.push('the record has a branch');
  return faults;
}

/** Each prefix of the record can be sent to a model. */
function prefixFaults(entries: readonly Entry[]): string[] {
  const faults: string[] = [];
  for (let length = 0; length <= entries.length; length += 1) {
    try {
      checkAccepted(modelMessagesOf(entries.slice(0, length)));
    } catch (error) {
      faults.push(`the first ${length} entries: ${(error as Error).message}`);
    }
  }
  return faults;
}

/** Each question is stored once and whole, and nothing else was asked. */
function questionFaults(seed: number, entriesOf: (session: string) => readonly Entry[]): string[] {
  const asked = new Map<string, string[]>();
  for (const { id, session, text } of plannedTurns(seed)) {
    asked.set(session, [...(asked.get(session) ?? []), `${id}: ${text}`]);
  }
  return [...asked].flatMap(([session, expected]) => {
    const stored = entriesOf(session).flatMap(({ id, body }) =>
      body.type === 'message' && body.message.role === 'user' ? [`${id}: ${textOf(body.message)}`] : [],
    );
    const isSame = stored.sort().join('\n') === expected.sort().join('\n');
    return isSame ? [] : [`${session} has ${stored.length} questions, and ${expected.length} were asked`];
  });
}

/** The entries that a process has read and added are still there, and it has got the answer to its question. */
function ackFaults({ id, text, entries: added, first, length, digest }: AckLine, entries: readonly Entry[]): string[] {
  const faults: string[] = [];
  const positions = added.map((one) => entries.findIndex((entry) => entry.id === one));
  if (positions.some((position, at) => position < 0 || position <= (positions[at - 1] ?? -1)))
    faults.push(`${id}: an acknowledged entry is missing or in another place`);
  const from = entries.findIndex((entry) => entry.id === first);
  if (from < 0 || digestOf(entries.slice(from, from + length)) !== digest)
    faults.push(`${id}: the record has changed since`);
  if (!text.split(' ').includes(id)) faults.push(`${id} has got "${text}"`);
  return faults;
}

/** Each tool has begun once for each attempt, after its call was stored. Each call has one result, of that attempt. */
function toolFaults(begun: readonly ToolLine[], records: FinalRecords): string[] {
  const faults: string[] = [];
  const attempts = new Map<string, number[]>();
  for (const { key, attempt } of [...begun].sort((a, b) => a.at - b.at)) {
    const before = attempts.get(key) ?? [];
    if (attempt <= (before.at(-1) ?? 0)) faults.push(`${key} begins as attempt ${attempt}, after ${before}`);
    attempts.set(key, [...before, attempt]);
  }
  const known = new Set<string>();
  for (const [session, { uid, entries }] of records) {
    const results = resultsOf(entries);
    for (const { key, call } of callsOf(uid, entries)) {
      known.add(key);
      const [result, ...more] = results.get(call) ?? [];
      if (result === undefined || more.length > 0) faults.push(`${session}: ${call} has ${more.length} more results`);
      const attempt = Number(/ ran in attempt (\d+)$/.exec(String(result?.content))?.[1] ?? 0);
      if (attempt > 0 && !attempts.get(key)?.includes(attempt)) faults.push(`${key} has a result of no attempt`);
    }
  }
  return [...faults, ...[...attempts.keys()].filter((key) => !known.has(key)).map((key) => `${key} is not stored`)];
}

/** Returns the ids of the calls of a record, and the key of each. */
function callsOf(uid: string, entries: readonly Entry[]): { readonly key: string; readonly call: string }[] {
  return entries.flatMap(({ id: entry, body }) =>
    body.type === 'message'
      ? toolCallsOf(body.message).map(({ id }) => ({ key: `${uid}:${entry}:${id}`, call: id }))
      : [],
  );
}

function resultsOf(entries: readonly Entry[]): ReadonlyMap<string, readonly ToolResultPart[]> {
  const results = new Map<string, ToolResultPart[]>();
  for (const { body } of entries) {
    if (body.type !== 'message' || body.message.role !== 'tool') continue;
    for (const part of body.message.content) results.set(part.id, [...(results.get(part.id) ?? []), part]);
  }
  return results;
}
