import { counted } from '../../internal/names-text.js';
import type { TracedError } from '../record.js';
import type { Cause, Finding } from './finding.js';
import { type Indexed, largestSource, type TraceIndex } from './trace-index.js';

type Failure = Indexed<'run-error'>;
type Explained = Pick<Finding, 'text' | 'by'> & { readonly causes?: readonly number[] };

/** Explains each run that failed, the outermost run first. */
export function failuresIn(trace: TraceIndex): readonly Finding[] {
  const failures = [...trace.all('run-error')].sort((a, b) => depthOf(a) - depthOf(b));
  return failures.map((failure) => {
    const { record, index } = failure;
    const { text, by, causes = [] } = explained(trace, failure);
    const { runId, turn } = { turn: undefined, ...record };
    return { kind: 'failure', text, by, runId, turn, records: [...causes, index] };
  });
}

function depthOf({ record }: Failure): number {
  return record.path?.length ?? 0;
}

function explained(trace: TraceIndex, failure: Failure): Explained {
  const { error, runId } = failure.record;
  const agent = trace.agentOf(runId);
  const explain = BY_CODE[String(error.code)];
  if (explain !== undefined) return explain({ trace, failure, error, agent });
  return { text: `Agent ${agent} failed: ${error.message}`, by: undefined };
}

interface Case {
  readonly trace: TraceIndex;
  readonly failure: Failure;
  readonly error: TracedError;
  readonly agent: string;
}

const BY_CODE: Readonly<Record<string, (it: Case) => Explained>> = {
  ERR_RUN_REJECTED: rejected,
  ERR_LIFECYCLE_FAILED: lifecycleFailed,
  ERR_MODEL_FAILED: modelFailed,
  ERR_OUTPUT_INVALID: outputInvalid,
  ERR_TURN_LIMIT: turnLimit,
  ERR_RUN_TIMEOUT: runTimeout,
  ERR_RUN_ABORTED: ({ agent, error }) => ({
    text: `The run of agent ${agent} was aborted: ${error.cause?.message ?? error.message}`,
    by: { kind: 'caller', name: 'signal' },
  }),
  ERR_SESSION_LOST: ({ agent, error }) => ({
    text: `Another run took over the session of agent ${agent}: ${error.message}`,
    by: { kind: 'store', name: 'session' },
  }),
};

/** Explains a run that ended with a RejectedError, and names the lifecycle that rejected it. */
function rejected({ trace, failure, error, agent }: Case): Explained {
  const by = lifecycle(error.by);
  const decision = trace
    .all('decision', failure.record.runId)
    .findLast(({ index, record }) => index < failure.index && record.decision.by === error.by);
  return {
    text: `Lifecycle "${error.by}" rejected the run of agent ${agent} in ${error.point}: ${error.reason}`,
    by,
    causes: decision === undefined ? [] : [decision.index],
  };
}

function lifecycleFailed({ trace, failure, error, agent }: Case): Explained {
  const { lifecycle: name, point, cause } = error;
  const hook = trace
    .all('hook', failure.record.runId)
    .findLast(({ index, record }) => index < failure.index && record.lifecycle === name && record.point === point);
  const why =
    cause?.code === 'ERR_TIMEOUT' && hook !== undefined
      ? `it took longer than its time limit of ${cause.timeoutMs} ms`
      : `it threw ${cause?.name ?? 'an error'}: ${cause?.message ?? error.message}`;
  return {
    text: `Lifecycle "${name}" failed in ${point} of agent ${agent}: ${why}.`,
    by: lifecycle(name),
    causes: hook === undefined ? [] : [hook.index],
  };
}

function modelFailed({ trace, failure, error, agent }: Case): Explained {
  const calls = trace.all('model-call', failure.record.runId).filter(({ index }) => index < failure.index);
  const last = calls.at(-1);
  const failed = calls.filter(({ record }) => record.turn === last?.record.turn && record.error !== undefined);
  const causes = failed.map(({ index }) => index);
  const by: Cause = { kind: 'model', name: String(error.model) };
  if (error.kind === 'context-overflow' && last !== undefined) return overflow({ trace, failure, error, agent }, last);
  const status = error.status === undefined ? '' : `, status ${error.status}`;
  const times = failed.length > 1 ? `, ${failed.length} times` : '';
  return {
    text: `Model "${error.model}" of agent ${agent} failed (${error.kind}${status})${times}: ${error.cause?.message ?? error.message}`,
    by,
    causes,
  };
}

function overflow({ error, agent }: Case, last: Indexed<'model-call'>): Explained {
  const largest = largestSource(last.record);
  const text = `The context of agent ${agent} is longer than model "${error.model}" accepts: ${counted(last.record.context.messages, 'message')}.`;
  if (largest === undefined) return { text, by: { kind: 'agent', name: agent }, causes: [last.index] };
  const { name, size, total } = largest;
  return {
    text: `${text} Most of it is ${named(name)}: ${size} of ${total} characters.`,
    by: name.startsWith('tool ') ? { kind: 'tool', name: name.slice(5) } : { kind: 'agent', name: JSON.parse(agent) },
    causes: [last.index],
  };
}

function outputInvalid({ trace, failure, error, agent }: Case): Explained {
  const last = trace.lastModelCall(failure.record.runId, failure.index);
  return {
    text: `Model "${last?.record.model}" of agent ${agent} gave an answer that does not match \`output\`: ${error.message}`,
    by: { kind: 'model', name: last?.record.model ?? 'unknown' },
    causes: last === undefined ? [] : [last.index],
  };
}

function turnLimit({ trace, failure, error, agent }: Case): Explained {
  const calls = trace.all('tool-start', failure.record.runId);
  const last = calls.at(-1);
  return {
    text: `Agent ${agent} still called tools after ${error.maxTurns} turns (\`maxTurns\`). Its last call was ${last === undefined ? 'unknown' : `"${last.record.name}"`}.`,
    by: { kind: 'agent', name: JSON.parse(agent) },
    causes: last === undefined ? [] : [last.index],
  };
}

function runTimeout({ trace, failure, error, agent }: Case): Explained {
  const open = trace
    .all('tool-start', failure.record.runId)
    .findLast(({ record }) => !trace.all('tool-end', record.runId).some((end) => isDone(end, record, failure.index)));
  const text = `The run of agent ${agent} took longer than ${error.timeoutMs} ms (\`timeouts.runMs\`)`;
  if (open === undefined) return { text: `${text}.`, by: undefined };
  return {
    text: `${text}, in a call of tool "${open.record.name}".`,
    by: { kind: 'tool', name: open.record.name },
    causes: [open.index],
  };
}

function isDone({ record, index }: Indexed<'tool-end'>, { callId }: { callId: string }, before: number): boolean {
  return record.callId === callId && index < before && record.result?.isError !== true;
}

function lifecycle(name: unknown): Cause {
  return { kind: 'lifecycle', name: String(name) };
}

function named(source: string): string {
  return source.startsWith('tool ') ? `results of tool "${source.slice(5)}"` : `"${source}"`;
}
