import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrent } from '../internal/map-concurrent.js';
import { diagnosticOf, type ManifestDiagnostic } from '../internal/problem.js';
import { isInside, realLocation } from '../process/files/location.js';
import { workspaceRoots } from '../process/files/workspace.js';
import { firstOfEach } from '../skills/first-of-each.js';
import type { ExtensionPackage, ExtensionPackageScope } from './extension.js';
import { type FolderReading, readExtensionFolder } from './extension-folder.js';

/** Options of `discoverExtensions`. */
export interface DiscoveryOptions extends Pick<FolderReading, 'compat' | 'workspaceDir'> {
  /** Directories that contain extension packages, the user's first. */
  readonly roots: readonly { readonly scope: ExtensionPackageScope; readonly folder: string }[];
  /** If true, a symbolic link in the user's directory may lead to an extension package elsewhere. */
  readonly followLinks: boolean;
}

/** The found extension packages in the order of loading, with diagnostics for ignored packages. */
export interface Discovery {
  readonly extensions: readonly ExtensionPackage[];
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/** Finds the extension packages of the user, then of the workspace, each sorted by directory name. Never rejects. */
export async function discoverExtensions(options: DiscoveryOptions): Promise<Discovery> {
  const diagnostics: ManifestDiagnostic[] = [];
  const report = (diagnostic: ManifestDiagnostic) => diagnostics.push(diagnostic);
  const folders: { path: string; scope: ExtensionPackageScope }[] = [];
  for (const root of options.roots) folders.push(...(await listFolders(root, { ...options, report })));
  const distinct = firstOfEach(folders, ({ path }) => path);
  const results = await mapConcurrent(distinct, ({ path, scope }) => readExtensionFolder(path, { ...options, scope }));
  diagnostics.push(...results.flatMap((result) => result.diagnostics));
  const found = results.flatMap(({ extension }) => extension ?? []);
  // A link in the user's directory may lead to a package of the workspace, so the order of directories is not enough.
  const ordered = [...found.filter(isOfUser), ...found.filter((other) => !isOfUser(other))];
  const nameOf = ({ name }: ExtensionPackage) => name.toLowerCase();
  const extensions = firstOfEach(ordered, nameOf, (other, holder) => report(nameTaken(other, holder)));
  return { extensions, diagnostics };
}

function isOfUser({ scope }: ExtensionPackage): boolean {
  return scope === 'user';
}

interface Listing extends DiscoveryOptions {
  readonly report: (diagnostic: ManifestDiagnostic) => void;
}

async function listFolders({ scope, folder }: DiscoveryOptions['roots'][number], options: Listing) {
  const real = realLocation(folder);
  const workspace = workspaceRoots(options.workspaceDir);
  const entries = await readdir(real, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') options.report(ignored(folder, `the directory cannot be listed: ${error.message}`));
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
      const problem = `the link leads to ${path}, outside of the extensions directory. Copy the extension there, or set \`followLinks\` for the user's directory`;
      options.report(ignored(join(folder, entry.name), problem));
      continue;
    }
    // A directory inside the workspace has the scope `workspace`, even if it was found through a link in the user's
    // directory.
    folders.push({ path, scope: workspace.some((root) => isInside(path, root)) ? 'workspace' : scope });
  }
  return folders;
}

function nameTaken({ name: extension, source }: ExtensionPackage, taken: ExtensionPackage): ManifestDiagnostic {
  const message = `it is ignored, because ${taken.source} of the ${taken.scope} has the same name. Rename one of them.`;
  return diagnosticOf('error', { extension, source }, [{ path: 'name', message }]);
}

function ignored(source: string, problem: string): ManifestDiagnostic {
  return diagnosticOf('warning', { source }, [{ path: '', message: `it is ignored: ${problem}` }]);
}
