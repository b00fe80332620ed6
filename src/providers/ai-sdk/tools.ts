import type { ModelRequest, ModelResponse, ToolSpec } from '../../model/model.js';
import {
  ANTHROPIC_TOOLS,
  acceptedParameters,
  withOwnArguments,
  withWireArguments,
} from '../anthropic/property-names.js';
import { OPENAI_TOOLS } from '../openai/schema.js';
import { acceptedTools, type ToolRules } from '../shared/tools/accepted-tools.js';
import { toolParameters } from '../shared/tools/tool-parameters.js';
import { type WireObject, wellFormed } from '../shared/wire.js';
import { type AiSdkModel, familyOf, isClaude, isOpenAI } from './model.js';
import type { ProviderTools } from './provider-tools.js';

/** The model that receives a request, and the tools that its provider defines. */
export interface ToolTarget {
  readonly model: AiSdkModel;
  readonly providerTools?: ProviderTools | undefined;
}

/**
 * Returns the call options for tools. A tool that the provider defines replaces the agent's tool of the same name in
 * the request. The agent's tool still runs the calls that the provider does not run itself.
 */
export function toolOptions({ tools, toolChoice }: ModelRequest, target: ToolTarget): WireObject {
  const { model, providerTools = {} } = target;
  const defined = Object.entries(providerTools).map(([name, tool]) => providerTool(name, tool, model));
  const own = functionTools(tools, target);
  const functions = acceptedTools(own, rulesOf(model, defined.length), (tool) => functionTool(tool, model));
  if (defined.length + functions.length === 0) return {};
  const offered = [...functions, ...defined];
  if (toolChoice === undefined) return { tools: offered };
  const choice = typeof toolChoice === 'object' ? { type: 'tool', toolName: toolChoice.tool } : { type: toolChoice };
  return { tools: offered, toolChoice: choice };
}

/**
 * Renames the arguments of earlier tool calls in a prompt, so that they match the property names in the request. Call
 * it after `toolOptions`, which chooses these names.
 */
export function withSentArguments(
  prompt: readonly WireObject[],
  { tools }: ModelRequest,
  target: ToolTarget,
): readonly WireObject[] {
  return isClaude(target.model) ? withWireArguments(prompt, functionTools(tools, target)) : prompt;
}

/**
 * Renames the arguments of tool calls in a response from the names in the request back to the tool's own property
 * names.
 */
export function withReadArguments(response: ModelResponse, { tools }: ModelRequest, target: ToolTarget): ModelResponse {
  return isClaude(target.model) ? withOwnArguments(response, functionTools(tools, target)) : response;
}

function functionTools(tools: readonly ToolSpec[], { providerTools = {} }: ToolTarget): readonly ToolSpec[] {
  return tools.filter(({ name }) => !Object.hasOwn(providerTools, name));
}

/**
 * Returns the provider's rules for tools. The AI SDK does not check them, and one tool that breaks a rule makes the
 * provider refuse the whole request.
 */
function rulesOf(model: AiSdkModel, definedTools: number): ToolRules {
  const provider = familyOf(model.provider);
  if (isClaude(model)) return { ...ANTHROPIC_TOOLS, provider };
  return isOpenAI(model) ? { ...OPENAI_TOOLS, most: OPENAI_TOOLS.most - definedTools, provider } : { provider };
}

function functionTool({ name, description, inputSchema }: ToolSpec, model: AiSdkModel): WireObject {
  const parameters = isClaude(model) ? acceptedParameters(inputSchema) : toolParameters(inputSchema);
  return wellFormed({ type: 'function', name, description, inputSchema: parameters });
}

function providerTool(name: string, tool: object, { specificationVersion }: AiSdkModel): WireObject {
  const { id, args } = tool as WireObject;
  return { type: specificationVersion === 'v2' ? 'provider-defined' : 'provider', id, name, args: args ?? {} };
}
