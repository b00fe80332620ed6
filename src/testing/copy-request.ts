import type { ModelRequest } from '../model/model.js';

const KEPT = ['toolChoice', 'output', 'settings', 'signal', 'onPart'] as const;

/** A request as it is now: messages and tools are copied, the signal and the listener are the caller's own. */
export function copyRequest(request: ModelRequest): ModelRequest {
  const copy: Record<string, unknown> = {
    messages: copyData(request.messages),
    // A run may offer its tools as they are: what they can do is no part of what the model is told.
    tools: request.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  };
  for (const key of KEPT) if (request[key] !== undefined) copy[key] = request[key];
  return copy as unknown as ModelRequest;
}

/** A deep copy of plain objects and arrays; everything else, such as bytes, is kept as it is. */
export function copyData<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyData) as T;
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copyData(entry)])) as T;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
