import type { McpServerOrigin } from '../../mcp/config/definition.js';
import { formatOf } from '../formats/list.js';
import type { JudgedExtension } from './trust-items.js';

/** Returns the origin of the servers of an extension package, without its settings. */
export function originOf(
  { extension, scope }: JudgedExtension,
  workspaceDir: string,
): McpServerOrigin & { readonly extension: string } {
  const { name, source, root, format } = extension;
  const { argsRequired, urlMeans } = formatOf(format);
  // A package of the user keeps its precedence if the host treats it as one of the workspace.
  const precedence = extension.scope;
  return { scope, precedence, source, root, extension: name, workspaceDir, argsRequired, urlMeans };
}
