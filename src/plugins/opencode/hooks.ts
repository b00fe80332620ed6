import { HookResultInvalidError } from '../../errors.js';
import { misspeltHooks } from '../../internal/options/misspelt-hooks.js';
import { isPlainObject } from '../../internal/plain-data.js';
import { markCalledTool } from '../../tools/called-tool.js';
import { adaptPlugin, type PluginPart } from '../hooks/part.js';
import type { ModuleExports } from '../import-module.js';
import type { Plugin } from '../plugin.js';
import type { OpencodeHost } from './context.js';
import { type OpencodeRunHooks, opencodeRunHooks } from './run.js';
import { type OpencodeTool, opencodeTools } from './tool.js';

interface OpencodeCall {
  readonly tool: string;
  readonly sessionID: string;
  readonly callID: string;
}

/** The hooks of an opencode plugin that Keelson calls. */
export interface OpencodeHooks extends OpencodeRunHooks {
  readonly 'tool.execute.before'?: (input: OpencodeCall, output: { args: unknown }) => unknown;
  readonly 'tool.execute.after'?: (
    input: OpencodeCall & { readonly args: unknown },
    output: { title: string; output: string; metadata: unknown },
  ) => unknown;
  readonly tool?: Readonly<Record<string, OpencodeTool>>;
  readonly dispose?: () => void;
}

const CALLED = [
  'tool.execute.before',
  'tool.execute.after',
  'tool',
  'dispose',
  'event',
  'chat.message',
  'experimental.chat.system.transform',
];

/**
 * Hooks and events that only opencode calls, including future names. Names that begin with `tool.` are excluded (except
 * `tool.definition`), because a misspelt guard must be refused.
 */
const IDLE = /^(config|auth|provider|tool\.definition|(?!tool\.)[a-z_]+(\.[\w-]+)+)$/;

/**
 * The hook names that are checked. `foreign` has patterns that recognise the names that other libraries use for these
 * hooks.
 */
const NAMES = {
  hooks: CALLED,
  foreign: [
    ['tool.execute.before', /^(tool(exec|call|use|run)?before|(before|wrap|on)tool(call|use|start|execute)?)$/],
    ['tool.execute.after', /^(tool(exec|call|use|run)?after|aftertool(call|use|execute)?|ontoolend)$/],
  ],
} as const;

/** Returns the problem of the hooks that a factory returned. Undefined if the hooks are valid. */
export function problemOfHooks(hooks: unknown): string | undefined {
  if (typeof hooks !== 'object' || hooks === null)
    return `must return hooks, got ${hooks === null ? 'null' : typeof hooks}`;
  const members = hooks as ModuleExports;
  const misspelt = isPlainObject(hooks) ? [] : misspeltHooks(hooks, NAMES);
  if (misspelt.length > 0) return `returned invalid hooks: ${misspelt.join('; ')}`;
  const unknown = isPlainObject(hooks) ? Object.keys(hooks).filter((key) => !isKnown(key)) : [];
  // Next to known hooks, an unknown string or number, such as the plugin's name, cannot be a misspelt guard.
  const hasHooks = Object.keys(hooks).some(isKnown);
  const strange = unknown.filter((key) => !hasHooks || /function|object/.test(typeof members[key]));
  if (strange.length > 0) return `returns \`${strange.join('`, `')}\`, which opencode does not know`;
  const wrong = CALLED.filter((key) => key !== 'tool' && !['function', 'undefined'].includes(typeof members[key]));
  return wrong.length > 0 ? `returns \`${wrong.join('`, `')}\`, which must be a function` : undefined;
}

function isKnown(key: string): boolean {
  return CALLED.includes(key) || IDLE.test(key);
}

/** Converts the hooks of an opencode plugin to a plugin. */
export async function adaptHooks(name: string, hooks: OpencodeHooks, host: OpencodeHost): Promise<Plugin> {
  const idle = Object.keys(hooks).filter((key) => isKnown(key) && !CALLED.includes(key));
  if (idle.length > 0)
    host.logger.warn(`Plugin "${name}" has opencode hooks that Keelson never calls: ${idle.join(', ')}.`);
  const tools = await opencodeTools(hooks.tool ?? {}, { plugin: name, workspaceDir: host.workspaceDir });
  const part: PluginPart = {
    name,
    tools,
    onShutdown: hooks.dispose && (() => hooks.dispose?.()),
    runHooks: (timeoutMs) => opencodeRunHooks({ name, hooks, host, timeoutMs }),
    beforeTool:
      hooks['tool.execute.before'] &&
      (async ({ name: tool, input, sessionId: sessionID, callId: callID, tool: called }) => {
        const output = markCalledTool({ args: input as unknown }, called);
        await hooks['tool.execute.before']?.({ tool, sessionID, callID }, output);
        if (output.args !== null && typeof output.args === typeof input) return { name: tool, input: output.args };
        throw new HookResultInvalidError('tool.execute.before must leave the arguments in `output.args`', output.args);
      }),
    // opencode passes the arguments on as the hook left them, without a second check.
    keepsAdded: true,
    afterTool:
      hooks['tool.execute.after'] &&
      (async ({ name: tool, input: args, sessionId: sessionID, callId: callID }, result) => {
        const output = { title: tool, output: result.content, metadata: {} };
        await hooks['tool.execute.after']?.({ tool, sessionID, callID, args }, output);
        if (typeof output.output === 'string') return { ...result, content: output.output };
        throw new HookResultInvalidError('tool.execute.after must leave a string in `output.output`', output.output);
      }),
  };
  return adaptPlugin({ name, description: 'A plugin for opencode.' }, part);
}
