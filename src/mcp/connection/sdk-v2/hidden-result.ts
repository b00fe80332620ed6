import { isObject } from '../../../internal/json.js';
import type { JsonRpcMessage } from '../../transport/json-rpc.js';
import type { McpAnswer } from '../options.js';

/** A result of every method that the SDK accepts. */
const EMPTY = {
  resultType: 'complete',
  ...{ tools: [], resources: [], resourceTemplates: [], prompts: [], content: [], contents: [], messages: [] },
};

/**
 * Puts the result of a message into a field of an empty one. The SDK would refuse a whole list because of one invalid entry,
 * and a whole answer because of content of an unknown type. Questions to the user and revisions stay, since the SDK reads them.
 */
export function hideResult(message: JsonRpcMessage): void {
  if (!('result' in message)) return;
  const { result } = message;
  const { resultType, supportedVersions, ttlMs, cacheScope } = result;
  if (resultType === 'input_required' || supportedVersions !== undefined) return;
  const lifetime = Number.isSafeInteger(ttlMs) && Number(ttlMs) > 0 ? { ttlMs, cacheScope: 'private' } : NO_LIFETIME;
  const scope = cacheScope === 'public' ? { cacheScope } : {};
  Object.assign(message, { result: { ...EMPTY, ...lifetime, ...scope, hidden: result } });
}

const NO_LIFETIME = { ttlMs: 0, cacheScope: 'private' };

/** Returns the result that `hideResult` put away. */
export function shownResult(answer: McpAnswer): McpAnswer {
  return isObject(answer.hidden) ? answer.hidden : answer;
}
