import type { TrustItem } from '../../trust/item.js';
import type { McpServerDefinition } from './definition.js';
import { variablesIn } from './expansion.js';
import { isPrivateUrl } from './server-url.js';

/** A server as the gate judges it: its texts unexpanded, and the variables that would be read named. */
export function trustItemOf(definition: McpServerDefinition): TrustItem {
  const { name, transport, command, args, env, cwd, url, headers, origin } = definition;
  const { includeTools, excludeTools, callTimeoutMs } = definition;
  const { scope, extension, source, root } = origin;
  const base = { kind: 'mcp-server', scope, name, extension, source, root, reads: variablesOf(definition) } as const;
  const about = { transport, includeTools, excludeTools, timeoutMs: callTimeoutMs };
  if (transport === 'stdio') return { ...base, command, args, env, cwd, details: about };
  return { ...base, details: { ...about, url, headers, private: isPrivateUrl(url ?? '') } };
}

/** The variables that a server's configuration names. */
export function variablesOf(definition: McpServerDefinition): readonly string[] {
  const { command = '', cwd = '', args, env, url = '', headers, origin } = definition;
  // What a gate judges has its program and its folder named outright.
  const own = origin.scope === 'builtin' ? [command, cwd] : [];
  return variablesIn([...own, ...args, ...Object.values(env), url, ...Object.values(headers)]);
}
