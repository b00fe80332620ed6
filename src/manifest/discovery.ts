import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrent } from '../internal/map-concurrent.js';
import type { ManifestDiagnostic } from '../internal/problem.js';
import { isInside, realLocation } from '../process/files/location.js';
import { workspaceRoots } from '../process/files/workspace.js';
import type { ExtensionPackage, ExtensionPackageScope } from './extension.js';
import { type FolderReading, readExtensionFolder } from './extension-folder.js';

/** Where extensions are looked for. */
export interface DiscoveryOptions extends Pick<FolderReading, 'compat' | 'workspaceDir'> {
  /** The folders that hold extensions, the user's first. */
  readonly roots: readonly { readonly scope: ExtensionPackageScope; readonly folder: string }[];
  /** Whether a link in the user's folder may lead to an extension elsewhere. */
  readonly followLinks: boolean;
}

/** What was found, in the order of loading, and what was passed over. */
export interface Discovery {
  readonly extensions: readonly ExtensionPackage[];
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/** Finds the extensions of the user, then those of the workspace, each by the names of their folders. Never rejects. */
export async function discoverExtensions(options: DiscoveryOptions): Promise<Discovery> {
  const diagnostics: ManifestDiagnostic[] = [];
  const byName = new Map<string, ExtensionPackage>();
  const seen = new Set<string>();
  for (const root of options.roots) {
    const folders = await listFolders(root, { ...options, report: (told) => diagnostics.push(told) });
    const fresh = folders.filter(({ path }) => !seen.has(path) && seen.add(path));
    const results = await mapConcurrent(fresh, ({ path, scope }) => readExtensionFolder(path, { ...options, scope }));
    for (const { extension, diagnostics: told } of results) {
      diagnostics.push(...told);
      if (extension === undefined) continue;
      const key = extension.name.toLowerCase();
      const taken = byName.get(key);
      if (taken === undefined) byName.set(key, extension);
      else diagnostics.push(nameTaken(extension, taken));
    }
  }
  return { extensions: [...byName.values()], diagnostics };
}

interface Listing extends DiscoveryOptions {
  readonly report: (diagnostic: ManifestDiagnostic) => void;
}

async function listFolders({ scope, folder }: DiscoveryOptions['roots'][number], options: Listing) {
  const real = realLocation(folder);
  const workspace = workspaceRoots(options.workspaceDir);
  const entries = await readdir(real, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') options.report(passedOver(folder, `it could not be listed: ${error.message}`));
    return [];
  });
  const folders: { path: string; scope: ExtensionPackageScope }[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const isLink = entry.isSymbolicLink();
    if (!isLink && !entry.isDirectory()) continue;
    const own = join(real, entry.name);
    const path = isLink ? await realpath(own).catch(() => undefined) : own;
    if (path === undefined) continue;
    if (isLink && !isInside(path, real) && !(scope === 'user' && options.followLinks)) {
      const problem = `it leads to ${path}, out of the folder of extensions`;
      options.report(passedOver(join(folder, entry.name), problem));
      continue;
    }
    // Whoever can write there decides what it is.
    folders.push({ path, scope: workspace.some((root) => isInside(path, root)) ? 'workspace' : scope });
  }
  return folders;
}

function nameTaken({ name, source }: ExtensionPackage, taken: ExtensionPackage): ManifestDiagnostic {
  const message = `Extension "${name}" (${source}) is left out: ${taken.source} of the ${taken.scope} has that name.`;
  return { level: 'error', message, extension: name, source, problems: [{ path: 'name', message: 'it is taken' }] };
}

function passedOver(source: string, problem: string): ManifestDiagnostic {
  const message = `${source} is passed over: ${problem}`;
  return { level: 'warning', message, source, problems: [{ path: '', message: problem }] };
}
