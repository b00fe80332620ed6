import { toJson } from '../../../internal/json.js';
import type { ToolCallPart, ToolResultPart } from '../../../model/message.js';
import { readArguments, toArguments } from '../../shared/answer.js';
import { defined, isObject, textOr, type WireObject } from '../../shared/wire.js';
import {
  approvalReason,
  computerOutput,
  dataIn,
  outputContent,
  plainOutput,
  shellOutput,
  toolsFound,
} from './request/outputs.js';
import { mcpToolName } from './response/hosted.js';

type ReadCall = Pick<ToolCallPart, 'name' | 'input' | 'invalidInput'>;

/** A tool call of the conversation, with fields of its output item that the message part does not store. */
export interface SentCall {
  readonly part: ToolCallPart;
  readonly callId: string;
  readonly kept: WireObject;
}

/**
 * A type of tool call in the Responses API that the application must answer. Describes how to read the call and how to
 * send its result.
 */
interface CallKind {
  /** The names of the item's fields that the message part stores itself. */
  readonly held: readonly string[];
  readonly needsApproval?: boolean;
  read(item: WireObject): ReadCall;
  call(call: SentCall): WireObject;
  /** Returns the input items that send the result of a call. */
  output(result: ToolResultPart, call: SentCall): readonly WireObject[];
}

const functionCall: CallKind = {
  held: ['name', 'arguments'],
  read: ({ name, arguments: text }) => ({ name: textOr(name), ...readArguments(text) }),
  // The API pairs the call with its output by `call_id`, so the item's id is not sent.
  call: ({ part, callId, kept: { id, ...kept } }) => ({
    ...kept,
    type: 'function_call',
    call_id: callId,
    name: part.name,
    arguments: toJson(toArguments(part)),
  }),
  output: (result, { callId, kept: { caller } }) => [
    defined({ type: 'function_call_output', call_id: callId, output: outputContent(result), caller }),
  ],
};

const customCall: CallKind = {
  held: ['name', 'input'],
  read: ({ name, input }) => ({ name: textOr(name), input: textOr(input) }),
  call: ({ part: { name, input }, callId, kept }) => ({
    ...kept,
    call_id: callId,
    name,
    input: typeof input === 'string' ? input : (toJson(input) ?? ''),
  }),
  output: (result, { callId, kept: { caller } }) => [
    defined({ type: 'custom_tool_call_output', call_id: callId, output: outputContent(result), caller }),
  ],
};

/** Calls of `apply_patch`. The input of the tool is an object with the operation. */
const patchCall: CallKind = {
  held: ['operation'],
  read: ({ operation }) => ({ name: 'apply_patch', input: { operation } }),
  call: ({ part, callId, kept }) => ({ ...kept, call_id: callId, status: 'completed', ...inputOf(part) }),
  output(result, { callId, kept: { caller } }) {
    const given = dataIn(result);
    const isFailed = result.isError || (isObject(given) && given.status === 'failed');
    const output = isObject(given) && typeof given.output === 'string' ? given.output : plainOutput(result);
    const status = isFailed ? 'failed' : 'completed';
    return [defined({ type: 'apply_patch_call_output', call_id: callId, status, output, caller })];
  },
};

/** Calls of `shell`. The input of the tool is the `action` of the item. */
const shellCall: CallKind = {
  held: ['action'],
  read: ({ action }) => ({ name: 'shell', input: action ?? {} }),
  call: ({ part, callId, kept }) => ({ ...kept, call_id: callId, status: 'completed', action: part.input }),
  output: (result, { part, callId, kept: { caller } }) => [
    defined({ type: 'shell_call_output', call_id: callId, ...shellOutput(result, part.input), caller }),
  ],
};

/** Calls of `local_shell`. The input of the tool is the `action` of the item. */
const localShellCall: CallKind = {
  held: ['action'],
  read: ({ action }) => ({ name: 'local_shell', input: action ?? {} }),
  call: shellCall.call,
  output(result, { callId }) {
    const given = dataIn(result);
    const output = isObject(given) && typeof given.output === 'string' ? given.output : plainOutput(result);
    return [{ type: 'local_shell_call_output', call_id: callId, output }];
  },
};

/**
 * Calls of `computer`. The input of the tool has the `action` or `actions` of the item, and its
 * `pending_safety_checks`.
 */
const computerCall: CallKind = {
  held: ['action', 'actions', 'pending_safety_checks'],
  read: ({ action, actions, pending_safety_checks }) => ({
    name: 'computer',
    input: defined({ action: action ?? undefined, actions: actions ?? undefined, pending_safety_checks }),
  }),
  call: ({ part, callId, kept }) => ({ ...kept, call_id: callId, status: 'completed', ...inputOf(part) }),
  output: (result, { callId }) => computerOutput(result, callId),
};

/** Calls of `tool_search`. The input of the tool is the `arguments` of the item. */
const toolSearchCall: CallKind = {
  held: ['arguments'],
  read: ({ arguments: given }) => ({ name: 'tool_search', ...readArguments(given) }),
  call: ({ part, callId, kept }) => ({ ...kept, call_id: callId, status: 'completed', arguments: part.input }),
  output: (result, { callId }) => [
    {
      type: 'tool_search_output',
      call_id: callId,
      execution: 'client',
      status: 'completed',
      tools: toolsFound(result),
    },
  ],
};

/**
 * Requests to approve the call of a tool that OpenAI runs. The result of the call is the decision of a person. OpenAI
 * runs the tool after an approval.
 */
const approvalRequest: CallKind = {
  held: [],
  needsApproval: true,
  read: (item) => ({ name: mcpToolName(item), ...readArguments(item.arguments) }),
  call: ({ kept }) => kept,
  output: (result, { kept: { id } }) => [
    defined({
      type: 'mcp_approval_response',
      approval_request_id: id,
      approve: !result.isError,
      reason: result.isError ? approvalReason(result) : undefined,
    }),
  ],
};

/** The types of calls that the application must answer, by the type of their output item. */
export const callKinds: ReadonlyMap<string, CallKind> = new Map([
  ['function_call', functionCall],
  ['custom_tool_call', customCall],
  ['apply_patch_call', patchCall],
  ['shell_call', shellCall],
  ['local_shell_call', localShellCall],
  ['computer_call', computerCall],
  ['tool_search_call', toolSearchCall],
  ['mcp_approval_request', approvalRequest],
]);

/** Returns the type of a tool call. A call that another provider's model made is sent as a function call. */
export function kindOf(kept: WireObject): CallKind {
  return callKinds.get(textOr(kept.type)) ?? functionCall;
}

function inputOf({ input }: ToolCallPart): WireObject {
  return isObject(input) ? input : {};
}
