import { Agent, type AgentOptions, type Tool } from 'keelson';
import { type ScriptEntry, scriptedModel } from 'keelson/testing';
import type { UINestedRun, UINestedStep } from 'keelson/ui';

/** The input of an agent that is a tool. */
export const prompt = { prompt: 'Go.' };

/** An agent with a script for each of its runs. */
export function agentOf(name: string, script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}): Agent {
  return new Agent({ name, model: scriptedModel(script, { perRun: true }), ...options });
}

/** An agent as a tool. */
export function helperOf(...args: Parameters<typeof agentOf>): Tool {
  return agentOf(...args).asTool({ description: 'Helps.' });
}

/** A part of a page that shows a run inside of a tool call. */
export interface ShownPart {
  readonly type: string;
  readonly data?: unknown;
}

/**
 * Returns the runs inside of tool calls as a page draws them: by agent, path, status and error, with the text and the calls of
 * each turn. Fails if a turn belongs to no run.
 */
export function drawnRuns(parts: readonly ShownPart[]): string[] {
  const runs = parts.flatMap(({ type, data }) => (type.endsWith('nested-run') ? [data as UINestedRun] : []));
  const steps = parts.flatMap(({ type, data }) => (type.endsWith('nested-step') ? [data as UINestedStep] : []));
  const orphan = steps.find(({ runId }) => !runs.some((run) => run.runId === runId));
  if (orphan !== undefined) throw new Error(`The turn of "${orphan.runId}" has no run.`);
  return runs.flatMap(({ runId, agent, path, status, errorText }) => [
    [path.join('/'), agent, status, errorText].filter(Boolean).join(' '),
    ...steps
      .filter((step) => step.runId === runId)
      .flatMap(({ turn, text, calls }) => [
        ...(text === '' ? [] : [`  ${turn}: ${text}`]),
        ...calls.map(({ id, name: tool, status: state, input, output, ...why }) => {
          const shown = [tool, id, state, JSON.stringify(input), output === undefined ? '' : JSON.stringify(output)];
          return `  ${turn}: ${[...shown, why.errorText, why.reason, why.by].filter(Boolean).join(' ')}`;
        }),
      ]),
  ]);
}
