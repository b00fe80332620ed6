import { describeError, KeelsonError } from '../../../errors.js';
import { isObject, type JsonObject, type JsonValue, toJson } from '../../../internal/json.js';
import { RunAbortedError } from '../../../lifecycle/run-failure.js';
import type { AgentEvent } from '../../agent-event.js';

/** The version of the events in a run log. */
const VERSION = 1;

/** The error of a run that another process ran, or of a part of it. `code` and `name` are those of that error. */
export class WatchedRunError extends KeelsonError {
  readonly code = 'ERR_WATCHED_RUN';
  /** The name and the code of the error in the process of the run. */
  readonly failure: { readonly name: string; readonly code?: string | undefined };

  constructor(message: string, failure: WatchedRunError['failure']) {
    super(message);
    this.failure = failure;
  }
}

/** Converts an event for the run log. Leaves out the history of the result, and values that JSON cannot represent. */
export function eventToJson(event: AgentEvent): JsonObject {
  const json: Record<string, unknown> = { v: VERSION, ...event };
  if (json.error !== undefined) json.error = errorToJson(json.error);
  if (event.type === 'run-end' && event.result !== undefined) {
    const { history: _history, ...result } = event.result;
    json.result = result;
  }
  if (event.type === 'tool-delta') json.data = jsonOrNull(event.data);
  if (event.type === 'run-end' && json.result !== undefined) json.result = jsonOrNull(json.result);
  return json as JsonObject;
}

/** Converts an event back. Returns undefined for an event of a later version. */
export function eventFromJson(json: JsonValue): AgentEvent | undefined {
  if (!isObject(json) || json.v !== VERSION) return undefined;
  const { v: _version, ...event } = json as Record<string, unknown>;
  if (isObject(event.error)) event.error = errorFromJson(event.error);
  if (event.type === 'run-end' && isObject(event.result)) event.result = { ...event.result, history: [] };
  return event as unknown as AgentEvent;
}

function errorToJson(error: unknown): JsonObject {
  if (error instanceof RunAbortedError) return { code: error.code, message: describeError(error.cause) };
  const { name, code } = Object(error);
  return {
    message: describeError(error),
    ...(typeof name === 'string' && { name }),
    ...(typeof code === 'string' && { code }),
  };
}

function errorFromJson({ name, code, message }: Readonly<Record<string, unknown>>): KeelsonError {
  if (code === 'ERR_RUN_ABORTED') return new RunAbortedError(message);
  return new WatchedRunError(String(message), { name: String(name ?? 'Error'), code: code as string | undefined });
}

function jsonOrNull(value: unknown): unknown {
  try {
    return toJson(value) === undefined ? null : value;
  } catch {
    return null;
  }
}
