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

/** A call of the conversation, with the fields of its item that the message part lacks. */
export interface SentCall {
  readonly part: ToolCallPart;
  readonly callId: string;
  readonly kept: WireObject;
}

/** A kind of output item that the application answers, with the kind of item for the answer. */
interface CallKind {
  /** The fields of the item that the message part already has. */
  readonly held: readonly string[];
  readonly needsApproval?: boolean;
  read(item: WireObject): ReadCall;
  call(call: SentCall): WireObject;
  /** Returns the items that answer a call with its result. */
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

/** The input of `apply_patch` is an object with the operation. */
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

/** The input of `shell` is the item's `action`. */
const shellCall: CallKind = {
  held: ['action'],
  read: ({ action }) => ({ name: 'shell', input: action ?? {} }),
  call: ({ part, callId, kept }) => ({ ...kept, call_id: callId, status: 'completed', action: part.input }),
  output: (result, { part, callId, kept: { caller } }) => [
    defined({ type: 'shell_call_output', call_id: callId, ...shellOutput(result, part.input), caller }),
  ],
};

/** The input of `local_shell` is the item's `action`. */
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

/** The input of `computer` has the item's `action` or `actions`, and its `pending_safety_checks`. */
const computerCall: CallKind = {
  held: ['action', 'actions', 'pending_safety_checks'],
  read: ({ action, actions, pending_safety_checks }) => ({
    name: 'computer',
    input: defined({ action: action ?? undefined, actions: actions ?? undefined, pending_safety_checks }),
  }),
  call: ({ part, callId, kept }) => ({ ...kept, call_id: callId, status: 'completed', ...inputOf(part) }),
  output: (result, { callId }) => computerOutput(result, callId),
};

/** The input of `tool_search` is the item's `arguments`. */
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
 * An approval request. The decision of the person becomes the result of the call. OpenAI runs the tool after an
 * approval.
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

/** The kinds of calls that the application answers, by the type of their item. */
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

/** Returns the kind of a call. A call from another provider is sent as a function call. */
export function kindOf(kept: WireObject): CallKind {
  return callKinds.get(textOr(kept.type)) ?? functionCall;
}

function inputOf({ input }: ToolCallPart): WireObject {
  return isObject(input) ? input : {};
}
