import { callable, having, object, required, timerMs } from '../../internal/options/rules.js';
import { type OptionTable, validateOption, validateOptions } from '../../internal/options/validate.js';
import type { ToolResult } from '../../tools/tool.js';
import { untilAborted, withOwnSignal } from '../connection/request-time.js';
import { Deadline } from '../transport/pausable-clock.js';
import type { McpServer } from './server.js';

/** Options of a tool call without an agent. */
export interface McpCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time limit in milliseconds, including the wait for a connection. Default: the `timeouts` of the loader. */
  readonly timeoutMs?: number | undefined;
  /** Called with each progress notification of the server. */
  readonly onProgress?: ((progress: unknown) => void) | undefined;
}

const rules = {
  signal: having('an AbortSignal', { addEventListener: callable }),
  timeoutMs: timerMs,
  onProgress: callable,
} satisfies OptionTable<McpCallOptions>;

/**
 * Calls a tool of a server within its time limit. Rejects with a typed error, or with the reason of the abort signal.
 */
export async function callTool(
  server: McpServer,
  { name, args }: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
  options: McpCallOptions,
): Promise<ToolResult> {
  validateOptions(options, rules);
  validateOption('args', args, required(object));
  const { signal = new AbortController().signal, timeoutMs: limitMs, onProgress: progress = () => {} } = options;
  return withOwnSignal(signal, async (own, controller) => {
    const what = `call of tool ${JSON.stringify(name)} of MCP server "${server.definition.name}"`;
    const deadline =
      limitMs === undefined
        ? undefined
        : new Deadline({ what, callMs: limitMs, totalMs: limitMs, hold: server.hold }, (late) =>
            controller.abort(late),
          );
    try {
      return await untilAborted(own, server.callTool(name, args, { signal: own, progress, limitMs }));
    } finally {
      deadline?.clear();
    }
  });
}
