import { isObject, type JsonValue } from '../../internal/json.js';
import { mapTexts, replaceTexts } from '../../internal/placeholder.js';
import type { ManifestProblem } from '../../internal/problem.js';
import { isRefusedName } from '../../process/environment.js';
import { problemOfRelativePath } from '../../process/files/relative-path.js';
import type { SettingDefinition } from '../extension.js';
import { type CompatManifest, readCompatManifest } from './compat.js';
import { compatServer, relativeToExtension, serversIn } from './compat-server.js';
import type { Format } from './format.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

/** Extensions of Gemini CLI. */
export const gemini: Format = {
  id: 'gemini',
  file: 'gemini-extension.json',
  isOptIn: true,
  read: (document, place) =>
    readCompatManifest(document, {
      ...{ place, dialect: 'gemini', hasData: false },
      read: ({ manifest, workspaceDir }) => readGeminiManifest(manifest, workspaceDir),
    }),
  argsRequired: false,
  urlMeans: 'sse',
  hasDataFolder: false,
};

const KNOWN = ['name', 'version', 'description', 'mcpServers', 'contextFileName', 'excludeTools', 'settings'];
const CONTEXT_FILE = 'GEMINI.md';

/** Reads a `gemini-extension.json` as it is. Entries that cannot be used are left out with a warning. */
function readGeminiManifest(manifest: JsonObject, workspaceDir: string): CompatManifest {
  const warnings: ManifestProblem[] = [];
  const value = replaceTexts(manifest, { '/': '/', pathSeparator: '/', workspacePath: workspaceDir });
  for (const key of Object.keys(value)) {
    if (!KNOWN.includes(key)) warnings.push({ path: key, message: 'it is passed over' });
  }
  return {
    content: {
      mcpServers: Object.fromEntries(
        serversIn(value.mcpServers, 'mcpServers', warnings).map(([name, server]) => [
          name,
          compatServer(splitCommand(withoutTrust(withBraces(server)))),
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
    unread: ['commands', 'agents', 'policies'],
    errors: [],
    warnings,
  };
}

/** Variables go without braces there too: `$TOKEN` is `${TOKEN}`. */
function withBraces(server: JsonObject): JsonObject {
  return mapTexts(server, (text) => text.replace(/\$([A-Za-z_]\w*)/g, '$${$1}'));
}

function withoutTrust({ trust: _trust, ...server }: JsonObject): JsonObject {
  return server;
}

/** A command and its arguments in one text, as they are often written there. No shell reads it. */
function splitCommand(server: JsonObject): JsonObject {
  const { command, args } = server;
  if (typeof command !== 'string' || args !== undefined) return server;
  const words = command.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  const [program = command, ...rest] = words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
  return { ...server, command: program, args: rest };
}

function settingsOf(value: JsonValue | undefined, warnings: ManifestProblem[]): readonly SettingDefinition[] {
  const names = new Set<string>();
  return listOf(value, 'settings', warnings).flatMap((entry, index): SettingDefinition[] => {
    const path = `settings[${index}]`;
    if (!isObject(entry) || typeof entry.name !== 'string' || entry.name === '') {
      warnings.push({ path, message: 'it has no name, and is left out' });
      return [];
    }
    const { name, description, envVar, sensitive } = entry;
    if (names.has(name)) {
      warnings.push({ path: `${path}.name`, message: `"${name}" is there already, and the setting is left out` });
      return [];
    }
    names.add(name);
    if (typeof envVar === 'string' && (!/^[A-Za-z_]\w*$/.test(envVar) || isRefusedName(envVar))) {
      warnings.push({ path: `${path}.envVar`, message: `${envVar} may not be set, and the setting is left out` });
      return [];
    }
    const text = typeof description === 'string' && description !== '' ? description : name;
    return [
      {
        name,
        description: text,
        ...(typeof envVar === 'string' && { envVar }),
        ...(sensitive === true && { sensitive }),
      },
    ];
  });
}

function contextFilesOf(value: JsonValue | undefined, warnings: ManifestProblem[]): readonly string[] {
  const named = value === '' ? [CONTEXT_FILE] : listOf(value ?? CONTEXT_FILE, 'contextFileName', warnings);
  return named.flatMap((entry) => {
    const file = typeof entry === 'string' ? relativeToExtension(entry) : entry;
    const problem = typeof file === 'string' ? problemOfRelativePath(file) : 'it is no text';
    if (problem !== undefined) warnings.push({ path: 'contextFileName', message: problem });
    return typeof file === 'string' && problem === undefined ? [file] : [];
  });
}

/** `tool(arguments)` excludes part of a tool, which cannot be told here: the whole tool stays out. */
function excludedToolsOf(value: JsonValue | undefined, warnings: ManifestProblem[]): readonly string[] {
  return listOf(value, 'excludeTools', warnings).flatMap((tool) => {
    if (typeof tool !== 'string') {
      warnings.push({ path: 'excludeTools', message: `${JSON.stringify(tool)} is no name of a tool` });
      return [];
    }
    const [, name = tool, part] = /^([^(]+)\((.*)\)$/.exec(tool) ?? [];
    if (part !== undefined) warnings.push({ path: 'excludeTools', message: `${tool} excludes ${name} as a whole` });
    return [name];
  });
}

/** A text is a list of one. */
function listOf(value: JsonValue | undefined, path: string, warnings: ManifestProblem[]): readonly JsonValue[] {
  if (Array.isArray(value) || typeof value === 'string') return [value].flat();
  if (value !== undefined && value !== null) warnings.push({ path, message: 'it is no list, and is passed over' });
  return [];
}
