import { isObject, type JsonValue, toJson } from '../internal/json.js';
import { isSameData } from '../internal/plain-data.js';
import { inputOf } from '../model/edited-call.js';
import type { ToolCallPart } from '../model/message.js';
import type { Waiting } from '../model/waiting.js';
import type { Tool } from './tool.js';

/** The approval of a call with other arguments. */
export interface EditedApproval {
  readonly approve: JsonValue;
}

/** A kind of call, by who runs it: Keelson, the caller of the agent, or the provider. Nobody runs an answer. */
export type CallKind = 'tool' | 'result' | 'provider' | 'answer';

/** Returns the kind of a call or an answer that waits. */
export function kindOf(call: {
  readonly type?: string | undefined;
  readonly needs?: 'result' | undefined;
  readonly needsApproval?: boolean | undefined;
}): CallKind {
  if (call.type === 'answer') return 'answer';
  if (call.needs === 'result') return 'result';
  return call.needsApproval ? 'provider' : 'tool';
}

/** True for an approval with other arguments that JSON can hold, and nothing else. */
export function isEdit(decision: unknown): decision is EditedApproval {
  if (!isObject(decision) || decision.deny !== undefined || decision.result !== undefined) return false;
  return isJson(decision.approve);
}

/** True for a value that JSON can hold. */
export function isJson(value: unknown): boolean {
  try {
    return toJson(value) !== undefined;
  } catch {
    return false;
  }
}

type Decisions = Readonly<Record<string, unknown>>;

/** Returns decisions whose new arguments are copies. If the arguments did not change, the decision is `approve`. */
export function resolveEdits<D extends Decisions>(decisions: D, calls: readonly ToolCallPart[]): D {
  const resolved = calls.flatMap((call) => {
    const decision = decisions[call.id];
    return isEdit(decision) ? [[call.id, resolveEdit(call, decision)]] : [];
  });
  return resolved.length === 0 ? decisions : { ...decisions, ...Object.fromEntries(resolved) };
}

/** Returns `approve` if the arguments did not change. */
export function resolveEdit(
  call: Pick<ToolCallPart, 'input' | 'invalidInput'>,
  { approve }: EditedApproval,
): EditedApproval | 'approve' {
  const input: JsonValue = JSON.parse(toJson(approve));
  return isSameData(input, inputOf(call)) ? 'approve' : { approve: input };
}

/** Returns why a kind of call takes no new arguments, or undefined. */
export function refusalOf(kind: CallKind): string | undefined {
  if (kind === 'result')
    return "must be { result } or 'deny', got { approve }: its tool has no `execute`, so only the caller can run it.";
  if (kind === 'answer') return "must be 'approve' or 'deny', got { approve }: an answer has no arguments.";
  if (kind === 'provider') return "must be 'approve' or 'deny', got { approve }: the provider runs the call as it is.";
  return undefined;
}

/** The tools of the calls that wait, for hosts that check decisions before the next run. */
const pendingTools = new WeakMap<object, Tool>();

/** Remembers the tool of a call that waits. */
export function rememberTool(call: object, tool: Tool | undefined): void {
  if (tool !== undefined) pendingTools.set(call, tool);
}

/** Returns the tool of a call that waits, unless the call is a copy. */
export function rememberedTool(call: object): Tool | undefined {
  return pendingTools.get(call);
}

/** Finds a tool by its name. */
export type FindTool = (name: string) => Tool | undefined;

/** By tool that runs an agent: the tools of that agent. */
const toolsInside = new WeakMap<Tool, FindTool>();

/** Remembers the tools of the agent that a tool runs. */
export function rememberAgent(tool: Tool, find: FindTool): void {
  toolsInside.set(tool, find);
}

/** Finds the tool of a call that waits. The tools that run agents lead to it. */
export function toolOf({ callers, call }: Pick<Waiting, 'callers' | 'call'>, find: FindTool): Tool | undefined {
  const findInside = (outer: FindTool, { name }: ToolCallPart): FindTool => {
    const tool = outer(name);
    return (tool && toolsInside.get(tool)) ?? (() => undefined);
  };
  return call && callers.reduce(findInside, find)(call.name);
}
