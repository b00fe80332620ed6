import { cloneData } from '../../internal/plain-data.js';
import type { ModelRequest } from '../../model/model.js';

const KEPT = ['toolChoice', 'output', 'settings', 'signal', 'onPart'] as const;

/** Copies a request with its messages and tools, which may change later. The signal and the callback are shared. */
export function copyRequest(request: ModelRequest): ModelRequest {
  const copy: Record<string, unknown> = {
    messages: cloneData(request.messages),
    // Copies only the fields that a model is given, since a tool may be any object.
    tools: request.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  };
  for (const key of KEPT) if (request[key] !== undefined) copy[key] = request[key];
  return copy as unknown as ModelRequest;
}
