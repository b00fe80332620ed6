/**
 * Traces of runs. Writes each run as lines of JSON, and explains which lifecycle, tool, server or model caused a
 * problem.
 *
 * @packageDocumentation
 */
export { explain } from './explain/explain.js';
export type { Cause, Finding } from './explain/finding.js';
export { type TraceOptions, trace } from './lifecycle.js';
export type { TracedError, TracedHook, TracedModelCall, TraceRecord } from './record.js';
export { readTrace, TraceInvalidError } from './record-line.js';
