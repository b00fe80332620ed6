import { type AgentEvent, type Entry, type Message, modelMessagesOf, type RunResult, toolCallsOf } from 'keelson';
import { unpairedEvents } from '../event-pairs.js';
import { pairingProblem } from '../pairing.js';

type NestedRun = NonNullable<RunResult['nested']>[number];

/** The tokens of one model call. */
const TOKENS = 15;

/** Returns the ids of all that is open in the messages of a run, also in the runs inside. */
export function openIn(messages: readonly Message[]): readonly string[] {
  const at = messages.findLastIndex((message) => toolCallsOf(message).length > 0);
  const next = messages[at + 1];
  const given = next?.role === 'tool' ? next.content.map(({ id }) => id) : [];
  const open = (at < 0 ? [] : toolCallsOf(messages[at] as Message)).filter(({ id }) => !given.includes(id));
  if (open.length > 0) {
    return open.flatMap(({ id, inside }) =>
      inside === undefined ? [id] : openIn(inside.messages).map((inner) => `${id}/${inner}`),
    );
  }
  const last = messages.findLast(({ role }) => role === 'assistant');
  return last?.role === 'assistant' && last.suspended ? ['answer'] : [];
}

/** Returns why the events of a run and the runs inside do not nest. */
export function eventProblem(events: readonly AgentEvent[], isExact: boolean): string | undefined {
  const open = new Set<string>();
  for (const event of events) {
    const { type, path = [] } = event;
    for (let length = 1; length <= path.length; length++) {
      const call = JSON.stringify(path.slice(0, length));
      if (!open.has(call)) return `${type} of ${path} outside of its call ${call}`;
    }
    if (type === 'tool-start') open.add(JSON.stringify([...path, event.callId]));
    if (type === 'tool-end') open.delete(JSON.stringify([...path, event.callId]));
  }
  // The events of a cancelled run end with its call.
  if (!isExact) return undefined;
  for (const [run, own] of groupBy(events, ({ runId }) => runId)) {
    const [first, last] = [own[0], own.at(-1)];
    const problem = unpairedEvents(own)[0];
    if (problem !== undefined) return `in the events of ${run}: ${problem}`;
    if (first?.type !== 'run-start' || last?.type !== 'run-end')
      return `the events of ${run} begin with ${first?.type}`;
    if (new Set(own.map(({ path }) => JSON.stringify(path))).size > 1) return `${run} has two paths`;
  }
  return undefined;
}

/** Returns the run whose usage is not that of its model calls. */
export function usageProblem(
  { usage, nested }: Pick<RunResult, 'usage' | 'nested'>,
  events: readonly AgentEvent[],
): string | undefined {
  const root = events[0]?.runId;
  const ownOf = (run: string | undefined) =>
    TOKENS * events.filter(({ type, runId }) => type === 'model-end' && runId === run).length;
  const expected = (run: string | undefined, inside: readonly NestedRun[] = []): number =>
    ownOf(run) + inside.reduce((sum, one) => sum + expected(one.runId, one.nested), 0);
  const all = (runs: readonly NestedRun[] = []): readonly NestedRun[] =>
    runs.flatMap((one) => [one, ...all(one.nested)]);
  const wrong = all(nested).find((one) => one.usage.totalTokens !== expected(one.runId, one.nested));
  if (wrong !== undefined) return `the usage of ${wrong.runId} is ${wrong.usage.totalTokens}`;
  const total = expected(root, nested);
  return usage.totalTokens === total
    ? undefined
    : `the usage is ${usage.totalTokens}, and the model calls used ${total}`;
}

/** Returns the rule that a record breaks. */
export function recordProblem(entries: readonly Entry[]): string | undefined {
  const known = new Set<string>();
  for (const { id, parent, path, body } of entries) {
    if (known.has(id)) return `entry ${id} is there twice`;
    known.add(id);
    if (parent !== undefined && !known.has(parent)) return `entry ${id} follows ${parent}, which is not there`;
    const isAlone = body.type === 'post' || body.type === 'dropped';
    if (path !== undefined && parent === undefined && !isAlone) return `the nested entry ${id} has no parent`;
  }
  const conversations = [entries.filter(({ path }) => path === undefined)];
  for (const own of groupBy(
    entries.filter(({ path }) => path !== undefined),
    ({ run }) => run,
  ).values()) {
    const ids = new Set(own.map(({ id }) => id));
    conversations.push(
      own.map(({ path: _path, parent = '', ...entry }) => ({ ...entry, parent: ids.has(parent) ? parent : undefined })),
    );
  }
  for (const own of conversations) {
    for (let length = 1; length <= own.length; length++) {
      const problem = pairingProblem(modelMessagesOf(own.slice(0, length)));
      if (problem !== undefined) return `${own[0]?.agent}, ${length} entries: ${problem}`;
    }
  }
  for (let length = 1; length <= entries.length; length++) {
    const problem = pairingProblem(modelMessagesOf(entries.slice(0, length)));
    if (problem !== undefined) return `${length} entries: ${problem}`;
  }
  return undefined;
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string | undefined): Map<string | undefined, T[]> {
  const groups = new Map<string | undefined, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
