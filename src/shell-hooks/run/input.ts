import { dialectOf, eventNameOf } from '../dialects/dialect.js';
import type { ShellHook } from '../hook/definition.js';
import type { EventFields, ToolNames } from '../hook/event-context.js';
import { shownTo } from '../hook/plain-json.js';
import { subagentFields } from './agent-fields.js';
import { shownArgs, shownToolName } from './matching.js';
import type { EventProgress } from './outcome.js';

/** Values for `hookInput` that come neither from the hook nor from earlier hooks. */
export interface HookInputSource {
  readonly fields: EventFields;
  readonly workspaceDir: string;
  readonly toolNames: ToolNames;
  /** Names of fields that are redacted for each hook that does not declare them. */
  readonly sensitive: readonly string[];
  /** Current time in milliseconds since 1970. */
  readonly now: number;
  /** Path of the session's transcript; empty without one. */
  readonly transcriptPath: string;
}

/**
 * Returns the JSON document for the standard input of a hook. The document contains the event under `data`, the data of
 * earlier hooks, and fields that hooks of other programs expect.
 */
export function hookInput<Value>(hook: ShellHook, progress: EventProgress<Value>, source: HookInputSource): object {
  const { workspaceDir, toolNames, sensitive, transcriptPath, now } = source;
  const { sessionId, runId, subagent, tool, event } = progress.context;
  const hide = (value: unknown) => shownTo(hook, value, sensitive);
  const { conversation, ...given } = source.fields;
  const { data, flat, result } = hide(given) as EventFields;
  const args = flat?.tool_input;
  const fields = { data, flat: { ...flat }, result, conversation };
  // Redacted under the names of the program too, because a renamed argument has both.
  if (tool !== undefined && args !== undefined)
    fields.flat.tool_input = hide(shownArgs(hook, { tool, args }, toolNames));
  const toolName = tool === undefined ? undefined : shownToolName(hook, tool, toolNames);
  const own = dialectOf(hook.dialect).input({ hook, fields, toolName, sessionId, runId, workspaceDir, now });
  return {
    ...(subagent && subagentFields(subagent)),
    ...fields.flat,
    data,
    tool_name: toolName,
    event,
    hook_event_name: eventNameOf(hook),
    session_id: sessionId,
    transcript_path: transcriptPath,
    cwd: workspaceDir,
    permission_mode: 'default',
    timestamp: new Date(now).toISOString(),
    hook_data: progress.data,
    hook_outputs: progress.outputs,
    ...(hide(own) as object),
  };
}
