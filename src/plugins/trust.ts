import { relative, sep } from 'node:path';
import type { JsonValue } from '../internal/json.js';
import { cloneData } from '../internal/plain-data.js';
import { PluginUntrustedError } from './error.js';
import { filesOf } from './imports.js';

/**
 * A plugin module or configuration file that a gate must approve. All paths except `source` are relative to the
 * workspace.
 */
interface PluginItem {
  readonly kind: 'plugin';
  readonly scope: 'workspace';
  readonly name: string;
  /** Absolute path of the configuration file. */
  readonly source: string;
  /** Every file that the approval covers. */
  readonly files: readonly string[];
  /** The `options`, `format` and package name of the plugin's entry. Empty for a configuration file. */
  readonly details: Readonly<Record<string, JsonValue | undefined>>;
}

/** The decision of a gate. */
export interface PluginDecision {
  readonly allowed: boolean;
  /** Reason for a denial. */
  readonly message?: string | undefined;
}

/** The methods of a trust gate that plugins use. A TrustGate has these methods. */
export interface PluginGate {
  /** Decides whether the file may be imported. */
  authorize(item: PluginItem): Promise<PluginDecision>;
  /** Checks right before the import that the files have not changed since the decision. */
  verify?(decision: never): Promise<PluginDecision>;
}

/** A workspace file to be approved before its import. */
interface UntrustedFile {
  readonly path: string;
  /** Absolute path of the configuration file that names this file. */
  readonly source: string;
  /** Absolute paths of further files and directories of the plugin. */
  readonly files?: readonly string[];
  /** The directory of the plugin's package. The approval covers all code in this directory. */
  readonly folder?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Asks the gate to approve a workspace file and the files that it imports. Call it right before the import. Throws a
 * PluginUntrustedError if the gate is missing or denies, or if the imported files cannot be determined.
 */
export async function authorizeImport(
  file: UntrustedFile,
  { gate, workspaceDir }: { readonly gate: PluginGate | undefined; readonly workspaceDir: string },
): Promise<void> {
  const { path, source, files: named = [], folder, details = {} } = file;
  if (gate === undefined) {
    throw new PluginUntrustedError(
      path,
      'it needs an approval, but no `gate` is set. Set `gate`, or name the file in `config` to trust it.',
    );
  }
  const name = relative(workspaceDir, path).replaceAll(sep, '/');
  const found = await filesOf({ path, workspaceDir, named, folder });
  const files = found.map((it) => relative(workspaceDir, it).replaceAll(sep, '/'));
  const item = { name, source, files, details: cloneData(details) as PluginItem['details'] };
  const decision = await gate.authorize({ kind: 'plugin', scope: 'workspace', ...item });
  validateDecision(decision, path);
  if (gate.verify) validateDecision(await gate.verify(decision as never), path);
}

/** Any value of `allowed` other than `true` is a denial. */
function validateDecision(decision: PluginDecision | undefined, path: string): void {
  if (decision?.allowed === true) return;
  const problem = decision?.message ?? 'it was not approved. Approve it in the prompt of the `gate`.';
  throw new PluginUntrustedError(path, problem);
}
