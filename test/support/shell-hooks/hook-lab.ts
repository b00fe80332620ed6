import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { Agent, type AgentOptions, defineTool, type Logger, type Tool } from 'keelson';
import {
  type HookDefinition,
  type HookEvent,
  type ShellHooks,
  type ShellHooksOptions,
  type Spawn,
  shellHooks,
} from 'keelson/shell-hooks';
import { type ScriptEntry, scriptedModel } from 'keelson/testing';
import { afterEach, beforeEach, vi } from 'vitest';
import { z } from 'zod';
import { type ProgramHost, startInProcess } from '../process/in-process.js';
import { unlock } from '../process/scratch.js';

/** One log record. */
export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details: Record<string, unknown> | undefined;
}

/** A temporary home directory and workspace, with their files and log records. */
export interface HookLab {
  readonly home: string;
  readonly workspace: string;
  readonly logs: LogRecord[];
  readonly logger: Logger;
  /** Writes a file in the workspace and returns its path. A file that begins with `#!` becomes executable. */
  write(path: string, text: string): string;
  read(path: string): string;
  has(path: string): boolean;
  logged(level: LogRecord['level']): readonly LogRecord[];
}

/** Creates a new lab for each test of the file. */
export function useHookLab(): HookLab {
  const lab = {} as { -readonly [Key in keyof HookLab]: HookLab[Key] };
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-hooks-')));
    Object.assign(lab, { home: join(folder, 'home'), workspace: join(folder, 'work'), logs: [] });
    mkdirSync(lab.home);
    mkdirSync(lab.workspace);
    vi.stubEnv('HOME', lab.home);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    unlock(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  const log = (level: LogRecord['level']) => (message: string, details?: unknown) => {
    lab.logs.push({ level, message, details: details as LogRecord['details'] });
  };
  lab.logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
  lab.write = (path, text) => {
    const full = join(lab.workspace, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
    return full;
  };
  lab.read = (path) => readFileSync(join(lab.workspace, path), 'utf8');
  lab.has = (path) => existsSync(join(lab.workspace, path));
  lab.logged = (level) => lab.logs.filter((record) => record.level === level);
  return lab;
}

/** Returns a hook that runs a shell command. */
export function sh(event: HookEvent, text: string, more: Partial<HookDefinition> = {}): HookDefinition {
  return { event, name: `${event}-hook`, command: 'sh', args: ['-c', text], ...more };
}

const ANSWER = 'cat >/dev/null; printf %s "$0"';
const RECORD = 'line=$(cat); printf "%s\\n" "$line" >> events.jsonl';

/** Returns a hook that prints this output. */
export function answers(event: HookEvent, output: unknown, more: Partial<HookDefinition> = {}): HookDefinition {
  const args = ['-c', ANSWER, typeof output === 'string' ? output : JSON.stringify(output)];
  return { event, name: `${event}-hook`, command: 'sh', args, ...more };
}

/** Returns a hook that appends its input to `events.jsonl`, one line per event. */
export function records(event: HookEvent, more: Partial<HookDefinition> = {}): HookDefinition {
  return sh(event, RECORD, { name: `record-${event}`, ...more });
}

/** Returns the inputs of the recording hooks. */
export function recorded(lab: HookLab): Record<string, unknown>[] {
  if (!lab.has('events.jsonl')) return [];
  return lab
    .read('events.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The command lines that most hooks of tests run, as functions. They do what the shell would do. */
const scripts: Readonly<Record<string, (host: ProgramHost) => Promise<void> | void>> = {
  ...Object.fromEntries([0, 1, 2, 3].map((code) => [`exit ${code}`, ({ exit }: ProgramHost) => exit(code)])),
  true: ({ exit }) => exit(0),
  cat: async ({ stdin, stdout, exit }) => {
    for await (const chunk of stdin) stdout.write(chunk);
    exit(0);
  },
  [ANSWER]: async ({ stdin, stdout, argv, exit }) => {
    for await (const _chunk of stdin);
    stdout.write(argv.at(-1));
    exit(0);
  },
  [RECORD]: async ({ stdin, cwd, exit }) => {
    const input = await textOf(stdin);
    appendFileSync(join(cwd(), 'events.jsonl'), `${input.replace(/\n+$/, '')}\n`);
    exit(0);
  },
};

/** Runs the hooks of `answers` and `records` and other short scripts in this process, and every other one as a child. */
export const spawnScripted: Spawn = (command, args, options) => {
  const script = args[0] === '-c' ? scripts[args[1] ?? ''] : undefined;
  return script === undefined ? spawn(command, args, options) : startInProcess({ command, args, options }, script);
};

/** Creates hooks for the lab's workspace. */
export function hooksIn(lab: HookLab, options: ShellHooksOptions): ShellHooks {
  const { logger } = lab;
  const machine = { logger, spawn: spawnScripted, ...options.machine };
  return shellHooks({ workspaceDir: lab.workspace, ...options, machine });
}

/** Runs hooks once without an agent, at the event of the first hook. */
export function runOnce(lab: HookLab, hooks: readonly HookDefinition[], options: ShellHooksOptions = {}) {
  const { runner } = hooksIn(lab, { hooks, ...options });
  return runner.runEvent({
    event: hooks[0]?.event as HookEvent,
    sessionId: 's1',
    value: undefined,
    describe: () => ({ data: {} }),
  });
}

/** Creates a tool that records the input of each call. */
export function countingTool(name: string, result: (input: unknown) => unknown = () => 'done') {
  const inputs: unknown[] = [];
  const tool: Tool = defineTool({
    name,
    description: name,
    input: z.looseObject({}),
    execute: (input) => {
      inputs.push(input);
      return result(input) as string;
    },
  });
  return { tool, inputs };
}

/** Creates an agent with these hooks and a scripted model. */
export function agentWith(
  lab: HookLab,
  hooks: ShellHooks,
  { script, ...options }: Partial<AgentOptions> & { readonly script: readonly ScriptEntry[] },
) {
  const model = scriptedModel(script);
  const agent = new Agent({ model, loaders: [hooks], logger: lab.logger, ...options } as AgentOptions);
  return { agent, model };
}

/** Returns true if a process has exited, including a zombie process. */
export function isGone(pid: number): boolean {
  if (!existsSync('/proc/self/stat')) return !canSignal(pid);
  try {
    return /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
