import type { JsonValue } from '../internal/json.js';
import { EXTENSION_PATH } from '../trust/trust-item.js';
import { compatServer, type Replacements, replaceTexts } from './compat-text.js';
import type { SettingDefinition, SettingValue } from './extension.js';
import type { CompatManifest } from './gemini-manifest.js';
import type { ManifestProblem } from './manifest-problem.js';
import { problemOfRelativePath, resolveInside } from './relative-path.js';
import { SKILL_FILE } from './skill-file.js';
import { isObject } from './strict-json.js';

type JsonObject = Readonly<Record<string, JsonValue>>;

const KNOWN = ['name', 'version', 'description', 'author', 'homepage', 'repository', 'license', 'keywords', '$schema'];
const READ = ['displayName', 'category', 'tags', 'hooks', 'mcpServers', 'skills', 'userConfig'];
const OPTION_PREFIX = 'CLAUDE_PLUGIN_OPTION_';

/** A plugin's manifest, with the `.mcp.json` that lies beside it, if there is one. */
export interface ClaudePlugin {
  readonly manifest: JsonObject;
  /** Reads a JSON file of the plugin; undefined where there is none. */
  readonly readJson: (path: string) => Promise<JsonValue | undefined>;
  readonly workspaceDir: string;
  readonly root: string;
}

/** Reads a `.claude-plugin/plugin.json` as it is. Entries that cannot be used are left out with a warning. */
export async function readClaudeManifest({
  manifest,
  readJson,
  workspaceDir,
  root,
}: ClaudePlugin): Promise<CompatManifest> {
  const warnings: ManifestProblem[] = [];
  for (const key of Object.keys(manifest)) {
    if (!KNOWN.includes(key) && !READ.includes(key)) warnings.push({ path: key, message: 'it is passed over' });
  }
  const settings = settingsOf(manifest.userConfig, warnings);
  const replacements = replacementsFor(settings, workspaceDir);
  const maps = await serverMaps(manifest.mcpServers, { readJson, warnings });
  const servers = maps.flatMap((map) => Object.entries(map)).filter(([, server]) => isObject(server));
  const hooks = pathsAndRest(manifest.hooks);
  const skillPaths = checkedPaths(pathsAndRest(manifest.skills).paths, 'skills', warnings);
  return {
    content: {
      mcpServers: Object.fromEntries(
        servers.map(([name, server]) => [
          name,
          withRoot(compatServer(replaceTexts(server as JsonObject, replacements))),
        ]),
      ),
      settings,
      skills: [],
      skillFolders: (await isSkillItself(root, manifest)) ? ['.'] : ['skills', ...skillPaths],
      contextFiles: [],
      excludedTools: [],
    },
    hookFiles: ['hooks/hooks.json', ...checkedPaths(hooks.paths, 'hooks', warnings)],
    inlineHooks: hooks.rest,
    unread: ['commands', 'agents', 'output-styles', 'themes', 'monitors', '.lsp.json'],
    warnings,
  };
}

/** A plugin without a folder of skills may be one skill. */
async function isSkillItself(root: string, { skills }: JsonObject): Promise<boolean> {
  if (skills !== undefined || (await resolveInside(root, 'skills')) !== undefined) return false;
  return (await resolveInside(root, SKILL_FILE)) !== undefined;
}

/** Values of options stay in the environment: in a text they are looked up there as it is used. */
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

function settingsOf(value: JsonValue | undefined, warnings: ManifestProblem[]): readonly SettingDefinition[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, entry]): SettingDefinition[] => {
    if (!isObject(entry) || !/^[A-Za-z_]\w{0,63}$/.test(name) || name === '__proto__') {
      warnings.push({ path: `userConfig.${name}`, message: 'it is no option with a plain name, and is left out' });
      return [];
    }
    const { title, description, sensitive, required } = entry;
    const type = typeOf(entry.type);
    const hasDefault = typeof entry.default === type;
    if (entry.default !== undefined && !hasDefault) {
      warnings.push({ path: `userConfig.${name}.default`, message: `it is no ${type}, and does not count` });
    }
    const texts = [description, title, name].filter((text) => typeof text === 'string' && text !== '');
    return [
      {
        ...{ name, description: String(texts[0]), envVar: OPTION_PREFIX + name, type },
        ...(sensitive === true && { sensitive }),
        ...(required === true && { required }),
        ...(hasDefault && { default: entry.default as SettingValue }),
      },
    ];
  });
}

function typeOf(type: unknown): 'string' | 'number' | 'boolean' {
  return type === 'number' || type === 'boolean' ? type : 'string';
}

interface ServerSources {
  readonly readJson: ClaudePlugin['readJson'];
  readonly warnings: ManifestProblem[];
}

/** Inline, in a file, in several files; and in `.mcp.json`. With or without `mcpServers` around them. */
async function serverMaps(value: JsonValue | undefined, { readJson, warnings }: ServerSources): Promise<JsonObject[]> {
  const { paths, rest } = pathsAndRest(value);
  const files = ['.mcp.json', ...checkedPaths(paths, 'mcpServers', warnings)];
  const read = await Promise.all([...new Set(files)].map(readJson));
  return [...read, ...rest].flatMap((map) => {
    if (!isObject(map)) return [];
    return [(isObject(map.mcpServers) ? map.mcpServers : map) as JsonObject];
  });
}

function pathsAndRest(value: JsonValue | undefined): { paths: readonly string[]; rest: readonly JsonValue[] } {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value ?? []].flat();
  return {
    paths: list.filter((item) => typeof item === 'string'),
    rest: list.filter((item) => typeof item !== 'string'),
  };
}

function checkedPaths(paths: readonly string[], key: string, warnings: ManifestProblem[]): readonly string[] {
  return paths.flatMap((path) => {
    const problem = problemOfRelativePath(path);
    if (problem === undefined) return [path.replace(/^\.\//, '') || '.'];
    warnings.push({ path: key, message: problem });
    return [];
  });
}
