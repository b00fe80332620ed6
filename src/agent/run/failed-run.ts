import type { RunRecord } from '../run-result.js';

/** The parts of a failed run that its error does not hold. */
export type FailureRecord = Pick<RunRecord, 'decisions' | 'nested'>;

const NOTHING: FailureRecord = { decisions: [] };

/** By error. The class RunError belongs to the layer of the model, which knows no decisions. */
const records = new WeakMap<object, FailureRecord>();

export function recordFailure(error: unknown, record: FailureRecord): void {
  if (error instanceof Error) records.set(error, record);
}

export function failureRecordOf(error: Error): FailureRecord {
  return records.get(error) ?? NOTHING;
}
