import type { ToolExecutionResult } from '../plugin.js';
import { askAfter, askBefore, type PluginCalling, type ToolVerdict } from './call.js';
import type { PluginCall, PluginPart } from './part.js';

/**
 * Passes a tool call through the plugins in order. Each plugin gets the call that the previous plugin returned. The
 * first plugin that blocks the call ends the pass.
 */
export async function passBefore(
  parts: readonly PluginPart[],
  call: PluginCall,
  calling: PluginCalling,
): Promise<ToolVerdict> {
  let current = call;
  for (const part of parts) {
    if (part.beforeTool === undefined) continue;
    const verdict = await askBefore(part, current, calling);
    if (verdict.blocked !== undefined) return verdict;
    current = { ...current, ...verdict };
  }
  return { name: current.name, input: current.input };
}

/** A tool result after all plugins. */
export interface PassedResult {
  readonly result: ToolExecutionResult;
  /** True if a plugin failed. The original result must then stay hidden. */
  readonly isWithheld: boolean;
}

/**
 * Passes a tool result through the plugins in order. Each plugin gets the result that the previous plugin returned. If
 * a plugin fails, a fixed error replaces the result. The plugin's own error message is left out, because it may quote
 * text that the plugin was to remove.
 */
export async function passAfter(
  parts: readonly PluginPart[],
  shown: { readonly call: PluginCall; readonly result: ToolExecutionResult },
  calling: PluginCalling,
): Promise<PassedResult> {
  const { call } = shown;
  let { result } = shown;
  let isWithheld = false;
  for (const part of parts) {
    if (part.afterTool === undefined) continue;
    const answer = await askAfter(part, { call, result }, calling);
    if (answer === undefined) isWithheld = true;
    result = answer ?? {
      content: `Plugin "${part.name}" failed after tool "${call.name}", so the result is withheld.`,
      isError: true,
    };
  }
  return { result, isWithheld };
}
