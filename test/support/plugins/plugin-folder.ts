import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Agent, type AgentLifecycle, type AgentOptions, type Tool } from 'keelson';
import { type Plugin, type PluginEntry, type PluginsOptions, type PluginsStatus, plugins } from 'keelson/plugins';
import { calls, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { afterAll } from 'vitest';
import { keptLog } from '../concepts/augmented-run.js';

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Creates a directory with these files. The directory is removed after the tests of the file. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-plugins-')));
  made.push(folder);
  addFiles(folder, files);
  return folder;
}

function addFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** Creates an array that plugin modules of a test can write to through `globalThis`. */
export function noteBoard(): { readonly key: string; readonly notes: unknown[] } {
  const key = `notes${Math.random().toString(36).slice(2)}`;
  const notes: unknown[] = [];
  (globalThis as Record<string, unknown>)[key] = notes;
  return { key, notes };
}

interface Setting {
  readonly script?: readonly ScriptEntry[];
  readonly tools?: readonly Tool[];
  readonly lifecycle?: readonly AgentLifecycle[];
  readonly options?: Partial<PluginsOptions>;
  readonly clock?: AgentOptions['clock'];
}

/**
 * Creates an agent with a directory of plugin modules, listed in the order of `files`. Returns the agent, its model,
 * its log and its plugin status.
 */
export function agentWith(files: Readonly<Record<string, string>>, setting: Setting = {}) {
  const folder = folderWith(files);
  const entries: PluginEntry[] = Object.keys(files).map((name) => ({ path: `./${name}` }));
  return { folder, ...agentOf({ config: entries, workspaceDir: folder, ...setting.options }, setting) };
}

export function agentOf(options: PluginsOptions, { script, tools = [], lifecycle = [], clock }: Setting = {}) {
  const { lines, logger } = keptLog();
  const model = scriptedModel(script ?? [calls('work', { n: 1 }), says('end')]);
  const agent = new Agent({ model, tools, lifecycle, loaders: [plugins(options)], logger, clock });
  const status = () => agent.status().loaders[0]?.details as PluginsStatus;
  return { agent, model, log: lines, status };
}

/** Returns the source of a module whose default export is `plugin`. */
export function moduleOf(plugin: Plugin | ((options?: Record<string, unknown>) => unknown)): string {
  const { key, notes } = noteBoard();
  notes.push(plugin);
  return `export default globalThis[${JSON.stringify(key)}][0];\n`;
}

/** Returns the tool results of the last tool message in the last model request. */
export function lastResult(model: ReturnType<typeof scriptedModel>) {
  const message = model.requests.at(-1)?.messages.findLast(({ role }) => role === 'tool');
  return message?.role === 'tool' ? message.content.map(({ content, isError = false }) => ({ content, isError })) : [];
}
