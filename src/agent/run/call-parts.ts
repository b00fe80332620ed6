import type { ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { ToolCallPart, ToolResultPart } from '../../model/message.js';
import type { ToolResult } from '../../tools/tool.js';
import type { Run } from './run.js';

/** A call's result as it stands in the conversation. */
export function partOf({ id, name }: ToolCallPart, { content, structured, isError }: ToolResult): ToolResultPart {
  const part: { -readonly [Key in keyof ToolResultPart]: ToolResultPart[Key] } = {
    type: 'tool-result',
    id,
    name,
    content,
  };
  if (structured !== undefined) part.structured = structured;
  if (isError) part.isError = true;
  return part;
}

/** A result as events show it. */
export function resultOf({ type: _type, id: _id, name: _name, ...result }: ToolResultPart): ToolResult {
  return result;
}

/** The part as it is, unless its arguments were no JSON. */
export function inputOf(run: Run, part: ToolCallPart): ToolCallPart | ToolCallRequest {
  return part.invalidInput === undefined ? part : requestOf(run, part);
}

/** A call as the hooks around it see it. */
export function requestOf(
  run: Run,
  { id, name, input, invalidInput }: ToolCallPart,
  approved?: boolean,
): ToolCallRequest {
  return {
    id,
    name,
    input: invalidInput === undefined ? input : undefined,
    additions: undefined,
    invalidInput,
    tool: run.config.chain.wrapToolCall === undefined ? undefined : run.snapshot?.find(name),
    approved,
    run,
    signal: undefined,
  };
}
