import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { type HookDialect, type HookEvent, isGateEvent } from '../../programs/hook-event.js';
import { dialectOf } from '../../shell-hooks/dialects/dialect.js';
import { parseHooks } from '../../shell-hooks/files/hook-file.js';
import type { HookRegistration } from '../../shell-hooks/hook/definition.js';
import type { HookDiagnostic } from '../../shell-hooks/hook/diagnostic.js';
import type { ManifestHook, SettingDefinition } from '../extension.js';
import { createReferenceFinder } from '../settings/reference.js';
import type { Report } from './keys.js';
import { problemOfHook, settingInHook } from './refused.js';

/** A JSON document with hooks: a file of an extension package, or a value in its manifest. */
export interface HookDocument {
  readonly path: string;
  /** Undefined if the file is missing or unreadable. */
  readonly value: JsonValue | undefined;
}

/** The extension package that contains the hooks. */
interface HookOwner {
  readonly extension: string;
  /** The dialect of its manifest. */
  readonly dialect: HookDialect;
  readonly hasData: boolean;
  readonly settings: readonly SettingDefinition[];
  /** Receives the problems. If a hook that could block something cannot be used, the level is `error`. */
  readonly report: Report;
}

/** The hooks of an extension package. */
export interface CompatHooks {
  readonly hooks: ManifestHook[];
  /** Paths of the documents with `onFailure: 'block'` in a hook that cannot be used. */
  readonly unreadGuards: string[];
}

/** Reads the hooks of another program's extension package. An invalid hook is left out, and the other hooks are kept. */
export function readHooks(owner: HookOwner, documents: readonly HookDocument[]): CompatHooks {
  const read: CompatHooks = { hooks: [], unreadGuards: [] };
  for (const document of documents) readDocument(owner, document, read);
  return read;
}

function readDocument(
  { extension, dialect, hasData, settings, report }: HookOwner,
  { path, value }: HookDocument,
  { hooks, unreadGuards }: CompatHooks,
): void {
  if (value !== undefined && !isObject(value)) report('error', path, 'it must be an object');
  if (!isObject(value)) return;
  // Inline hooks may omit the `hooks` key that hook files have.
  const document = value.hooks === undefined ? { hooks: value } : value;
  const reportHook = ({ level, message }: HookDiagnostic) => {
    if (level !== 'info') report(level, path, message);
  };
  const source = { scope: 'workspace', extension, hasData, report: reportHook } as const;
  const findSettings = createReferenceFinder(settings);
  const parsed = parseHooks(document, { ...source, dialect: hookDialectOf(document, dialect) });
  let guards = 0;
  for (const hook of parsed.hooks.map(manifestHookOf)) {
    const problem = settingInHook(hook, findSettings) ?? problemOfHook(hook);
    if (problem === undefined) {
      hooks.push(hook);
      if (hook.onFailure === 'block') guards += 1;
    } else report(isGateEvent(hook.event as HookEvent) ? 'error' : 'warning', path, problem);
  }
  if (guards < countGuards(value)) unreadGuards.push(path);
}

function countGuards(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = isObject(value) && value.onFailure === 'block' ? 1 : 0;
  return Object.values(value).reduce<number>((sum, inner) => sum + countGuards(inner as JsonValue), own);
}

/** Drops the origin of a hook, which is set again when the hook is registered. */
function manifestHookOf(registration: HookRegistration): ManifestHook {
  const { scope: _scope, source: _source, root: _root, extension: _extension, ...hook } = registration;
  return hook;
}

/** The variables with the package's directory, by dialect. */
const ROOTS = { claude: 'CLAUDE_PLUGIN_ROOT', gemini: 'extensionPath' } as const;
const DIALECTS = ['claude', 'gemini'] as const;

/**
 * Returns the dialect of a hook file by its event names, or else by the variables in its commands. If both dialects
 * fit, returns `named`, the dialect of the manifest. The manifest alone cannot decide, because a package with manifests
 * of two programs has only one hook file.
 */
export function hookDialectOf({ hooks }: JsonObject, named: HookDialect): HookDialect {
  const events = isObject(hooks) ? Object.keys(hooks) : [];
  const text = JSON.stringify(hooks ?? null);
  // Events that only one program has. They include events that Keelson does not support.
  const byEvents = events.flatMap((name) =>
    only(DIALECTS.filter((id) => Object.hasOwn(dialectOf(id).facts.events, name))),
  );
  return only([...new Set(byEvents)])[0] ?? only(DIALECTS.filter((id) => text.includes(ROOTS[id])))[0] ?? named;
}

function only<Item>(items: readonly Item[]): readonly Item[] {
  return items.length === 1 ? items : [];
}
