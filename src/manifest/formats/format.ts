import type { ManifestProblem } from '../../internal/problem.js';
import type { ManifestContent, ManifestFormat } from '../extension.js';
import type { JsonDocument } from './strict-json.js';

/** A manifest that was read: its content, or all that is wrong with it, and what was passed over. */
export type ReadManifest = (
  | { readonly content: ManifestContent }
  | { readonly problems: readonly ManifestProblem[] }
) & {
  /** Parts that are left out. */
  readonly errors?: readonly ManifestProblem[];
  readonly warnings?: readonly ManifestProblem[];
};

/** The folder that a manifest lies in. */
export interface ManifestPlace {
  readonly root: string;
  readonly workspaceDir: string;
}

/** How the manifests of one program are read. A program's format is one object in one file. */
export interface Format {
  readonly id: ManifestFormat;
  /** The file of the manifest, relative to the extension. */
  readonly file: string;
  /** Whether the host has to name the format in `compat`. */
  readonly isOptIn: boolean;
  /** Reads a manifest and the files that it names. */
  readonly read: (document: JsonDocument, place: ManifestPlace) => Promise<ReadManifest>;
  /** Whether a server that is a program must list its arguments. */
  readonly argsRequired: boolean;
  /** The transport of a server that has a `url` alone. */
  readonly urlMeans: 'sse' | 'http';
  /** Whether an extension is given a folder for data of its own. */
  readonly hasDataFolder: boolean;
}
