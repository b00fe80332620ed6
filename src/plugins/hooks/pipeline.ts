import type { ToolExecutionResult } from '../plugin.js';
import { askAfter, askBefore, type PluginCalling, type ToolVerdict } from './call.js';
import type { PluginCall, PluginPart } from './part.js';

/** Asks plugins about a call, each with what the one before it gave. The first that blocks has the last word. */
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

/** What plugins made of a result. */
export interface PassedResult {
  readonly result: ToolExecutionResult;
  /** One of them failed: nothing of the original may be shown. */
  readonly isWithheld: boolean;
}

/**
 * Shows plugins a result, each what the one before it gave. In the place of a result that one of them failed on comes an
 * error that says nothing of it: what the plugin threw may quote the very text that it was to remove.
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
