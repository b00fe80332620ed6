import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ToolResult } from 'keelson';
import { type McpServerConfig, type McpServers, type McpServersOptions, mcpServers } from 'keelson/mcp';
import { onTestFinished } from 'vitest';
import { type KeepingLogger, keepingLogger } from '../agent/silent-logger.js';
import { runsInProcess } from '../process/in-process.js';
import { rawServer, spawnScripted } from './scripted-servers.js';

/** Returns the path of a file in test/fixtures/mcp. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/mcp/${name}`, import.meta.url));
}

/** Creates a directory that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-mcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Configures the scripted server test/fixtures/mcp/serve-raw.mjs with the behaviour in `config`. */
export function raw(
  config: Readonly<Record<string, unknown>> = {},
  more: Partial<McpServerConfig> = {},
): McpServerConfig {
  return { command: process.execPath, args: [rawServer, JSON.stringify(config)], ...more };
}

/** Reads the log file of a scripted server. */
export function readLog(path: string): readonly LogEntry[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** An entry in the log of a scripted server: its start, a received message, or the answer that was late. */
export interface LogEntry {
  readonly pid?: number;
  readonly argv?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly sent?: string;
  readonly received?: {
    readonly method?: string;
    readonly id?: unknown;
    readonly params?: unknown;
    readonly result?: unknown;
  };
}

/** A loader of MCP servers that is closed after the test, with its logger. */
export interface Lab {
  readonly mcp: McpServers;
  readonly logger: KeepingLogger;
}

/** Registers what to do at the end of a test, or of a file. */
export type AtEnd = (end: () => Promise<void> | void) => void;

/** Runs scripted servers as child processes too. */
export const asProcesses = { spawn } as const;

/**
 * Creates a loader without connecting. An agent with the loader waits for all servers. Scripted servers run in this
 * process, except with `system: asProcesses`. The loader is closed at the end of the test.
 */
export function lab(options: McpServersOptions, atEnd: AtEnd = onTestFinished): Lab {
  const logger = keepingLogger();
  const reconnect = options.reconnect ?? { initialDelayMs: 5, maxDelayMs: 10 };
  const system = { logger, spawn: spawnScripted, ...options.system };
  const mcp = mcpServers({ waitForServers: true, ...options, reconnect, system });
  atEnd(() => mcp.close());
  return { mcp, logger };
}

/** Creates a loader and connects. */
export async function connected(options: McpServersOptions, atEnd?: AtEnd): Promise<Lab> {
  const created = lab(options, atEnd);
  await created.mcp.connect();
  return created;
}

/** The name of a tool, and the context of its call. */
export interface CallTarget {
  readonly name: string;
  readonly signal?: AbortSignal;
  readonly progress?: (data: unknown) => void;
}

/** Calls a tool by its full or short name. */
export async function call(mcp: McpServers, target: string | CallTarget, input: object = {}): Promise<ToolResult> {
  const {
    name,
    signal = new AbortController().signal,
    progress = () => {},
  } = typeof target === 'string' ? { name: target } : target;
  const tool = mcp.tools.find(name);
  if (tool === undefined) throw new Error(`There is no tool ${name}.`);
  return (await tool.execute(input, { signal, progress } as never)) as ToolResult;
}

/** Returns a variable in the syntax of configurations. */
export function variable(name: string): string {
  return `$\{${name}}`;
}

/** Returns the state of a server. */
export function stateOf(mcp: McpServers, name: string): string | undefined {
  return mcp.status().find((server) => server.name === name)?.state;
}

/** Returns true if a process or a server in this process has ended, also if it is a zombie. */
export function isGone(pid: number): boolean {
  if (runsInProcess(pid)) return false;
  try {
    return /^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return true;
  }
}

/** Returns the ids of running processes whose command line contains a string. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text) && !isGone(pid);
      } catch {
        return false;
      }
    });
}
