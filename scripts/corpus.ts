/**
 * Loads published plugins, extensions, skills and hook files from a folder, and prints how many load, how many log a
 * warning, and why the others are refused. Starts none of their programs and fetches nothing:
 *
 *     npm run corpus -- <folder>
 *
 * The folder contains the directory trees of any number of repositories. Options: `--classes <n>` prints the n most
 * frequent messages of each level (default 25), `--list` prints each message with its source.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Agent } from '../src/index.js';
import { type ManifestOptions, manifests } from '../src/manifest/manifest.js';
import { mcpServers } from '../src/mcp/mcp.js';
import { dialectOf as dialectNamed } from '../src/shell-hooks/dialects/dialect.js';
import { type HookDialect, shellHooks } from '../src/shell-hooks/shell-hooks.js';
import { loadSkills } from '../src/skills/skills.js';
import { scriptedModel } from '../src/testing/testing.js';
import { createTrustGate } from '../src/trust/trust.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { classes: { type: 'string', default: '25' }, list: { type: 'boolean', default: false } },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error('Usage: npm run corpus -- <folder> [--classes <n>] [--list]');
  process.exit(1);
}

type Kind = 'plugins' | 'extensions' | 'skills' | 'hook files';
type Level = 'warning' | 'error' | 'refused';

/** One item of the corpus after loading. Unless it is refused, `errors` are lost parts of it, such as a hook. */
interface Loaded {
  readonly kind: Kind;
  readonly source: string;
  readonly isRefused: boolean;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

const scratch = mkdtempSync(join(tmpdir(), 'keelson-corpus-'));
const SKIPPED = new Set(['.git', 'node_modules']);

/** Returns the paths of all files below a directory. Follows no links. */
function filesIn(path: string): readonly string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const inner = join(path, entry.name);
    return entry.isDirectory() ? filesIn(inner) : [inner];
  });
}

/** A logger that keeps warnings and errors. */
function keeping() {
  const [warnings, errors]: [string[], string[]] = [[], []];
  const ignore = () => {};
  const logger = {
    debug: ignore,
    info: ignore,
    warn: (message: string) => void warnings.push(message),
    error: (message: string) => void errors.push(message),
  };
  return { logger, warnings, errors };
}

/** Loads one package as a package of the user. Its MCP servers are read but neither started nor contacted. */
async function loadPackage(root: string, kind: 'plugins' | 'extensions'): Promise<Loaded> {
  const { logger, warnings, errors } = keeping();
  const userDir = mkdtempSync(join(scratch, 'user-'));
  const workspaceDir = mkdtempSync(join(scratch, 'work-'));
  mkdirSync(join(userDir, 'extensions'));
  symlinkSync(root, join(userDir, 'extensions', 'package'));
  const gate = createTrustGate({ workspaceDir, stateDir: userDir, logger });
  const refuse = () => {
    throw Object.assign(new Error('The corpus starts no server.'), { code: 'ENOENT' });
  };
  // Errors of connecting say nothing about the file, so this loader has a logger of its own.
  const silent = {
    ...logger,
    error: () => {},
    warn: (text: string) => void (isAboutFile(text) && warnings.push(text)),
  };
  const system = { spawn: refuse as never, fetch: refuse as never, logger: silent };
  const mcp = mcpServers({ gate, workspaceDir, system, reconnect: false, waitForServers: true });
  const compat: ManifestOptions['compat'] = kind === 'plugins' ? ['claude', 'gemini'] : ['gemini', 'claude'];
  const options = { workspaceDir, userDir, gate, mcp, logger, compat, skillFolders: [], followLinks: true };
  const packages = manifests(options);
  const agent = new Agent({ model: scriptedModel([]), logger, loaders: [packages] });
  await agent.ready();
  const isRefused = packages.status().extensions.length === 0;
  await agent.close();
  return { kind, source: root, isRefused, warnings, errors };
}

function isAboutFile(message: string): boolean {
  return /ignored|not a supported variable/.test(message);
}

/** Loads the skills in the direct subdirectories of a directory. */
async function loadSkillsIn(parent: string, names: readonly string[]): Promise<readonly Loaded[]> {
  const workspaceDir = mkdtempSync(join(scratch, 'work-'));
  const gate = createTrustGate({ workspaceDir, stateDir: join(scratch, 'state') });
  const roots = [{ scope: 'user', folder: parent }] as const;
  const { entries, diagnostics } = await loadSkills({ gate, workspaceDir, roots });
  return names.map((name) => {
    const source = join(parent, name);
    const own = diagnostics.filter((one) => one.source === source || dirname(one.source) === source);
    const ofLevel = (level: string) => own.filter((one) => one.level === level).map(({ message }) => message);
    const isRefused = !entries.some(({ skill }) => dirname(skill.source) === source);
    return { kind: 'skills', source, isRefused, warnings: ofLevel('warning'), errors: ofLevel('error') };
  });
}

async function loadHookFile(path: string, dialect: HookDialect): Promise<Loaded> {
  const { logger, warnings, errors } = keeping();
  const workspaceDir = mkdtempSync(join(scratch, 'work-'));
  const file = { path, dialect, scope: 'user' } as const;
  const gate = createTrustGate({ workspaceDir, stateDir: join(scratch, 'state'), logger });
  const hooks = shellHooks({ workspaceDir, gate, files: [file], machine: { logger } });
  const failure = await hooks.reload().then(
    () => undefined,
    (error: Error) => error.message,
  );
  const isRefused = failure !== undefined || (errors.length > 0 && hooks.registry.list().length === 0);
  return { kind: 'hook files', source: path, isRefused, warnings, errors: [...errors, ...(failure ? [failure] : [])] };
}

