import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExtensionPackage } from '../extension.js';
import { formatOf } from '../formats/list.js';

/** The data folder of an extension: in the user's, apart from those of other workspaces. Undefined if its format has none. */
export function dataFolder({ name, root, scope, format }: ExtensionPackage, userDir: string): string | undefined {
  if (!formatOf(format).hasDataFolder) return undefined;
  const owner = scope === 'user' ? 'user' : createHash('sha256').update(root).digest('hex').slice(0, 32);
  return join(userDir, 'extension-data', owner, name);
}

/** Makes the folder; where that fails, the plugin finds out. */
export async function makeDataFolder(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => {});
}
