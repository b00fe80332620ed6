import { isObject } from '../../internal/json.js';
import type { McpServerDefinition } from '../config/definition.js';
import type { JsonRpcMessage } from '../transport/json-rpc.js';

/** Returns a copy of a value without secrets. Errors keep their class. */
export type Redact = <Value>(value: Value) => Value;

/** Returns the function that removes secrets from everything that a server sends. */
export function redactOf({ origin }: McpServerDefinition): Redact {
  return origin.redact ?? ((value) => value);
}

/** Fields that the protocol compares or counts. A secret that consists of digits must not change them. */
const PROTOCOL_FIELDS = ['code', 'progressToken', 'requestId'] as const;

/** Redacts the parameters, the result or the error of a message in place. */
export function redactMessage(message: JsonRpcMessage, redact: Redact): void {
  for (const [name, part] of Object.entries(message)) {
    if (!isObject(part)) continue;
    const kept = PROTOCOL_FIELDS.filter((field) => typeof part[field] === 'number').map((field) => [
      field,
      part[field],
    ]);
    Object.assign(message, { [name]: { ...redact(part), ...Object.fromEntries(kept) } });
  }
}
