import { cloneData } from '../../internal/plain-data.js';
import type { ModelRequest } from '../../model/model.js';

const KEPT = ['toolChoice', 'output', 'settings', 'signal', 'onPart'] as const;

/** A request as it is now: messages and tools are copied, the signal and the listener are the caller's own. */
export function copyRequest(request: ModelRequest): ModelRequest {
  const copy: Record<string, unknown> = {
    messages: cloneData(request.messages),
    // A run may offer its tools as they are: what they can do is no part of what the model is told.
    tools: request.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  };
  for (const key of KEPT) if (request[key] !== undefined) copy[key] = request[key];
  return copy as unknown as ModelRequest;
}
