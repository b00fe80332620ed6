import { dirname, join } from 'node:path';
import { isInside } from '../../process/files/location.js';
import { ItemUnboundError } from '../error.js';
import { EXTENSION_PATH, EXTENSION_VARIABLE, type TrustItem, type TrustPlace } from '../item.js';
import { type LocatedItem, locateItem, validateEnvironment, validateItem } from '../launch.js';
import { type BoundFile, type FileReading, sha256Of } from './bound-file.js';
import { type BoundFiles, bindFiles, type KnownVariables } from './bound-files.js';
import { type CanonicalValue, canonicalJson } from './canonical-json.js';

/** An item with its fingerprint, which covers its definition and all its files. */
export interface Fingerprint extends LocatedItem, BoundFiles {
  /**
   * `sha256:` and 64 hexadecimal digits: a hash of the kind, `/v2`, a line feed and the canonical JSON of `document`.
   */
  readonly digest: string;
  readonly document: { readonly [key: string]: CanonicalValue };
}

/** Computes the fingerprint of an item. Rejects with an `ItemUnboundError` if the item or a file cannot be read. */
export async function fingerprintItem(item: TrustItem, place: TrustPlace, reading?: FileReading): Promise<Fingerprint> {
  validateItem(item);
  return fingerprintLocated(locateItem(item, place), place, reading);
}

/** Computes the fingerprint of an item from its location, as `fingerprintItem` does. */
export async function fingerprintLocated(
  located: LocatedItem,
  place: TrustPlace,
  reading: FileReading = {},
): Promise<Fingerprint> {
  const { item, scope, workspace, source, root, cwd, executable } = located;
  if (scope === 'workspace') validateEnvironment(item);
  const around =
    scope === 'user' && source !== undefined
      ? ({ in: 'definition', named: dirname(item.source ?? source), real: dirname(source) } as const)
      : ({ in: 'workspace', named: place.workspaceDir, real: workspace } as const);
  const variables = variablesOf(located, place);
  const places = { around, root, cwd, program: executable?.path, limits: place.limits, variables };
  const bound = await bindFiles(item, places, reading);
  const document = {
    ...definitionOf(item),
    scope,
    source,
    root,
    files: bound.files,
    // A user's item has the same fingerprint in every workspace.
    workspace: scope === 'workspace' ? workspace : undefined,
    cwd: scope === 'workspace' ? cwd : item.cwd,
    executable: programOf(located, bound.files, around.real),
  };
  const digest = `sha256:${sha256Of(`${item.kind}/v2\n${canonicalJson(document)}`)}`;
  return { ...located, ...bound, digest, document };
}

function definitionOf(item: TrustItem): { readonly [key: string]: CanonicalValue } {
  const { kind, name, event, extension, command, args, shell, env, cwd, reads, files, details } = item;
  return { kind, name, event, extension, command, args, shell, env, cwd, reads, patterns: files, details };
}

/** Returns the variables that the host replaces in the command line or sets for the program. */
function variablesOf({ item, root }: LocatedItem, { workspaceDir, projectVariable }: TrustPlace): KnownVariables {
  const isServer = item.kind === 'mcp-server';
  const project = isServer ? 'workspaceFolder' : projectVariable;
  const variables: Record<string, string> = {};
  if (project !== undefined) variables[project] = workspaceDir;
  if (!isServer) Object.assign(variables, item.env);
  if (root === undefined) return variables;
  const inExtension = (value: string) => value.replaceAll(EXTENSION_PATH, () => root);
  const values = Object.entries(variables).map(([name, value]) => [name, inExtension(value)]);
  return { ...Object.fromEntries(values), [EXTENSION_VARIABLE]: root };
}

/** Identifies the program by its content if it is one of the item's files, and otherwise by its path. */
function programOf(
  { item, executable, root }: LocatedItem,
  files: readonly BoundFile[],
  around: string,
): CanonicalValue {
  if (executable === undefined) return undefined;
  const path = executable.realPath;
  if (![around, root].some((folder) => folder !== undefined && isInside(path, folder))) return { path };
  const found = files.find((file) => {
    const folder = file.in === 'extension' && root !== undefined ? root : around;
    return join(folder, file.target ?? file.path) === path;
  });
  if (found?.sha256 !== undefined) return { path, sha256: found.sha256 };
  throw new ItemUnboundError('unreadable', `${path} is the program of "${item.name}", but is missing from its files.`);
}
