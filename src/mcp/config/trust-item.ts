import type { TrustItem } from '../../trust/item.js';
import type { McpServerDefinition } from './definition.js';
import { variablesIn } from './expansion.js';
import { isPrivateUrl } from './server-url.js';

/** Describes a server for the trust gate: its strings before expansion, and the names of the variables in them. */
export function trustItemOf(definition: McpServerDefinition): TrustItem {
  const { name, transport, command, args, env, cwd, url, headers, origin } = definition;
  const { includeTools, excludeTools, callTimeoutMs, protocol } = definition;
  const { scope, extension, source, root } = origin;
  const base = { kind: 'mcp-server', scope, name, extension, source, root, reads: variablesOf(definition) } as const;
  const details = { transport, includeTools, excludeTools, timeoutMs: callTimeoutMs, protocol };
  if (transport === 'stdio') return { ...base, command, args, env, cwd, details };
  return { ...base, details: { ...details, url, headers, private: isPrivateUrl(url ?? '') } };
}

export function variablesOf(definition: McpServerDefinition): readonly string[] {
  const { command = '', cwd = '', args, env, url = '', headers, origin } = definition;
  // For a server that needs a decision of the trust gate, variables in `command` and `cwd` are not expanded.
  const own = origin.scope === 'builtin' ? [command, cwd] : [];
  return variablesIn([...own, ...args, ...Object.values(env), url, ...Object.values(headers)]);
}
