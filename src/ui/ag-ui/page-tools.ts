import { ToolInvalidError } from '../../errors.js';
import { isObject } from '../../internal/json.js';
import { defineTool } from '../../tools/define-tool.js';
import type { Tool } from '../../tools/tool.js';
import { UIBodyInvalidError } from '../error.js';
import { invalidBody } from '../invalid-body.js';

const MOST_TOOLS = 64;
const NO_ARGUMENTS = { type: 'object', properties: {} };

/** Reads the `tools` of a `RunAgentInput`, which the page runs. Throws a UIBodyInvalidError if a tool is invalid. */
export function readPageTools(tools: unknown): readonly Tool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools) || tools.length > MOST_TOOLS) {
    const got = Array.isArray(tools) ? tools.length : tools;
    throw invalidBody('`tools`', `an array of at most ${MOST_TOOLS} tools`, got);
  }
  const read = tools.map(readTool);
  const twice = read.find(({ name }, index) => read.findIndex((tool) => tool.name === name) < index);
  if (twice !== undefined) throw invalidBody('the names of `tools`', 'different', twice.name);
  return read;
}

function readTool(tool: unknown, index: number): Tool {
  const at = `\`tools[${index}]\``;
  if (!isObject(tool)) throw invalidBody(at, 'an object', tool);
  const { name, description, parameters } = tool;
  if (typeof name !== 'string') throw invalidBody(`the name of ${at}`, 'a string', name);
  if (typeof description !== 'string') throw invalidBody(`the description of ${at}`, 'a string', description);
  const input = parameters ?? NO_ARGUMENTS;
  if (!isObject(input)) throw invalidBody(`the parameters of ${at}`, 'a JSON Schema of an object', parameters);
  try {
    // The page checks the arguments of its own tools. A check on the server would run regular expressions from the
    // page.
    return { ...defineTool({ name, description, input, origin: 'page' }), check: (value) => ({ value }) };
  } catch (error) {
    if (!(error instanceof ToolInvalidError)) throw error;
    throw new UIBodyInvalidError(`${at} must be a tool that the model can call. ${error.message}`);
  }
}
