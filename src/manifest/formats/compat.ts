import { join } from 'node:path';
import { isObject, type JsonValue } from '../../internal/json.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { resolveInside } from '../../process/files/relative-path.js';
import type { HookDiagnostic } from '../../shell-hooks/files/diagnostic.js';
import { parseHooks } from '../../shell-hooks/files/hook-file.js';
import type { HookRegistration } from '../../shell-hooks/hook/definition.js';
import type { HookDialect } from '../../shell-hooks/hook/event.js';
import type { ManifestContent, ManifestHook } from '../extension.js';
import { createReferenceFinder, type ReferenceFinder } from '../settings/reference.js';
import type { ManifestPlace, ReadManifest } from './format.js';
import { hookDialectOf } from './hook-dialect.js';
import { namedSchema } from './native-schema.js';
import { problemsOfIssues } from './schema-issue.js';
import { type JsonDocument, readJsonFile } from './strict-json.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

/** A manifest of another program, and its directory. */
export interface CompatFolder extends ManifestPlace {
  readonly manifest: JsonObject;
  /** Reads a JSON file of the directory. Resolves to undefined if the file is missing. */
  readonly readJson: (path: string) => Promise<JsonValue | undefined>;
}

/** The content of another program's manifest, with its problems. */
export interface CompatManifest {
  readonly content: Omit<ManifestContent, 'name' | 'version' | 'description' | 'hooks'>;
  /** Hook files, relative to the extension. `inlineHooks` are the hooks in the manifest itself. */
  readonly hookFiles: readonly string[];
  readonly inlineHooks: readonly JsonValue[];
  /** Files and directories that Keelson does not read. A warning names the existing ones. */
  readonly unread: readonly string[];
  /** Ignored hooks. These are errors, because a missing guard looks like a guard that has nothing to block. */
  readonly errors: readonly ManifestProblem[];
  readonly warnings: readonly ManifestProblem[];
}

/** The properties of another program's manifest format. */
export interface CompatRules {
  readonly place: ManifestPlace;
  /** The dialect of the program's hooks. */
  readonly dialect: HookDialect;
  /** True if hooks get a data directory. */
  readonly hasData: boolean;
  readonly read: (folder: CompatFolder) => CompatManifest | Promise<CompatManifest>;
}

/**
 * Converts another program's manifest to the content of a native manifest. An invalid entry is left out, and the other
 * entries are kept.
 */
export async function readCompatManifest(document: JsonDocument, rules: CompatRules): Promise<ReadManifest> {
  const { value, lost } = document;
  const named = namedSchema.safeParse(value);
  if (!named.success) return { problems: [...lost, ...problemsOfIssues(named.error.issues, value)] };
  const { name, version, description } = named.data;
  const { root } = rules.place;
  const files = new JsonFiles(root);
  const compat = await rules.read({ ...rules.place, manifest: value, readJson: (path) => files.read(path) });
  const { hooks, lostGuards, errors, warnings } = await readHooks(compat, { ...rules, extension: name }, files);
  const isVersion = typeof version === 'string' && version !== '';
  const noVersion = { path: 'version', message: 'it is missing, so 0.0.0 is used' };
  return {
    content: {
      ...compat.content,
      name,
      version: isVersion ? version : '0.0.0',
      description: typeof description === 'string' ? description : '',
      hooks,
      ...(lostGuards.length > 0 && { lostGuards }),
    },
    errors: [...files.problems, ...compat.errors, ...errors],
    warnings: [
      ...lost,
      ...files.warnings,
      ...(isVersion ? [] : [noVersion]),
      ...compat.warnings,
      ...warnings,
      ...(await unreadParts(compat, root)),
    ],
  };
}

async function unreadParts({ unread }: CompatManifest, root: string): Promise<readonly ManifestProblem[]> {
  const found = await Promise.all(unread.map(async (path) => ((await resolveInside(root, path)) ? [path] : [])));
  return found.flat().map((path) => ({ path, message: 'it is not supported, so it is ignored' }));
}

/** Warns about each unknown key of an object. */
export function warnUnread(
  value: object,
  known: readonly string[],
  warn: (key: string, message: string) => void,
): void {
  for (const key of Object.keys(value)) if (!known.includes(key)) warn(key, 'it is not supported, so it is ignored');
}

/** Reads further JSON files of an extension package. An existing file that cannot be read is a problem. */
class JsonFiles {
  readonly problems: ManifestProblem[] = [];
  readonly warnings: ManifestProblem[] = [];

  constructor(private readonly root: string) {}

  /** Duplicate or forbidden keys are added to `lost`, by default as warnings. */
  async read(path: string, lost = this.warnings): Promise<JsonValue | undefined> {
    const parsed = await readJsonFile(this.root, path);
    if (parsed === undefined) return undefined;
    const [target, found] = 'value' in parsed ? [lost, parsed.lost] : [this.problems, parsed.problems];
    target.push(...found.map(({ path: inner, message }) => ({ path: `${path} ${inner}`.trim(), message })));
    return 'value' in parsed ? parsed.value : undefined;
  }
}

async function readHooks(
  { content, hookFiles, inlineHooks }: CompatManifest,
  { place: { root }, dialect, hasData, extension }: CompatRules & { extension: string },
  files: JsonFiles,
) {
  const hooks: ManifestHook[] = [];
  const errors: ManifestProblem[] = [];
  const warnings: ManifestProblem[] = [];
  const lostGuards: string[] = [];
  const findSettings = createReferenceFinder(content.settings);
  const take = (value: JsonValue, path: string) => {
    const fail = (message: string) => void errors.push({ path, message });
    if (!isObject(value)) return fail('it must be an object');
    // Inline hooks may omit the `hooks` key that hook files have.
    const document = isObject(value.hooks) ? value : { hooks: value };
    const report = ({ level, message }: HookDiagnostic) => {
      if (level === 'error') fail(message);
      else if (level === 'warning') warnings.push({ path, message });
    };
    const source = { scope: 'workspace', source: join(root, path), extension } as const;
    let guards = 0;
    const written = hookDialectOf(document, dialect);
    for (const hook of parseHooks(document, { ...source, dialect: written, hasData, report }).hooks) {
      const refused = settingIn(hook, findSettings);
      if (refused === undefined) {
        hooks.push(manifestHookOf(hook));
        if (hook.onFailure === 'block') guards += 1;
      } else
        fail(
          `the hook "${hook.name}" is ignored: ${refused} would put a setting into its command. Read it from the environment`,
        );
    }
    if (guards < countGuards(value)) lostGuards.push(path);
  };
  for (const path of new Set(hookFiles)) {
    const value = await files.read(path, files.problems);
    if (value !== undefined) take(value, path);
  }
  for (const value of inlineHooks) take(value, 'hooks');
  return { hooks, lostGuards, errors, warnings };
}

/** Counts the hooks with `onFailure: 'block'` in a value, at any depth. */
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

/**
 * Returns the part of a command that refers to a setting. Variables in a shell command are allowed, because the shell
 * reads them from the environment.
 */
function settingIn({ command, args = [], shell }: HookRegistration, findSettings: ReferenceFinder): string | undefined {
  const found = findSettings([command, ...args].join('\n'));
  return found.find(({ isVariable }) => !(shell && isVariable))?.text;
}
