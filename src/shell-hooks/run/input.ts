import type { JsonObject } from '../../internal/json.js';
import { fold } from '../../internal/names-text.js';
import { canonicalJson } from '../../trust/fingerprint/canonical-json.js';
import { dialectOf, eventNameOf } from '../dialects/list.js';
import { shownArgs, shownToolName } from '../dialects/tool-names.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookReading } from '../hook/effects.js';
import type { EventFields, ToolNames } from '../hook/event-context.js';
import { redact } from '../hook/plain-json.js';
import { subagentFields } from './event-fields.js';
import type { EventProgress } from './event-progress.js';

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
  const { context, data: hookData, outputs } = progress;
  const { workspaceDir, sensitive, transcriptPath, now } = source;
  const hide = (value: unknown) => shownTo(hook, value, sensitive);
  const { sessionId, runId, subagent } = context;
  const fields = withShownArgs(hook, context.tool, { ...source, hide });
  const toolName = context.tool === undefined ? undefined : shownToolName(hook, context.tool, source.toolNames);
  const own = dialectOf(hook.dialect).input({
    hook,
    fields,
    toolName,
    sessionId,
    runId,
    workspaceDir,
    now,
    redact: hide,
  });
  return {
    ...(subagent && subagentFields(subagent)),
    ...(hide({ ...fields.flat, data: fields.data }) as object),
    tool_name: toolName,
    event: context.event,
    hook_event_name: eventNameOf(hook),
    session_id: sessionId,
    transcript_path: transcriptPath,
    cwd: workspaceDir,
    permission_mode: 'default',
    timestamp: new Date(now).toISOString(),
    hook_data: hookData,
    hook_outputs: outputs,
    ...(hide(own) as object),
  };
}

/**
 * Returns the event data with `tool_input` as the hook reads it. Sensitive fields are redacted under their own names
 * first, because renamed arguments would not be found later.
 */
function withShownArgs(
  hook: ShellHook,
  tool: string | undefined,
  { fields, toolNames, hide }: HookInputSource & { readonly hide: (value: unknown) => unknown },
): EventFields {
  const args = fields.flat?.tool_input;
  if (tool === undefined || args === undefined) return fields;
  return { ...fields, flat: { ...fields.flat, tool_input: shownArgs(hook, { tool, args: hide(args) }, toolNames) } };
}

/** Returns a value as a hook reads it. Sensitive fields that the hook does not declare are redacted. */
export function shownTo(hook: ShellHook, value: unknown, sensitive: readonly string[]): unknown {
  const declared = new Set(hook.sensitive?.map(fold));
  return redact(
    value,
    sensitive.filter((name) => !declared.has(fold(name))),
  );
}

/**
 * Returns the names of the output fields that Keelson ignores. Leaves out fields that repeat the input, because many hooks
 * print their input to say that they change nothing.
 */
export function withoutEcho({ ignored = [], output }: HookReading, input = '{}'): readonly string[] {
  if (ignored.length === 0 || output === undefined) return ignored;
  const given: JsonObject = JSON.parse(input);
  const isEcho = (name: string) =>
    Object.hasOwn(output, name) &&
    Object.hasOwn(given, name) &&
    canonicalJson(output[name]) === canonicalJson(given[name]);
  return ignored.filter((name) => !isEcho(name));
}