/** Directories of programs whose hook files have a dialect of their own. The format of Windsurf is not supported. */
const PLACES: readonly (readonly [string, HookDialect | undefined])[] = [
  ['/.github/hooks/', 'copilot'],
  ['/.copilot/', 'copilot'],
  ['/.cursor/', 'cursor'],
  ['/.codex/', 'codex'],
  ['/.windsurf/', undefined],
];

/** Returns the dialect of a file with hooks; undefined for a file without hooks. */
function dialectOf(path: string): HookDialect | undefined {
  const isNamed =
    /(?:^|\/)hooks?[\w-]*\.json$|\/\.github\/hooks\/[^/]*\.json$/.test(path) ||
    /\.(?:claude|gemini)\/settings(?:\.local)?\.json$/.test(path);
  if (!isNamed) return undefined;
  const text = readFileSync(path, 'utf8');
  if (!text.includes('"hooks"')) return undefined;
  const place = PLACES.find(([folder]) => path.includes(folder));
  if (place !== undefined) return place[1];
  if (basename(path) === 'hooks-codex.json') return 'codex';
  return dialectOfEvents(text);
}

/** Returns the dialect that has the most event names of the file. */
function dialectOfEvents(text: string): HookDialect {
  // Cursor and Copilot share some names. Only Copilot has commands for two shells.
  const isForTwoShells = /"(?:bash|powershell)"/.test(text);
  const ungrouped: HookDialect[] = isForTwoShells ? ['copilot', 'cursor'] : ['cursor', 'copilot'];
  // Copilot has the names of Claude Code too, but no groups of hooks.
  const isGrouped = /"hooks"\s*:\s*\[/.test(text);
  const ids: HookDialect[] = isGrouped ? ['claude', 'gemini', ...ungrouped] : [...ungrouped, 'claude', 'gemini'];
  const countOf = (id: HookDialect) =>
    Object.keys(dialectNamed(id).events).filter((name) => text.includes(`"${name}"`)).length;
  return ids.reduce((best, id) => (countOf(id) > countOf(best) ? id : best));
}

/** Replaces names, paths and numbers, so that messages with the same cause are equal. */
function classOf(message: string, source: string): string {
  return message
    .replaceAll(source, '…')
    .replace(/\/[^\s:;,]+/g, '…')
    .replace(/"[^"]*"|`[^`]*`/g, (quoted) => (quoted.length > 30 || quoted.startsWith('"') ? '"…"' : quoted))
    .replace(/\d+/g, 'N')
    .replace(/^Extension "…" \([^)]*\): |^The skill in …: |^…: /, '');
}

function countBy(messages: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const message of messages) counts.set(message, (counts.get(message) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

function report(all: readonly Loaded[]): void {
  const kinds = [...new Set(all.map(({ kind }) => kind))];
  console.table(
    kinds.map((kind) => {
      const own = all.filter((one) => one.kind === kind);
      const loaded = own.filter(({ isRefused }) => !isRefused);
      return {
        kind,
        found: own.length,
        loaded: loaded.length,
        'with a warning': loaded.filter(({ warnings }) => warnings.length > 0).length,
        'lost a part': loaded.filter(({ errors }) => errors.length > 0).length,
        refused: own.length - loaded.length,
        'median warnings': median(loaded.map(({ warnings }) => warnings.length)),
      };
    }),
  );
  const levels: readonly (readonly [Level, (one: Loaded) => readonly string[]])[] = [
    ['refused', ({ isRefused, errors, warnings }) => (isRefused ? [...errors, ...warnings] : [])],
    ['error', ({ isRefused, errors }) => (isRefused ? [] : errors)],
    ['warning', ({ isRefused, warnings }) => (isRefused ? [] : warnings)],
  ];
  for (const [level, messagesOf] of levels) {
    for (const kind of kinds) {
      const own = all.filter((one) => one.kind === kind);
      const counted = countBy(own.flatMap((one) => messagesOf(one).map((text) => classOf(text, one.source))));
      if (counted.length === 0) continue;
      console.log(`\n${level}, ${kind}: ${counted.length} classes`);
      for (const [text, count] of counted.slice(0, Number(values.classes)))
        console.log(`${count}\t${text.slice(0, 300)}`);
      if (!values.list) continue;
      for (const one of own)
        for (const text of messagesOf(one)) console.log(`  ${relative(folder ?? '', one.source)}: ${text}`);
    }
  }
}

const paths = filesIn(folder);
const all: Loaded[] = [];
for (const path of paths) {
  if (path.endsWith('/.claude-plugin/plugin.json')) all.push(await loadPackage(dirname(dirname(path)), 'plugins'));
  if (path.endsWith('/gemini-extension.json')) all.push(await loadPackage(dirname(path), 'extensions'));
  const dialect = dialectOf(path);
  if (dialect !== undefined) all.push(await loadHookFile(path, dialect));
}
const skills = paths.filter((path) => basename(path) === 'SKILL.md').map((path) => dirname(path));
for (const parent of new Set(skills.map((skill) => dirname(skill)))) {
  const names = skills.filter((skill) => dirname(skill) === parent).map((skill) => basename(skill));
  all.push(...(await loadSkillsIn(parent, names)));
}
report(all);
rmSync(scratch, { recursive: true, force: true });
