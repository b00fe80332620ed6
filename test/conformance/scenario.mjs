// The scenario that the suite runs, and the calls that it expects.

export const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
/** @type {Record<string, any>} */
export const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
/** True for the suite of revision 2026-07-28. */
export const isNew = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28';
export const url = process.argv.at(-1) ?? '';

/** @typedef {{ readonly name: string, readonly schema?: unknown }} Listed */

/** Inputs for the tools of the suite. */
const INPUTS = { add_numbers: { a: 5, b: 3 }, valid_tool: { region: 'us-west1' } };

/**
 * Returns the calls of a scenario: those that the suite names, or one of each tool.
 * @param {readonly Listed[]} tools
 * @returns {readonly { name: string, input: Record<string, unknown> }[]}
 */
export function callsOf(tools) {
  /** @type {{ name: string, arguments: Record<string, unknown> }[] | undefined} */
  const named = context.toolCalls;
  if (named !== undefined) return named.map(({ name, arguments: input }) => ({ name, input }));
  const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.schema;
  return tools.map(({ name }) => {
    if (name === 'json_schema_echo') return { name, input: { schema } };
    return { name, input: INPUTS[/** @type {keyof typeof INPUTS} */ (name)] ?? {} };
  });
}
