import { describeError, type KeelsonError } from '../../../errors.js';
import { isObject, type JsonObject, type JsonValue, toJson } from '../../../internal/json.js';
import { RunAbortedError } from '../../../lifecycle/run-failure.js';
import { withoutBytes } from '../../../state/record/entry-json.js';
import type { AgentEvent } from '../../agent-event.js';
import { WatchedRunError } from '../session-error.js';

/** The version of the events in a run log. */
const VERSION = 1;

/**
 * Converts an event to JSON for the run log. Drops the history and the nested runs of the result, and values that JSON
 * cannot represent. Bytes of images and files become base64 strings.
 */
export function eventToJson(event: AgentEvent): JsonObject {
  return { v: VERSION, ...plain(event) } as JsonObject;
}

function plain(event: AgentEvent): object {
  switch (event.type) {
    case 'run-start': {
      if (event.earlier === undefined) return event;
      const { message, results, ...earlier } = event.earlier;
      const packed = { message: withoutBytes(message), results: results.map(withoutBytes) };
      return { ...event, earlier: { ...earlier, ...packed } };
    }
    case 'model-end':
      return { ...event, response: event.response && withoutBytes(event.response) };
    case 'tool-delta':
      return { ...event, data: jsonOrNull(event.data) };
    case 'tool-end': {
      const { result, error } = event;
      return {
        ...event,
        result: result && withoutBytes(result),
        error: error === undefined ? error : errorToJson(error),
      };
    }
    case 'run-end': {
      if (event.result === undefined) return event;
      const { history: _history, nested: _nested, messages, output, ...result } = event.result;
      return { ...event, result: { ...result, messages: messages.map(withoutBytes), output: jsonOrNull(output) } };
    }
    default:
      return 'error' in event ? { ...event, error: errorToJson(event.error) } : event;
  }
}

/** Converts an event of the log back. Returns undefined for an event of a later version. */
export function eventFromJson(json: JsonValue): AgentEvent | undefined {
  if (!isObject(json) || json.v !== VERSION) return undefined;
  const { v: _version, ...event } = json as Record<string, unknown>;
  if (isObject(event.error)) event.error = errorFromJson(event.error);
  if (event.type === 'run-end' && isObject(event.result)) event.result = { ...event.result, history: [] };
  return event as unknown as AgentEvent;
}

/** Converts an error for a run log or a record: its name, its code and its message. */
export function errorToJson(error: unknown): JsonObject {
  if (error instanceof RunAbortedError) return { code: error.code, cause: causeToJson(error.cause) };
  const { name, code } = Object(error);
  return {
    message: describeError(error),
    ...(typeof name === 'string' && { name }),
    ...(typeof code === 'string' && { code }),
  };
}

function causeToJson(cause: unknown): JsonValue {
  return cause instanceof Error ? errorToJson(cause) : describeError(cause);
}

/** Converts an error back: a RunAbortedError, or a WatchedRunError for every other error. */
export function errorFromJson({ name, code, message, cause }: Readonly<Record<string, unknown>>): KeelsonError {
  if (code === 'ERR_RUN_ABORTED') return new RunAbortedError(isObject(cause) ? errorFromJson({ ...cause }) : cause);
  return new WatchedRunError(String(message), { name: String(name ?? 'Error'), code: code as string | undefined });
}

function jsonOrNull(value: unknown): unknown {
  try {
    return toJson(value) === undefined ? undefined : value;
  } catch {
    return null;
  }
}
