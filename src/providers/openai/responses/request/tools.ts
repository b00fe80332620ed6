import type { Logger } from '../../../../internal/logger.js';
import type { ToolChoice, ToolSpec } from '../../../../model/model.js';
import { acceptedTools } from '../../../shared/tools/accepted-tools.js';
import { toolParameters } from '../../../shared/tools/tool-parameters.js';
import { defined, objectsIn, textOr, type WireObject, wellFormed } from '../../../shared/wire.js';
import { isStrictSchema, OPENAI_TOOLS } from '../../schema.js';
import { customOf } from '../custom-tool.js';

/** Tools that OpenAI defines, and the receiver of warnings. */
interface OwnTools {
  readonly defined: readonly WireObject[];
  readonly logger?: Logger | undefined;
}

/**
 * Returns the tools of a request. A tool that OpenAI defines replaces the agent's tool with its name in the request. A
 * tool that OpenAI would refuse is left out with a warning.
 */
export function toWireTools(tools: readonly ToolSpec[], { defined, logger }: OwnTools): readonly WireObject[] {
  const names = new Set(defined.flatMap(namesOf));
  const own = tools.filter(({ name }) => !names.has(name));
  const most = OPENAI_TOOLS.most - defined.length;
  return [...acceptedTools(own, { ...OPENAI_TOOLS, most, logger }, wireTool), ...defined];
}

function wireTool(tool: ToolSpec): WireObject {
  const { name, description } = tool;
  const custom = customOf(tool);
  if (custom !== undefined) return defined({ type: 'custom', name, description, format: custom.format });
  const parameters = toolParameters(tool.inputSchema);
  // Without `strict`, the API would change the schema to make it strict.
  return wellFormed({ type: 'function', name, description, parameters, strict: isStrictSchema(parameters) });
}

/** Returns the names by which calls of a tool reach the agent. */
function namesOf({ type, name, tools }: WireObject): readonly string[] {
  if (type === 'namespace') return objectsIn(tools).flatMap(namesOf);
  if (textOr(name) !== '') return [textOr(name)];
  return [textOr(type).startsWith('computer') ? 'computer' : textOr(type)];
}

/** Returns the tool choice in the form of the chosen tool's type. */
export function toWireToolChoice(choice: ToolChoice | undefined, tools: readonly WireObject[]): unknown {
  if (typeof choice !== 'object') return choice;
  const { tool: name } = choice;
  const chosen = tools.find((tool) => namesOf(tool).includes(name) && tool.type !== 'namespace');
  const { type } = chosen ?? { type: 'function' };
  return type === 'function' || type === 'custom' ? { type, name } : { type };
}
