import { ToolInvalidError } from '../errors.js';
import type { RunContext } from '../lifecycle/run-context.js';
import { defineTool } from '../tools/define-tool.js';
import type { Tool, ToolContext } from '../tools/tool.js';
import { OpencodeUnavailableError } from './plugin-error.js';

/** A tool as a plugin for opencode defines it. */
export interface OpencodeTool {
  readonly description: string;
  /** A zod schema for each argument. */
  readonly args: Readonly<Record<string, never>>;
  /** Does the work. */
  execute(args: unknown, context: object): unknown;
}

/** The tools of a plugin for opencode. Throws ToolInvalidError where one of them cannot be used. */
export async function opencodeTools(
  tools: Readonly<Record<string, OpencodeTool>>,
  from: { readonly plugin: string; readonly workspaceDir: string },
): Promise<Tool[]> {
  const entries = Object.entries(tools);
  if (entries.length === 0) return [];
  const { z } = await import('zod');
  return entries.map(([name, tool]) =>
    defineTool({
      ...{ name, description: tool.description, origin: `plugin ${from.plugin}` },
      input: z.object(argumentsOf(name, tool)),
      async execute(input, context) {
        const output: unknown = await tool.execute(input, contextOf(context, from.workspaceDir));
        return (output as { output?: string } | undefined)?.output ?? (output as string);
      },
    }),
  );
}

function argumentsOf(name: string, { args = {}, execute }: Partial<OpencodeTool>): OpencodeTool['args'] {
  if (typeof execute !== 'function') throw new ToolInvalidError(name, '`execute` is no function');
  const plain = Object.entries(args).find(([, schema]) => typeof schema !== 'object' || !('_zod' in schema));
  if (plain === undefined) return args;
  throw new ToolInvalidError(name, `its argument \`${plain[0]}\` is no schema of zod 4`);
}

function contextOf(context: ToolContext, workspaceDir: string): object {
  const { run, callId, signal } = context;
  return {
    sessionID: (run as Partial<RunContext>).session?.id ?? run.id,
    messageID: `${run.id}/${run.turn}`,
    callID: callId,
    agent: run.agent,
    directory: workspaceDir,
    worktree: workspaceDir,
    abort: signal,
    metadata: (data: unknown) => context.progress(data),
    ask: () => Promise.reject(new OpencodeUnavailableError('ask')),
  };
}
