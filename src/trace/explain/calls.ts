import type { Finding } from './finding.js';
import type { Indexed, TraceIndex } from './trace-index.js';

/**
 * Explains each tool call that failed. Skips a call whose nested run failed, because `failuresIn` explains that run.
 */
export function failedCallsIn(trace: TraceIndex): readonly Finding[] {
  return trace.all('tool-end').flatMap((end) => {
    const { runId, callId, result } = end.record;
    const isFailed = result?.isError === true && deniedBy(trace, end) === undefined;
    return isFailed && trace.failureInside(runId, callId) === undefined ? [failedCall(trace, end)] : [];
  });
}

function failedCall(trace: TraceIndex, { record, index }: Indexed<'tool-end'>): Finding {
  const { runId, turn, name, error, result } = record;
  const agent = trace.agentOf(runId);
  const down = downServer(trace, record.name);
  const place = { kind: 'failed-call', runId, turn } as const;
  if (down !== undefined) {
    const text = `Agent ${agent} called "${name}", but server "${down.name}" was not connected${down.error === undefined ? '' : `: ${down.error}`}.`;
    return { ...place, text, by: { kind: 'server', name: down.name }, records: [down.index, index] };
  }
  const why =
    error === undefined ? `returned an error: ${textOf(result?.content)}` : `threw ${error.name}: ${error.message}`;
  const at = error?.stack?.split('\n').find((line) => /^\s+at /.test(line) && !line.includes('node:'));
  const text = `Tool "${name}" of agent ${agent} ${why}${at === undefined ? '' : ` (${at.trim()})`}`;
  return { ...place, text, by: { kind: 'tool', name }, records: [index] };
}

/** Explains each tool call that a lifecycle denied, or answered with an error instead of the tool. */
export function deniedCallsIn(trace: TraceIndex): readonly Finding[] {
  return trace.all('tool-end').flatMap((end) => {
    const decision = deniedBy(trace, end);
    if (decision === undefined) return [];
    const { runId, turn, name, result } = end.record;
    const { by, point, reason } = decision.record.decision;
    const why = reason ?? textOf(result?.content);
    const text = `Lifecycle "${by}" denied the call of "${name}" of agent ${trace.agentOf(runId)} in ${point}: ${why}`;
    const records = [decision.index, end.index];
    return [{ kind: 'denied-call', text, by: { kind: 'lifecycle', name: by }, runId, turn, records }];
  });
}

/** Returns the decision of a lifecycle that prevented a tool call. Returns undefined if the tool ran. */
function deniedBy(trace: TraceIndex, { record, index }: Indexed<'tool-end'>): Indexed<'decision'> | undefined {
  if (record.result?.isError !== true) return undefined;
  return trace.all('decision', record.runId).find(({ record: { decision }, index: at }) => {
    const isDenial = decision.type === 'respond' || decision.type === 'reject' || decision.type === 'block';
    return isDenial && decision.turn === record.turn && decision.call?.id === record.callId && at < index;
  });
}

/** Explains which MCP servers were not connected when a run started. */
export function downServersIn(trace: TraceIndex): readonly Finding[] {
  return trace.all('server-error').flatMap(({ record, index }) =>
    record.servers.map(({ name, state, error }) => ({
      kind: 'server' as const,
      text: `Server "${name}" was not connected when agent ${trace.agentOf(record.runId)} started (${state})${error === undefined ? '' : `: ${error}`}.`,
      by: { kind: 'server' as const, name },
      runId: record.runId,
      records: [index],
    })),
  );
}

function downServer(trace: TraceIndex, tool: string) {
  const servers = trace
    .all('server-error')
    .flatMap(({ record, index }) => record.servers.map((it) => ({ ...it, index })));
  return servers.find(({ name }) => tool.startsWith(`mcp__${name}__`));
}

function textOf(content: unknown): string {
  const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? 'nothing');
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
