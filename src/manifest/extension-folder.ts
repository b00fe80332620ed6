import { basename, join } from 'node:path';
import { type ManifestDiagnostic, type ManifestProblem, problemsText } from '../internal/problem.js';
import type { ExtensionPackage, ExtensionPackageScope, ManifestFormat } from './extension.js';
import type { ReadManifest } from './formats/format.js';
import { FORMATS, formatOf } from './formats/list.js';
import { readJsonFile } from './formats/strict-json.js';

/** Options of `readExtensionFolder`. */
export interface FolderReading {
  readonly scope: ExtensionPackageScope;
  /** Manifest formats of other programs to read as well. */
  readonly compat: readonly Exclude<ManifestFormat, 'native'>[];
  readonly workspaceDir: string;
}

/** The extension package in a directory, with diagnostics. Both are empty if the directory contains no manifest. */
export interface FolderResult {
  readonly extension?: ExtensionPackage;
  readonly diagnostics: readonly ManifestDiagnostic[];
}

/**
 * Reads the extension package in a directory. `root` must not contain links. Never rejects: problems are returned as
 * diagnostics.
 */
export async function readExtensionFolder(root: string, reading: FolderReading): Promise<FolderResult> {
  const diagnostics: ManifestDiagnostic[] = [];
  let found: { readonly extension: ExtensionPackage; readonly file: string } | undefined;
  const own = FORMATS.filter(({ isOptIn }) => !isOptIn);
  for (const { id: format, file, isForeign, read: readFormat } of [...own, ...reading.compat.map(formatOf)]) {
    const manifest = await readJsonFile(root, file);
    if (manifest === undefined || ('value' in manifest && isForeign?.(manifest.value))) continue;
    if (found !== undefined) {
      const message = `it is ignored: ${found.file} in the same directory is used instead`;
      diagnostics.push(diagnose('info', { root, file, extension: found.extension.name }, [{ path: '', message }]));
      continue;
    }
    const read: ReadManifest =
      'problems' in manifest ? manifest : await readFormat(manifest, { root, workspaceDir: reading.workspaceDir });
    const extension =
      'content' in read ? { ...read.content, scope: reading.scope, format, root, source: join(root, file) } : undefined;
    diagnostics.push(...diagnosticsOf(read, { root, file, extension: extension?.name ?? basename(root) }));
    if (extension) found = { extension, file };
  }
  if (found === undefined) return { diagnostics };
  // A `manifest.json` of an unknown program is common beside a valid manifest.
  const isOther = ({ level, source }: ManifestDiagnostic) => level === 'error' && source !== found?.extension.source;
  const shown = diagnostics.map((one) => (isOther(one) ? { ...one, level: 'warning' as const } : one));
  return { diagnostics: shown, extension: found.extension };
}

interface Place {
  readonly root: string;
  readonly file: string;
  readonly extension: string;
}

function diagnosticsOf(read: ReadManifest, place: Place): readonly ManifestDiagnostic[] {
  if ('problems' in read) return [diagnose('error', place, read.problems)];
  const { errors = [], warnings = [], notes = [] } = read;
  return [
    ...(errors.length > 0 ? [diagnose('error', place, errors)] : []),
    ...(warnings.length > 0 ? [diagnose('warning', place, warnings)] : []),
    ...(notes.length > 0 ? [diagnose('info', place, notes)] : []),
  ];
}

function diagnose(
  level: ManifestDiagnostic['level'],
  { root, file, extension }: Place,
  problems: readonly ManifestProblem[],
): ManifestDiagnostic {
  const source = join(root, file);
  const message = `Extension "${extension}" (${source}): ${problemsText(problems)}`;
  return { level, message, extension, source, problems };
}
