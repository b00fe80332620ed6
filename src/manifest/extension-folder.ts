import { basename, join } from 'node:path';
import { diagnosticOf, diagnosticsOf, type ManifestDiagnostic } from '../internal/problem.js';
import { resolveInside } from '../process/files/relative-path.js';
import { known } from '../programs/cell.js';
import { programOf } from '../programs/list.js';
import type { ExtensionPackage, ExtensionPackageScope, ManifestFormat } from './extension.js';
import type { ManifestReading } from './formats/format.js';
import { FORMATS, formatOf } from './formats/list.js';
import { readJsonFile } from './formats/strict-json.js';

/** Options of `readExtensionFolder`. */
export interface FolderReading {
  readonly scope: ExtensionPackageScope;
  /** Manifest formats of other programs to read as well. */
  readonly compat: readonly Exclude<ManifestFormat, 'native'>[];
  readonly workspaceDir: string;
}

/** The extension package in a directory, with diagnostics. A directory without a manifest usually has neither. */
export interface FolderResult {
  readonly extension?: ExtensionPackage;
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/**
 * Reads the extension package in a directory. `root` must not contain links. Never rejects: problems are returned as
 * diagnostics.
 */
export async function readExtensionFolder(root: string, reading: FolderReading): Promise<FolderResult> {
  const { workspaceDir } = reading;
  const diagnostics: ManifestDiagnostic[] = [];
  let found: { readonly extension: ExtensionPackage; readonly file: string } | undefined;
  let hasManifest = false;
  for (const { id: format, file, isForeign, read: readFormat } of (['native', ...reading.compat] as const).map(
    formatOf,
  )) {
    const manifest = await readJsonFile(root, file);
    if (manifest === undefined || ('value' in manifest && isForeign?.(manifest.value))) continue;
    hasManifest = true;
    const source = join(root, file);
    if (found !== undefined) {
      const message = `it is ignored: ${found.file} in the same directory is used instead`;
      diagnostics.push(diagnosticOf('info', { source, extension: found.extension.name }, [{ path: '', message }]));
      continue;
    }
    const read = 'problems' in manifest ? manifest : await readFormat(manifest, { root, workspaceDir });
    const result = resultOf(read, { root, source, format, scope: reading.scope });
    diagnostics.push(...result.diagnostics);
    if (result.extension) found = { extension: result.extension, file };
  }
  if (!hasManifest) return readWithoutManifest(root, reading);
  if (found === undefined) return { diagnostics };
  // Beside a valid manifest, an error in another manifest becomes a warning: many packages have a `manifest.json` of an
  // unknown program.
  const isOther = ({ level, source }: ManifestDiagnostic) => level === 'error' && source !== found?.extension.source;
  const shown = diagnostics.map((one) => (isOther(one) ? { ...one, level: 'warning' as const } : one));
  return { diagnostics: shown, extension: found.extension };
}

/**
 * Reads a directory without a manifest as a package with the name of the directory, if a program of `compat` allows
 * this. If only another program allows this, returns a diagnostic.
 */
async function readWithoutManifest(root: string, reading: FolderReading): Promise<FolderResult> {
  const formats = await Promise.all(
    FORMATS.map(async (format) => {
      const parts = known(programOf(format.id)?.packages?.parts, []);
      const found = await Promise.all(parts.map((part) => resolveInside(root, part)));
      return found.some((path) => path !== undefined) ? [format] : [];
    }),
  );
  const [format] = formats.flat();
  if (format === undefined) return { diagnostics: [] };
  const { id, file } = format;
  const source = join(root, file);
  if (!reading.compat.some((wanted) => wanted === id)) {
    const message = `it is ignored: it looks like a package of ${programOf(id)?.name} without a manifest; name "${id}" in \`compat\` to read it`;
    const level = (await resolveInside(root, 'hooks')) === undefined ? 'warning' : 'error';
    return { diagnostics: [diagnosticOf(level, { source, extension: basename(root) }, [{ path: '', message }])] };
  }
  const document = { value: { name: basename(root) }, lost: [] };
  const read = await format.read(document, { root, workspaceDir: reading.workspaceDir });
  return resultOf(read, { root, source, format: id, scope: reading.scope });
}

function resultOf(
  { content, problems }: ManifestReading,
  place: Pick<ExtensionPackage, 'root' | 'source' | 'format' | 'scope'>,
): FolderResult {
  const diagnostics = diagnosticsOf(
    { source: place.source, extension: content?.name ?? basename(place.root) },
    problems,
  );
  return content === undefined ? { diagnostics } : { extension: { ...content, ...place }, diagnostics };
}
