import type { TraceRecord, TraceRecordOf } from '../record.js';

/** A trace record, with its position in the trace. */
export interface Indexed<Type extends TraceRecord['type'] = TraceRecord['type']> {
  readonly index: number;
  readonly record: TraceRecordOf<Type>;
}

/** Finds the records of a trace by type and by run. */
export class TraceIndex {
  private readonly agents = new Map<string, string>();
  private readonly byType = new Map<string, unknown[]>();

  constructor(readonly records: readonly TraceRecord[]) {
    for (const [index, record] of records.entries()) {
      const known = this.byType.get(record.type);
      if (known === undefined) this.byType.set(record.type, [{ index, record }]);
      else known.push({ index, record });
    }
    for (const { record } of this.all('run-start')) this.agents.set(record.runId, record.agent);
  }

  /** Returns the records of a type, in the order of the trace. With `runId`, returns only the records of that run. */
  all<Type extends TraceRecord['type']>(type: Type, runId?: string): readonly Indexed<Type>[] {
    const found = (this.byType.get(type) ?? []) as readonly Indexed<Type>[];
    return runId === undefined ? found : found.filter(({ record }) => record.runId === runId);
  }

  /** Returns the quoted name of the agent of a run, for messages. */
  agentOf(runId: string): string {
    return JSON.stringify(this.agents.get(runId) ?? 'unknown');
  }

  /** Returns the last model call of a run that comes before the position `before`. */
  lastModelCall(runId: string, before: number): Indexed<'model-call'> | undefined {
    return this.all('model-call', runId).findLast(({ index }) => index < before);
  }

  /** Returns the error of the nested run that a tool call started. Returns undefined if no such run failed. */
  failureInside(runId: string, callId: string): Indexed<'run-error'> | undefined {
    return this.all('run-error').find(({ record }) => record.runId !== runId && record.path?.at(-1) === callId);
  }
}

/**
 * Returns the source of more than half of the characters that a model read in a call, such as the results of one tool.
 * Returns undefined if no source is that large.
 */
export function largestSource(call: TraceRecordOf<'model-call'>) {
  const sizes = Object.entries(call.context.sizes).sort(([, a], [, b]) => b - a);
  const total = sizeOf(call);
  const [name, size] = sizes[0] ?? ['', 0];
  return size * 2 > total ? { name, size, total } : undefined;
}

/** Returns the number of characters that a model read in a call. */
export function sizeOf({ context }: TraceRecordOf<'model-call'>): number {
  return Object.values(context.sizes).reduce((sum, size) => sum + size, 0);
}
