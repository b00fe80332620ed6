import type { TraceRecord, TraceRecordOf } from '../record.js';

/** A record with its index in the trace. */
export interface Indexed<Type extends TraceRecord['type'] = TraceRecord['type']> {
  readonly index: number;
  readonly record: TraceRecordOf<Type>;
}

/** The records of a trace, by type and by run. */
export class TraceIndex {
  private readonly agents = new Map<string, string>();

  constructor(readonly records: readonly TraceRecord[]) {
    for (const { record } of this.all('run-start')) this.agents.set(record.runId, record.agent);
  }

  /** Returns the records of a type, in order. */
  all<Type extends TraceRecord['type']>(type: Type, runId?: string): readonly Indexed<Type>[] {
    return this.records.flatMap((record, index) => {
      if (record.type !== type || (runId !== undefined && record.runId !== runId)) return [];
      return [{ index, record: record as TraceRecordOf<Type> }];
    });
  }

  /** Returns the name of the agent of a run, in quotes. */
  agentOf(runId: string): string {
    return JSON.stringify(this.agents.get(runId) ?? 'unknown');
  }

  /** Returns the last model call of a run up to a record. */
  lastModelCall(runId: string, before: number): Indexed<'model-call'> | undefined {
    return this.all('model-call', runId).findLast(({ index }) => index < before);
  }

  /** Returns the run that was started inside of a tool call, and the record of its failure. */
  failureInside(runId: string, callId: string): Indexed<'run-error'> | undefined {
    return this.all('run-error').find(({ record }) => record.runId !== runId && record.path?.at(-1) === callId);
  }
}

/** Returns the source of most characters of a model call, if it is more than half. */
export function largestSource({ context }: TraceRecordOf<'model-call'>) {
  const sizes = Object.entries(context.sizes).sort(([, a], [, b]) => b - a);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const [name, size] = sizes[0] ?? ['', 0];
  return size * 2 > total ? { name, size, total } : undefined;
}
