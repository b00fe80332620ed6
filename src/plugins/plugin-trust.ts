import { readFile, stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import type { JsonValue } from '../internal/json.js';
import { copyData } from './copy-data.js';
import { PluginUntrustedError } from './plugin-error.js';

/** A file that a gate is asked about. All paths but `source` are relative to the workspace. */
export interface PluginItem {
  readonly kind: 'plugin';
  readonly scope: 'workspace';
  readonly name: string;
  /** The configuration file, absolute. */
  readonly source: string;
  /** What would be imported. */
  readonly files: readonly string[];
  /** The options of its entry. */
  readonly details: Readonly<Record<string, JsonValue | undefined>>;
}

/** What a gate says. */
export interface PluginDecision {
  readonly allowed: boolean;
  /** Why not. */
  readonly message?: string | undefined;
}

/** What is needed of a gate. The one that all parts share fits. */
export interface PluginGate {
  /** Decides whether a file may be imported. */
  authorize(item: PluginItem): Promise<PluginDecision>;
  /** Checks, right before the import, that it still is what was decided on. */
  verify?(decision: never): Promise<PluginDecision>;
}

/** Who judges files that were found in the workspace. */
export interface PluginTrust {
  readonly gate: PluginGate | undefined;
  readonly workspaceDir: string;
}

/** A file that is about to be imported. */
export interface UntrustedFile {
  readonly path: string;
  /** The configuration file that names it. */
  readonly source: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

const MOST_FILES = 1_000;

/**
 * Asks the gate about a file of the workspace and what it imports from there, right before it is imported. Throws
 * PluginUntrustedError where it says no, and where there is no gate.
 */
export async function authorizeImport(file: UntrustedFile, { gate, workspaceDir }: PluginTrust): Promise<void> {
  const { path, source, details = {} } = file;
  if (gate === undefined) {
    throw new PluginUntrustedError(path, 'there is no gate to ask. Name the file in `config`, or give a `gate`.');
  }
  const name = relative(workspaceDir, path).replaceAll(sep, '/');
  const files = (await filesOf(path)).map((it) => relative(workspaceDir, it).replaceAll(sep, '/'));
  const decision = await gate.authorize({
    ...({ kind: 'plugin', scope: 'workspace' } as const),
    ...{ name, source, files, details: copyData(details) as PluginItem['details'] },
  });
  validateDecision(decision, path);
  if (gate.verify) validateDecision(await gate.verify(decision as never), path);
}

/** Only a clear yes is one. */
function validateDecision(decision: PluginDecision | undefined, path: string): void {
  if (decision?.allowed !== true) throw new PluginUntrustedError(path, decision?.message ?? 'it was not approved.');
}

/** A file and all that it imports by a relative path, as far as its text tells. */
async function filesOf(path: string): Promise<string[]> {
  const found = new Set([path]);
  for (const file of found) {
    if (found.size > MOST_FILES) throw new PluginUntrustedError(path, `it imports more than ${MOST_FILES} files`);
    if (!/\.[cm]?[jt]sx?$/.test(file)) continue;
    const text = await readFile(file, 'utf8').catch(() => '');
    for (const specifier of specifiersIn(text)) {
      for (const imported of await filesAt(resolve(dirname(file), specifier))) found.add(imported);
    }
  }
  return [...found];
}

function specifiersIn(text: string): string[] {
  const found = text.matchAll(
    /\b(?:from|import|require)\s*(?:(?:\(|\/\*[^*]{0,500}\*\/)\s*){0,20}(['"`])(\.{1,2}\/[^'"`\n]{0,500})\1/g,
  );
  return [...found].map(([, , specifier = '']) => specifier);
}

const KINDS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'];
const ENDS = ['', ...KINDS, ...KINDS.map((kind) => `/index${kind}`)];

/** Every file that a path without its end may mean: which of them it is depends on who imports it. */
async function filesAt(path: string): Promise<string[]> {
  const typed = path.replace(/\.([cm]?)js(x?)$/, '.$1ts$2');
  const candidates = new Set([...ENDS.map((end) => path + end), typed]);
  const found = await Promise.all([...candidates].map((candidate) => stat(candidate).catch(() => undefined)));
  return [...candidates].filter((_candidate, at) => found[at]?.isFile());
}
