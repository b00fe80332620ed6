import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
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

/** Creates the data directory. A failure is ignored here; the plugin gets the error when it writes. */
export async function makeDataFolder(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => {});
}
