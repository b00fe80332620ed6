import { dirname, isAbsolute } from 'node:path';
import type { Executable } from '../../process/executable.js';
import { isInside, realLocation } from '../../process/files/location.js';
import type { TrustItem, TrustPlace, TrustScope } from '../item.js';

/** The workspace as it was named, and without links. */
export interface Workspace {
  readonly named: string;
  readonly real: string;
}

/**
 * Whose an item is. What a loader takes for the user's becomes the workspace's where its definition, its folder or its
 * program lies in the workspace, by name or with links followed. What the host gives itself stays the host's.
 */
export function resolveScope(item: TrustItem, workspace: Workspace, executable: Executable | undefined): TrustScope {
  if (item.scope !== 'user') return item.scope === 'builtin' ? 'builtin' : 'workspace';
  const own = [item.source, item.root].filter((path) => path !== undefined);
  const program = executable === undefined ? [] : [executable.path, executable.realPath];
  const places = [...own, ...own.map((path) => realLocation(path)), ...program];
  // Most often both are one.
  const roots = [...new Set([workspace.named, workspace.real])];
  return places.some((path) => roots.some((root) => isInside(path, root))) ? 'workspace' : 'user';
}

/** What the relative paths of an item are relative to. Those of a user's definition never lead into the workspace. */
export function baseOf({ root, scope, source }: TrustItem, { workspaceDir }: TrustPlace): string {
  if (root !== undefined) return root;
  return scope === 'user' && source !== undefined && isAbsolute(source) ? dirname(source) : workspaceDir;
}
