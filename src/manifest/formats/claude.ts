import { isObject, type JsonObject, type JsonValue } from '../../internal/json.js';
import { type Replacements, replaceTexts } from '../../internal/placeholder.js';
import { missingPaths, problemOfRelativePath, resolveInside } from '../../process/files/relative-path.js';
import { SKILL_FILE } from '../../skills/file.js';
import type { SettingValue } from '../../skills/skill.js';
import { EXTENSION_PATH } from '../../trust/item.js';
import type { SettingDefinition } from '../extension.js';
import {
  type CompatFolder,
  type CompatFormat,
  type CompatManifest,
  compatServer,
  readCompatManifest,
  serversIn,
} from './compat.js';
import { type KeyRules, PLAIN_KEYS, type Report, reportKeys } from './keys.js';

const KEYS: KeyRules = {
  read: ['name', 'version', 'description', 'hooks', 'mcpServers', 'skills', 'commands', 'userConfig'],
  plain: [...PLAIN_KEYS, '$schema', 'displayName', 'category', 'tags', 'icon', 'logo', 'themes'],
  unsupported: ['agents', 'lspServers', 'outputStyles', 'monitors', 'workflows', 'dependencies', 'channels'],
};
const UNSUPPORTED_PARTS = ['agents', 'workflows', 'output-styles', 'monitors', 'bin', '.lsp.json', 'settings.json'];
const OPTION_KEYS: KeyRules = {
  read: ['title', 'description', 'type', 'sensitive', 'required', 'default'],
  plain: [],
  unsupported: ['multiple', 'options', 'min', 'max'],
};
const OPTION_PREFIX = 'CLAUDE_PLUGIN_OPTION_';

/** The manifest format of Claude Code plugins. */
export const claude: CompatFormat = {
  id: 'claude',
  file: '.claude-plugin/plugin.json',
  read: (document, place) => readCompatManifest(document, place, claude),
  readFolder: readClaudeManifest,
  argsRequired: false,
  skillsDescribeThemselves: true,
  hasDataFolder: true,
};

async function readClaudeManifest(folder: CompatFolder): Promise<CompatManifest> {
  const { manifest, workspaceDir, root, report } = folder;
  reportKeys(manifest, KEYS, { report });
  const settings = settingsOf(manifest.userConfig, report);
  const replacements = replacementsFor(settings, workspaceDir);
  const hooks = pathsAndRest(manifest.hooks);
  const hookFiles = await checkedPaths(hooks.paths, 'hooks', folder);
  const skillPaths = await pathsIn('skills', folder);
  const commandPaths = await pathsIn('commands', folder);
  const servers = await serversOf(folder);
  return {
    content: {
      mcpServers: Object.fromEntries(
        servers.map(([name, server]) => [name, withRoot(compatServer(replaceTexts(server, replacements)))]),
      ),
      settings,
      skills: [],
      skillFolders: (await isSkillItself(root, manifest)) ? ['.'] : ['skills', ...skillPaths],
      commandPaths: ['commands', ...commandPaths],
      contextFiles: [],
      excludedTools: [],
    },
    hookFiles: ['hooks/hooks.json', ...hookFiles],
    inlineHooks: hooks.rest,
    unsupported: UNSUPPORTED_PARTS,
  };
}

/** True if the plugin's own directory is a skill. False for a plugin with a `skills` directory or key. */
async function isSkillItself(root: string, { skills }: JsonObject): Promise<boolean> {
  if (skills !== undefined || (await resolveInside(root, 'skills')) !== undefined) return false;
  return (await resolveInside(root, SKILL_FILE)) !== undefined;
}

/**
 * Returns the replacements for placeholders. A placeholder of an option becomes an environment variable, whose value is
 * read only when the text is used.
 */
function replacementsFor(settings: readonly SettingDefinition[], workspaceDir: string): Replacements {
  const options = settings.map(({ name, envVar }) => [`user_config.${name}`, `\${${envVar}}`] as const);
  const folders = { CLAUDE_PLUGIN_ROOT: EXTENSION_PATH, CLAUDE_PROJECT_DIR: workspaceDir };
  return { ...folders, ...Object.fromEntries(options) };
}

function withRoot(server: JsonObject): JsonObject {
  if (server.command === undefined) return server;
  const env = isObject(server.env) ? (server.env as JsonObject) : {};
  return { ...server, env: { CLAUDE_PLUGIN_ROOT: EXTENSION_PATH, ...env } };
}

function settingsOf(value: JsonValue | undefined, report: Report): readonly SettingDefinition[] {
  if (value !== undefined && !isObject(value))
    report('warning', 'userConfig', 'it must be an object of options, so it is ignored');
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, entry]): SettingDefinition[] => {
    const ignore = (path: string, expected: string) =>
      report('warning', `userConfig.${path}`, `it must be ${expected}, so it is ignored`);
    if (!isObject(entry) || !/^[A-Za-z_]\w{0,63}$/.test(name)) {
      ignore(name, 'an object under a name of letters, digits and "_"');
      return [];
    }
    const { title, description, sensitive, required } = entry;
    const type = entry.type === 'number' || entry.type === 'boolean' ? entry.type : 'string';
    const hasDefault = typeof entry.default === type;
    if (entry.default !== undefined && !hasDefault) ignore(`${name}.default`, `a ${type}`);
    reportKeys(entry, OPTION_KEYS, { report, at: ['userConfig', name] });
    return [
      {
        name,
        description: String(description || title || name),
        envVar: OPTION_PREFIX + name.toUpperCase(),
        type,
        sensitive: sensitive === true,
        required: required === true,
        default: hasDefault ? (entry.default as SettingValue) : undefined,
      },
    ];
  });
}

/**
 * Reads servers from the manifest, from files that it names, and from `.mcp.json`, with or without an enclosing
 * `mcpServers` key.
 */
async function serversOf(folder: CompatFolder) {
  const { manifest, readJson, report } = folder;
  const { paths, rest } = pathsAndRest(manifest.mcpServers);
  const named = await checkedPaths(paths, 'mcpServers', folder);
  const files = [...new Set(['.mcp.json', ...named])];
  const read = await Promise.all(files.map(async (file) => [file, await readJson(file)] as const));
  return [...read, ...rest.map((map) => ['mcpServers', map] as const)].flatMap(([path, map]) =>
    serversIn(isObject(map) && isObject(map.mcpServers) ? (map.mcpServers as JsonObject) : map, path, report),
  );
}

function pathsIn(key: string, folder: CompatFolder): Promise<readonly string[]> {
  const { paths, rest } = pathsAndRest(folder.manifest[key]);
  if (rest.length > 0) folder.report('warning', key, 'each path must be a string; other values are ignored');
  return checkedPaths(paths, key, folder);
}

function pathsAndRest(value: JsonValue | undefined): { paths: readonly string[]; rest: readonly JsonValue[] } {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value ?? []].flat();
  return {
    paths: list.filter((item) => typeof item === 'string'),
    rest: list.filter((item) => typeof item !== 'string'),
  };
}

/**
 * Returns the valid relative paths, and reports the others. An invalid path of hooks is an error, because it may lose a
 * guard.
 */
async function checkedPaths(paths: readonly string[], key: string, { root, report }: CompatFolder): Promise<string[]> {
  const inside: string[] = [];
  const level = key === 'hooks' ? 'error' : 'warning';
  for (const path of paths) {
    const problem = problemOfRelativePath(path);
    if (problem === undefined) inside.push(path.replace(/^\.\//, '') || '.');
    else report(level, key, problem);
  }
  for (const { path, message } of await missingPaths(root, { paths: inside, key })) report(level, path, message);
  return inside;
}
