import type { AssistantPart, ToolCallPart } from '../../../model/message.js';
import type { ModelRequest, ModelResponse, ToolChoice, ToolSpec } from '../../../model/model.js';

const NAME = 'final_answer';

/** A changed request in which the model gives its final answer by calling a tool. */
export interface AnswerByTool {
  readonly name: string;
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice | undefined;
}

/**
 * Adds a tool whose arguments are the final answer, with the output schema. Unless the request has its own tool choice,
 * the model must call this tool or one of the agent's tools.
 */
export function offerAnswer({ tools, toolChoice }: ModelRequest, inputSchema: ToolSpec['inputSchema']): AnswerByTool {
  let name = NAME;
  while (tools.some((tool) => tool.name === name)) name += '_';
  const description = 'Gives the final answer. Call it once, when you know the answer, instead of writing the answer.';
  const answer = { name, description, inputSchema };
  if (tools.length === 0 || toolChoice === 'none') return { name, tools: [answer], toolChoice: { tool: name } };
  const isFree = toolChoice === undefined || toolChoice === 'auto';
  return { name, tools: [...tools, answer], toolChoice: isFree ? 'required' : toolChoice };
}

/**
 * Returns the response with the arguments of the answer tool as its text. If the response has other tool calls too,
 * drops the answer, because the model must first see their results.
 */
export function readAnswerCall(response: ModelResponse, name: string): ModelResponse {
  const isAnswer = (part: AssistantPart) => part.type === 'tool-call' && part.name === name;
  const answer = response.content.find(isAnswer) as ToolCallPart | undefined;
  if (answer === undefined) return response;
  const content = response.content.filter((part) => !isAnswer(part));
  if (content.some((part) => part.type === 'tool-call' && !part.providerExecuted)) return { ...response, content };
  const remarks = content.map((part) => (part.type === 'text' ? { ...part, commentary: true } : part));
  const text = answer.invalidInput ?? JSON.stringify(answer.input);
  const finishReason = response.finishReason === 'tool-calls' ? 'stop' : response.finishReason;
  return { ...response, content: [...remarks, { type: 'text', text }], finishReason };
}
