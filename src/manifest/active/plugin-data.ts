import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { ExtensionPackage } from '../extension.js';
import { formatOf } from '../formats/list.js';

/**
 * Returns the data directory of an extension package, inside the user's directory. Each workspace has its own.
 * Undefined if the manifest format has no data directory.
 */
export function dataFolder({ name, root, scope, format }: ExtensionPackage, userDir: string): string | undefined {
  if (!formatOf(format).hasDataFolder) return undefined;
  const owner = scope === 'user' ? 'user' : createHash('sha256').update(root).digest('hex').slice(0, 32);
  return join(userDir, 'extension-data', owner, name);
}
