import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, type AgentOptions } from 'keelson';
import { type ManifestOptions, type Manifests, manifests } from 'keelson/manifest';
import { scriptedModel } from 'keelson/testing';
import type { ApprovalRequest } from 'keelson/trust';
import { onTestFinished } from 'vitest';
import { pause } from '../agent/settle.js';
import { type KeepingLogger, keepingLogger } from '../agent/silent-logger.js';
import { scratchFolder, script, write } from '../process/scratch.js';

export { echoServer } from '../mcp/scripted-servers.js';

/** A temporary home directory and workspace, with functions to add extensions and load them. */
export interface Place {
  readonly root: string;
  readonly userDir: string;
  readonly workspaceDir: string;
  readonly logger: KeepingLogger;
  readonly asked: ApprovalRequest[];
  /** Approves every request and records it in `asked`. */
  readonly yes: NonNullable<ManifestOptions['approve']>;
  /** Writes the manifest of an extension, and returns the extension's directory. */
  user(folder: string, manifest: unknown): string;
  workspace(folder: string, manifest: unknown): string;
  /** Creates an agent with a loader for both directories. Resolves when the loader has loaded. */
  load(options?: Partial<ManifestOptions>, agent?: Partial<AgentOptions>): Promise<Loaded>;
}

export interface Loaded {
  readonly loader: Manifests;
  readonly agent: Agent;
}

export function makePlace(): Place {
  const root = scratchFolder();
  const [userDir, workspaceDir] = [join(root, 'home', '.app'), join(root, 'ws')];
  for (const folder of [userDir, workspaceDir]) mkdirSync(folder, { recursive: true });
  const logger = keepingLogger();
  const asked: ApprovalRequest[] = [];
  const extension = (parent: string) => (folder: string, manifest: unknown) => {
    const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
    write(join(parent, folder, 'manifest.json'), text);
    return join(parent, folder);
  };
  return {
    ...{ root, userDir, workspaceDir, logger, asked },
    yes: (request) => {
      asked.push(request);
      return true;
    },
    user: extension(join(userDir, 'extensions')),
    workspace: extension(join(workspaceDir, '.app', 'extensions')),
    async load(options = {}, agent = {}) {
      const loader = manifests({ appName: 'app', userDir, workspaceDir, logger, skillFolders: [], ...options });
      const made = new Agent({ model: scriptedModel([]), logger, ...agent, loaders: [loader] });
      onTestFinished(() => made.close());
      await made.ready();
      await serversConnected(loader);
      return { loader, agent: made };
    },
  };
}

/** Waits for the servers that still connect. One second, as the loader waits, is too short on a busy machine. */
export async function serversConnected({ mcp }: Manifests): Promise<void> {
  const isConnecting = () => mcp.status().some(({ state }) => state === 'connecting');
  for (let waits = 0; waits < 800 && isConnecting(); waits += 1) await pause(10);
}

/** Returns a manifest with the required keys and `more`. */
export function manifest(name: string, more: Record<string, unknown> = {}) {
  return { name, version: '1.0.0', description: `The extension ${name}.`, ...more };
}

/** Writes a hook script that appends a line to `trace` and lets the run continue. */
export function tracer(path: string, trace: string, word: string): string {
  return script(path, `#!/bin/sh\ncat > /dev/null\necho "${word}" >> "${trace}"\necho '{}'\n`);
}

export function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

/** Returns the main fields of the registered hooks. */
export function hooksOf({ hooks }: Manifests) {
  return hooks.list().map(({ extension, name, event, command }) => ({ extension, name, event, command }));
}
