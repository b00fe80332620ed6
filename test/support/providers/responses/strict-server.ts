import { completionOf } from '../openai-reply.js';
import { type OpenAIServer, type Reply, type RequestBody, startOpenAIServer } from '../openai-server.js';
import { type ResponseItem, responseOf } from '../responses-reply.js';

/** A server that refuses what OpenAI refuses for current models. */
export interface StrictServer extends OpenAIServer {
  /** The reasons of refused requests to the Responses API. */
  readonly refusals: readonly string[];
}

type Item = Readonly<Record<string, unknown>>;

/** The documented fields of a request. */
const BODY_FIELDS = new Set(
  (
    'background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model ' +
    'parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention ' +
    'reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools ' +
    'top_logprobs top_p truncation user'
  ).split(' '),
);

/** The documented fields of the input items, by type. An item with a role needs no type. */
const ITEM_FIELDS: Readonly<Record<string, string>> = {
  message: 'type role content id status phase',
  reasoning: 'type id summary content encrypted_content',
  function_call: 'type id call_id name arguments status namespace caller',
  function_call_output: 'type id call_id output status caller',
  custom_tool_call: 'type id call_id name input namespace caller',
  custom_tool_call_output: 'type id call_id output caller',
  apply_patch_call: 'type id call_id status operation caller',
  apply_patch_call_output: 'type id call_id status output caller',
  shell_call: 'type id call_id status action environment caller',
  shell_call_output: 'type id call_id status output max_output_length caller',
  local_shell_call: 'type id call_id status action',
  local_shell_call_output: 'type id call_id status output',
  computer_call: 'type id call_id status action actions pending_safety_checks',
  computer_call_output: 'type id call_id status output acknowledged_safety_checks',
  tool_search_call: 'type id call_id status arguments execution',
  tool_search_output: 'type id call_id status tools execution',
  web_search_call: 'type id status action',
  file_search_call: 'type id status queries results',
  code_interpreter_call: 'type id status code container_id outputs',
  image_generation_call: 'type id status result',
  mcp_list_tools: 'type id server_label tools error',
  mcp_call: 'type id server_label name arguments output error status approval_request_id',
  mcp_approval_request: 'type id server_label name arguments',
  mcp_approval_response: 'type id approval_request_id approve reason',
  compaction: 'type id encrypted_content',
  program: 'type id call_id code fingerprint',
  program_output: 'type id call_id result status',
  additional_tools: 'type id role tools',
  item_reference: 'type id',
};

/** Items that belong to a response, so that reasoning may precede each. */
const OUTPUT_ITEM = /^(?!.*_output$)(?!mcp_approval_response)/;

/** Starts a server that sends the outputs in order. It refuses tools on chat completions, and invalid input items. */
export async function strictServer(outputs: readonly (readonly ResponseItem[])[]): Promise<StrictServer> {
  const refusals: string[] = [];
  let sent = 0;
  const server = await startOpenAIServer((body) => {
    if (body.messages) return body.tools ? refuse(TOOLS_ON_CHAT) : { json: completionOf({ text: 'Hi.' }) };
    const problem = problemOf(body);
    if (problem !== undefined) refusals.push(problem);
    if (problem !== undefined) return refuse(problem);
    sent += 1;
    return responseOf(outputs[sent - 1] ?? [], { stream: body.stream === true, id: `resp_${sent}` });
  });
  return { ...server, refusals };
}

const TOOLS_ON_CHAT =
  'Function tools with reasoning_effort are not supported for this model in /v1/chat/completions. Please use /v1/responses instead.';

function refuse(message: string): Reply {
  return { status: 400, json: { error: { message, type: 'invalid_request_error', param: null, code: null } } };
}

/** Returns the reason to refuse a request, or undefined. */
export function problemOf(body: RequestBody): string | undefined {
  const unknown = Object.keys(body).find((name) => !BODY_FIELDS.has(name));
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'.`;
  const input = (body.input ?? []) as readonly Item[];
  if (input.length === 0) return "Missing required parameter: 'input'.";
  return input.map((item, at) => problemOfItem(item, at) ?? problemOfPlace(input, at, body)).find(Boolean);
}

function problemOfItem(item: Item, at: number): string | undefined {
  const type = item.type ?? (item.role === undefined ? undefined : 'message');
  const known = ITEM_FIELDS[String(type)]?.split(' ');
  if (known === undefined) return `Invalid value: '${type}' of input[${at}].type.`;
  const unknown = Object.keys(item).find((name) => !known.includes(name));
  return unknown === undefined ? undefined : `Unknown parameter: 'input[${at}].${unknown}'.`;
}

function problemOfPlace(input: readonly Item[], at: number, { store }: RequestBody): string | undefined {
  const item = input[at] as Item;
  const type = String(item.type);
  if (type === 'reasoning') {
    const next = input[at + 1];
    const follows =
      next && (next.role === 'assistant' || (next.role === undefined && OUTPUT_ITEM.test(String(next.type))));
    if (!follows) return `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
    if (store === false && !item.encrypted_content) return `Item with id '${item.id}' not found.`;
  }
  if (type === 'item_reference' && store === false) return `Item with id '${item.id}' not found.`;
  if (type === 'mcp_approval_response') {
    const asked = input.slice(0, at).some(({ id }) => id === item.approval_request_id);
    return asked ? undefined : `Approval request '${item.approval_request_id}' not found.`;
  }
  return problemOfPair(input, at);
}

/** Each call with an id needs one output, and each output needs a call before it. */
function problemOfPair(input: readonly Item[], at: number): string | undefined {
  const { type, call_id: id } = input[at] as Item;
  // A program waits for the outputs of its calls, so its own output may come later.
  if (id === undefined || id === null || type === 'program') return undefined;
  const isAnswer = /_output$/.test(String(type));
  const isPair = (other: Item) => other.call_id === id && /_output$/.test(String(other.type)) !== isAnswer;
  if (isAnswer) return input.slice(0, at).some(isPair) ? undefined : `No tool call found for call_id ${id}.`;
  return input.slice(at).some(isPair) ? undefined : `No tool output found for call ${id}.`;
}
