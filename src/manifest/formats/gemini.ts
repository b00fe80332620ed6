import { isObject, type JsonValue } from '../../internal/json.js';
import { mapTexts, replaceTexts } from '../../internal/placeholder.js';
import { type ManifestProblem, problemsText } from '../../internal/problem.js';
import { problemOfRelativePath } from '../../process/files/relative-path.js';
import type { SettingDefinition } from '../extension.js';
import {
  type CompatFolder,
  type CompatFormat,
  type CompatManifest,
  compatServer,
  readCompatManifest,
  relativeToExtension,
  serversIn,
} from './compat.js';
import { type KeyRules, PLAIN_KEYS, reportKeys } from './keys.js';
import { settingEntry } from './native-schema.js';
import { problemsOfIssues } from './schema-issue.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

/** The manifest format of Gemini CLI extensions. */
export const gemini: CompatFormat = {
  id: 'gemini',
  file: 'gemini-extension.json',
  isOptIn: true,
  read: (document, place) => readCompatManifest(document, place, gemini),
  readFolder: readGeminiManifest,
  argsRequired: false,
  skillsDescribeThemselves: false,
  hasDataFolder: false,
};

const KEYS: KeyRules = {
  read: ['name', 'version', 'description', 'mcpServers', 'contextFileName', 'excludeTools', 'settings'],
  plain: [...PLAIN_KEYS, '$schema', 'displayName', 'themes', 'migratedTo'],
  unsupported: ['plan'],
};
const CONTEXT_FILE = 'GEMINI.md';

function readGeminiManifest({ manifest, workspaceDir, problems }: CompatFolder): CompatManifest {
  const { warnings } = problems;
  const value = replaceTexts(manifest, { '/': '/', pathSeparator: '/', workspacePath: workspaceDir });
  reportKeys(value, KEYS, problems);
  return {
    content: {
      mcpServers: Object.fromEntries(
        serversIn(value.mcpServers, 'mcpServers', warnings).map(([name, { trust: _trust, ...server }]) => [
          name,
          compatServer(splitCommand(withBraces(server))),
        ]),
      ),
      settings: settingsOf(value.settings, warnings),
      skills: [],
      skillFolders: ['skills'],
      commandPaths: [],
      contextFiles: contextFilesOf(value.contextFileName, warnings),
      excludedTools: excludedToolsOf(value.excludeTools, warnings),
    },
    hookFiles: ['hooks/hooks.json'],
    inlineHooks: [],
    unsupported: ['commands', 'agents', 'policies'],
  };
}

/** Adds braces to variables: Gemini CLI allows `$TOKEN` for `${TOKEN}`. */
function withBraces(server: JsonObject): JsonObject {
  return mapTexts(server, (text) => text.replace(/\$([A-Za-z_]\w*)/g, '$${$1}'));
}

/** Splits a command string with arguments into `command` and `args`. Quotes are removed; no shell is involved. */
function splitCommand(server: JsonObject): JsonObject {
  const { command, args } = server;
  if (typeof command !== 'string' || args !== undefined) return server;
  const words = command.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  const [program = command, ...rest] = words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
  return { ...server, command: program, args: rest };
}

function settingsOf(value: JsonValue | undefined, warnings: ManifestProblem[]): readonly SettingDefinition[] {
  const settings = new Map<string, SettingDefinition>();
  for (const [index, entry] of listOf(value, 'settings', warnings).entries()) {
    const { name, description, envVar, sensitive } = isObject(entry) ? entry : {};
    const { data, error } = settingEntry.safeParse({ name, description: description || name, envVar, sensitive });
    const isTaken = data !== undefined && settings.has(data.name);
    const problem = isTaken
      ? `the name "${data.name}" is already used by an earlier setting`
      : problemsText(problemsOfIssues(error?.issues ?? [], entry));
    if (data === undefined || isTaken)
      warnings.push({ path: `settings[${index}]`, message: `it is ignored: ${problem}` });
    else settings.set(data.name, data);
  }
  return [...settings.values()];
}

function contextFilesOf(value: JsonValue | undefined, warnings: ManifestProblem[]): readonly string[] {
  const named = value === '' ? [CONTEXT_FILE] : listOf(value ?? CONTEXT_FILE, 'contextFileName', warnings);
  return named.flatMap((entry) => {
    const file = typeof entry === 'string' ? relativeToExtension(entry) : entry;
    const problem = typeof file === 'string' ? problemOfRelativePath(file) : 'each file must be a string';
    if (problem !== undefined) warnings.push({ path: 'contextFileName', message: problem });
    return typeof file === 'string' && problem === undefined ? [file] : [];
  });
}

/**
 * An entry such as `tool(arguments)` excludes only some calls. Keelson cannot tell them apart, so it excludes the whole
 * tool.
 */
function excludedToolsOf(value: JsonValue | undefined, warnings: ManifestProblem[]): readonly string[] {
  return listOf(value, 'excludeTools', warnings).flatMap((tool) => {
    if (typeof tool !== 'string') {
      warnings.push({ path: 'excludeTools', message: `each tool name must be a string, got ${JSON.stringify(tool)}` });
      return [];
    }
    const [, name = tool, part] = /^([^(]+)\((.*)\)$/.exec(tool) ?? [];
    if (part !== undefined)
      warnings.push({
        path: 'excludeTools',
        message: `${tool} excludes the whole tool ${name}, because arguments are not supported`,
      });
    return [name];
  });
}

function listOf(value: JsonValue | undefined, path: string, warnings: ManifestProblem[]): readonly JsonValue[] {
  if (Array.isArray(value) || typeof value === 'string') return [value].flat();
  if (value !== undefined && value !== null) warnings.push({ path, message: 'it must be an array, so it is ignored' });
  return [];
}
