import { relative, sep } from 'node:path';
import type { JsonValue } from '../internal/json.js';
import { cloneData } from '../internal/plain-data.js';
import { PluginUntrustedError } from './error.js';
import { filesOf } from './imports.js';

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
  /** More files and folders that it consists of, absolute. */
  readonly files?: readonly string[];
  /** The directory of its package. The approval covers all code in there. */
  readonly folder?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Asks the gate about a file of the workspace and the files that it consists of, right before it is imported. Throws
 * PluginUntrustedError when the gate says no, when there is no gate, and when those files cannot be told.
 */
export async function authorizeImport(file: UntrustedFile, { gate, workspaceDir }: PluginTrust): Promise<void> {
  const { path, source, files: named = [], folder, details = {} } = file;
  if (gate === undefined) {
    throw new PluginUntrustedError(path, 'there is no gate to ask. Name the file in `config`, or give a `gate`.');
  }
  const name = relative(workspaceDir, path).replaceAll(sep, '/');
  const found = await filesOf({ path, workspaceDir, named, folder });
  const files = found.map((it) => relative(workspaceDir, it).replaceAll(sep, '/'));
  const decision = await gate.authorize({
    ...({ kind: 'plugin', scope: 'workspace' } as const),
    ...{ name, source, files, details: cloneData(details) as PluginItem['details'] },
  });
  validateDecision(decision, path);
  if (gate.verify) validateDecision(await gate.verify(decision as never), path);
}

/** Only a clear yes is one. */
function validateDecision(decision: PluginDecision | undefined, path: string): void {
  if (decision?.allowed !== true) throw new PluginUntrustedError(path, decision?.message ?? 'it was not approved.');
}
