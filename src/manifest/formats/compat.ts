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
import { namedSchema } from './native-schema.js';
import { problemsOfIssues } from './schema-issue.js';
import { type JsonDocument, readJsonFile } from './strict-json.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

/** A manifest of another program, with the folder that it lies in. */
export interface CompatFolder extends ManifestPlace {
  readonly manifest: JsonObject;
  /** Reads a JSON file of the folder; undefined if it is missing. */
  readonly readJson: (path: string) => Promise<JsonValue | undefined>;
}

/** What was read of another program's manifest, and what of it is passed over. */
export interface CompatManifest {
  readonly content: Omit<ManifestContent, 'name' | 'version' | 'description' | 'hooks'>;
  /** The files that hooks are looked for in, relative to the extension, and hooks that stand in the manifest itself. */
  readonly hookFiles: readonly string[];
  readonly inlineHooks: readonly JsonValue[];
  /** Parts that may lie in the folder, and are not read. */
  readonly unread: readonly string[];
  /** Hooks that are left out: a missing gate looks like an idle one. */
  readonly errors: readonly ManifestProblem[];
  readonly warnings: readonly ManifestProblem[];
}

/** The rules for the manifests of another program. */
export interface CompatRules {
  readonly place: ManifestPlace;
  /** The dialect of its hooks. */
  readonly dialect: HookDialect;
  /** Whether hooks are given a folder for data. */
  readonly hasData: boolean;
  readonly read: (folder: CompatFolder) => CompatManifest | Promise<CompatManifest>;
}

/** Reads a manifest of another program into the content of ours. One bad entry is left out, and does not void the rest. */
export async function readCompatManifest(document: JsonDocument, rules: CompatRules): Promise<ReadManifest> {
  const { value, lost } = document;
  const named = namedSchema.safeParse(value);
  if (!named.success) return { problems: [...lost, ...problemsOfIssues(named.error.issues, value)] };
  const { name, version, description } = named.data;
  const { root } = rules.place;
  const files = new JsonFiles(root);
  const compat = await rules.read({ ...rules.place, manifest: value, readJson: (path) => files.read(path) });
  const { hooks, errors, warnings } = await readHooks(compat, { ...rules, extension: name }, files);
  const isVersion = typeof version === 'string' && version !== '';
  const noVersion = { path: 'version', message: 'it is missing; 0.0.0 is taken' };
  return {
    content: {
      ...compat.content,
      name,
      version: isVersion ? version : '0.0.0',
      description: typeof description === 'string' ? description : '',
      hooks,
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
  return found.flat().map((path) => ({ path, message: 'it is passed over' }));
}

/** Tells the keys of an object that nobody reads. */
export function warnUnread(
  value: object,
  known: readonly string[],
  warn: (key: string, message: string) => void,
): void {
  for (const key of Object.keys(value)) if (!known.includes(key)) warn(key, 'it is passed over');
}

/** Other JSON files of an extension. One that is there and cannot be read is a problem. */
class JsonFiles {
  readonly problems: ManifestProblem[] = [];
  readonly warnings: ManifestProblem[] = [];

  constructor(private readonly root: string) {}

  /** Keys that are lost are warnings, unless said otherwise. */
  async read(path: string, lost = this.warnings): Promise<JsonValue | undefined> {
    const parsed = await readJsonFile(this.root, path);
    if (parsed === undefined) return undefined;
    const [told, said] = 'value' in parsed ? [lost, parsed.lost] : [this.problems, parsed.problems];
    told.push(...said.map(({ path: inner, message }) => ({ path: `${path} ${inner}`.trim(), message })));
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
  const findSettings = createReferenceFinder(content.settings);
  const take = (value: JsonValue, path: string) => {
    const fail = (message: string) => void errors.push({ path, message });
    if (!isObject(value)) return fail('it must be an object');
    // Inline they may stand without the key that files have around them.
    const document = isObject(value.hooks) ? value : { hooks: value };
    const report = ({ level, message }: HookDiagnostic) => {
      if (level === 'error') fail(message);
      else if (level === 'warning') warnings.push({ path, message });
    };
    const source = { scope: 'workspace', source: join(root, path), extension } as const;
    for (const hook of parseHooks(document, { ...source, dialect, hasData, report }).hooks) {
      const refused = settingIn(hook, findSettings);
      if (refused === undefined) hooks.push(manifestHookOf(hook));
      else fail(`the hook "${hook.name}" is left out: ${refused} would put a setting into its command`);
    }
  };
  for (const path of new Set(hookFiles)) {
    const value = await files.read(path, files.problems);
    if (value !== undefined) take(value, path);
  }
  for (const value of inlineHooks) take(value, 'hooks');
  return { hooks, errors, warnings };
}

/** Where it comes from is said anew when it is registered. */
function manifestHookOf(registration: HookRegistration): ManifestHook {
  const { scope: _scope, source: _source, root: _root, extension: _extension, ...hook } = registration;
  return hook;
}

/** The part of a command that asks for the value of a setting. A shell may look up a variable by itself. */
function settingIn({ command, args = [], shell }: HookRegistration, findSettings: ReferenceFinder): string | undefined {
  const found = findSettings([command, ...args].join('\n'));
  return found.find(({ isVariable }) => !(shell && isVariable))?.text;
}
