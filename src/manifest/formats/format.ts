import type { LeveledProblem, ManifestProblem } from '../../internal/problem.js';
import type { ManifestContent, ManifestFormat } from '../extension.js';
import type { JsonDocument } from './strict-json.js';

/** The content of a manifest, and its problems. Without `content`, the manifest is refused for these problems. */
export interface ManifestReading {
  readonly content?: ManifestContent;
  readonly problems: readonly LeveledProblem[];
}

/** A parsed manifest: its content or its problems, and its warnings. */
export type ReadManifest = (
  | { readonly content: ManifestContent }
  | { readonly problems: readonly ManifestProblem[] }
) & {
  /** Hooks and servers that are left out. */
  readonly errors?: readonly ManifestProblem[];
  /** Parts that do not work as their author wrote them. */
  readonly warnings?: readonly ManifestProblem[];
};

/** The directory of a manifest, and the workspace. */
export interface ManifestPlace {
  readonly root: string;
  readonly workspaceDir: string;
}

/** The manifest format of one program. Each format is one object in its own file. */
export interface Format {
  readonly id: ManifestFormat;
  /** The path of the manifest file, relative to the extension. */
  readonly file: string;
  /** Returns true for a file of the same name that belongs to another program. Such a file is not read. */
  readonly isForeign?: (value: JsonDocument['value']) => boolean;
  /** Reads a manifest and the files that the manifest names. */
  readonly read: (document: JsonDocument, place: ManifestPlace) => Promise<ManifestReading>;
  /** True if a server with a `command` must have `args`. */
  readonly argsRequired: boolean;
  /** True if the front matter and the description of a skill may be missing. */
  readonly skillsDescribeThemselves: boolean;
  /** True if each extension package gets its own data directory. */
  readonly hasDataFolder: boolean;
}
