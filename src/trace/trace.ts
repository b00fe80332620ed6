/**
 * Traces of runs: each run as lines of JSON, and the part of the run that caused a failure.
 *
 * @packageDocumentation
 */
export type { ModelPrice } from '../model/price.js';
export { explain } from './explain/explain.js';
export type { Cause, Finding } from './explain/finding.js';
export { type TraceOptions, trace } from './lifecycle.js';
export type {
  TracedContext,
  TracedEntry,
  TracedError,
  TracedEvent,
  TracedHook,
  TracedModelCall,
  TracedResult,
  TraceRecord,
  TraceRecordOf,
  TraceStart,
} from './record.js';
export { readTrace, TraceInvalidError } from './record-line.js';
