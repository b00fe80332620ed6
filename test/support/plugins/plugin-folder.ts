import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { Agent, type AgentLifecycle, type Tool } from '../../../src/index.js';
import {
  type Plugin,
  type PluginEntry,
  type PluginsOptions,
  type PluginsStatus,
  plugins,
} from '../../../src/plugins/plugins.js';
import { calls, type ScriptEntry, says, scriptedModel } from '../../../src/testing/testing.js';
import { keptLog } from '../concepts/augmented-run.js';

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A folder with these files, gone when the tests of the file are over. */
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

/** Creates a global array for notes of plugins, because plugin modules cannot import the test file. */
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
}

/** An agent with a folder of plugin modules, listed in the order of `files`, and what is to be seen of it. */
export function agentWith(files: Readonly<Record<string, string>>, setting: Setting = {}) {
  const folder = folderWith(files);
  const entries: PluginEntry[] = Object.keys(files).map((name) => ({ path: `./${name}` }));
  return { folder, ...agentOf({ config: entries, workspaceDir: folder, ...setting.options }, setting) };
}

export function agentOf(options: PluginsOptions, { script, tools = [], lifecycle = [] }: Setting = {}) {
  const { lines, logger } = keptLog();
  const model = scriptedModel(script ?? [calls('work', { n: 1 }), says('end')]);
  const agent = new Agent({ model, tools, lifecycle, loaders: [plugins(options)], logger });
  const status = () => agent.status().loaders[0]?.details as PluginsStatus;
  return { agent, model, log: lines, status };
}

/** Plugins as modules, each with one line in the registry of this process. */
export function moduleOf(plugin: Plugin | ((options?: Record<string, unknown>) => unknown)): string {
  const { key, notes } = noteBoard();
  notes.push(plugin);
  return `export default globalThis[${JSON.stringify(key)}][0];\n`;
}

/** The text of the last tool result that the model was given. */
export function lastResult(model: ReturnType<typeof scriptedModel>) {
  const message = model.requests.at(-1)?.messages.findLast(({ role }) => role === 'tool');
  return message?.role === 'tool' ? message.content.map(({ content, isError = false }) => ({ content, isError })) : [];
}
