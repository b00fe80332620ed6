import type { TraceRecord, TraceRecordOf } from '../record.js';

/** A record with its index in the trace. */
export interface Indexed<Type extends TraceRecord['type'] = TraceRecord['type']> {
  readonly index: number;
  readonly record: TraceRecordOf<Type>;
}

/** The records of a trace, by type and by run. */
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

  /** Returns the records of a type, in order. */
  all<Type extends TraceRecord['type']>(type: Type, runId?: string): readonly Indexed<Type>[] {
    const found = (this.byType.get(type) ?? []) as readonly Indexed<Type>[];
    return runId === undefined ? found : found.filter(({ record }) => record.runId === runId);
  }

  /** Returns the name of the agent of a run, in quotes. */
  agentOf(runId: string): string {
    return JSON.stringify(this.agents.get(runId) ?? 'unknown');
  }

  /** Returns the last model call of a run before a record. */
  lastModelCall(runId: string, before: number): Indexed<'model-call'> | undefined {
    return this.all('model-call', runId).findLast(({ index }) => index < before);
  }

  /** Returns the failure of the nested run that a tool call started, if that run failed. */
  failureInside(runId: string, callId: string): Indexed<'run-error'> | undefined {
    return this.all('run-error').find(({ record }) => record.runId !== runId && record.path?.at(-1) === callId);
  }
}

/** Returns the source of more than half of the characters that a model call read, if there is one. */
export function largestSource(call: TraceRecordOf<'model-call'>) {
  const sizes = Object.entries(call.context.sizes).sort(([, a], [, b]) => b - a);
  const total = sizeOf(call);
  const [name, size] = sizes[0] ?? ['', 0];
  return size * 2 > total ? { name, size, total } : undefined;
}

/** Returns the number of characters that a model read. */
export function sizeOf({ context }: TraceRecordOf<'model-call'>): number {
  return Object.values(context.sizes).reduce((sum, size) => sum + size, 0);
}
