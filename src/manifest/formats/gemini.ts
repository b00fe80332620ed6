import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { mapTexts, replaceTexts } from '../../internal/placeholder.js';
import { problemsText } from '../../internal/problem.js';
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
import { type KeyRules, PLAIN_KEYS, type Report, reportKeys } from './keys.js';
import { settingEntry } from './native-schema.js';
import { parseAs } from './schema-issue.js';

/** The manifest format of Gemini CLI extensions. */
export const gemini: CompatFormat = {
  id: 'gemini',
  file: 'gemini-extension.json',
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

function readGeminiManifest({ manifest, workspaceDir, report }: CompatFolder): CompatManifest {
  const value = replaceTexts(manifest, { '/': '/', pathSeparator: '/', workspacePath: workspaceDir });
  reportKeys(value, KEYS, { report });
  return {
    content: {
      mcpServers: Object.fromEntries(
        serversIn(value.mcpServers, 'mcpServers', report).map(([name, { trust: _trust, ...server }]) => [
          name,
          compatServer(splitCommand(withBraces(server))),
        ]),
      ),
      settings: settingsOf(value.settings, report),
      skills: [],
      skillFolders: ['skills'],
      commandPaths: [],
      contextFiles: contextFilesOf(value.contextFileName, report),
      excludedTools: excludedToolsOf(value.excludeTools, report),
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

function settingsOf(value: JsonValue | undefined, report: Report): readonly SettingDefinition[] {
  const settings = new Map<string, SettingDefinition>();
  for (const [index, entry] of listOf(value, 'settings', report).entries()) {
    const { name, description, envVar, sensitive } = isObject(entry) ? entry : {};
    const read = parseAs(settingEntry, { name, description: description || name, envVar, sensitive });
    const ignore = (problem: string) => report('warning', `settings[${index}]`, `it is ignored: ${problem}`);
    if ('problems' in read) ignore(problemsText(read.problems));
    else if (settings.has(read.data.name)) ignore(`the name "${read.data.name}" is already used by an earlier setting`);
    else settings.set(read.data.name, read.data);
  }
  return [...settings.values()];
}

function contextFilesOf(value: JsonValue | undefined, report: Report): readonly string[] {
  const named = value === '' ? [CONTEXT_FILE] : listOf(value ?? CONTEXT_FILE, 'contextFileName', report);
  return named.flatMap((entry) => {
    const file = typeof entry === 'string' ? relativeToExtension(entry) : entry;
    const problem = typeof file === 'string' ? problemOfRelativePath(file) : 'each file must be a string';
    if (problem !== undefined) report('warning', 'contextFileName', problem);
    return typeof file === 'string' && problem === undefined ? [file] : [];
  });
}

/**
 * An entry such as `tool(arguments)` excludes only some calls. Keelson cannot tell them apart, so it excludes the whole
 * tool.
 */
function excludedToolsOf(value: JsonValue | undefined, report: Report): readonly string[] {
  const warn = (message: string) => report('warning', 'excludeTools', message);
  return listOf(value, 'excludeTools', report).flatMap((tool) => {
    if (typeof tool !== 'string') {
      warn(`each tool name must be a string, got ${JSON.stringify(tool)}`);
      return [];
    }
    const [, name = tool, part] = /^([^(]+)\((.*)\)$/.exec(tool) ?? [];
    if (part !== undefined) warn(`${tool} excludes the whole tool ${name}, because arguments are not supported`);
    return [name];
  });
}

function listOf(value: JsonValue | undefined, path: string, report: Report): readonly JsonValue[] {
  if (Array.isArray(value) || typeof value === 'string') return [value].flat();
  if (value !== undefined && value !== null) report('warning', path, 'it must be an array, so it is ignored');
  return [];
}
