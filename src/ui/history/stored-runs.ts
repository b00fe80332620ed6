import { toolCallsOf } from '../../model/message.js';
import type { Entry } from '../../state/record/entry.js';

/** The entries of one run inside of a tool call. */
export interface StoredRun {
  readonly runId: string;
  readonly agent: string;
  /** The ids of the tool calls that lead to the run, from the outermost. */
  readonly path: readonly string[];
  /** The entries without their paths. */
  readonly entries: readonly Entry[];
}

/** Returns the runs inside of the tool calls of messages, by the id of the message. A deeper run belongs to the same message. */
export function storedRunsIn(entries: readonly Entry[]): ReadonlyMap<string, readonly StoredRun[]> {
  const byMessage = new Map<string, StoredRun[]>();
  if (!entries.some(({ path }) => path !== undefined)) return byMessage;
  // One run at a time holds the conversation, so the latest message with a call is the one whose call runs.
  const callers = new Map<string, string>();
  const runs = new Map<string, Entry[]>();
  for (const { path, ...entry } of entries) {
    const { id, run: runId, agent = '', body } = entry;
    if (path === undefined) {
      if (body.type === 'message') for (const call of toolCallsOf(body.message)) callers.set(call.id, id);
      continue;
    }
    const caller = callers.get(path[0] ?? '');
    if (caller === undefined || runId === undefined) continue;
    const known = runs.get(runId);
    if (known !== undefined) known.push(entry);
    else {
      const own = [entry];
      runs.set(runId, own);
      byMessage.set(caller, [...(byMessage.get(caller) ?? []), { runId, agent, path, entries: own }]);
    }
  }
  return byMessage;
}
