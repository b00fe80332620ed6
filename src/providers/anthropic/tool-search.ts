import { isObject, objectsIn, textOr, type WireObject } from '../shared/wire.js';

/** The tool with which the model searches for other tools on Anthropic's side. */
const SEARCH_TOOL = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };

const NO_SEARCH = { type: 'text', text: '(searched for tools)' };

/**
 * Adds Anthropic's search tool if the request has a deferred tool, which the model can only find by a search. Adds
 * nothing if the application has added a search tool.
 */
export function withSearchTool(tools: readonly WireObject[]): readonly WireObject[] {
  const isNeeded = tools.some((tool) => tool.defer_loading === true) && !tools.some(isSearchTool);
  return isNeeded ? [SEARCH_TOOL, ...tools] : tools;
}

/**
 * Removes references to tools that the request does not contain from earlier search results, because the API refuses
 * them. If the request has no search tool, removes the searches themselves.
 */
export function withKnownReferences(messages: readonly WireObject[], tools: unknown): readonly WireObject[] {
  if (!messages.some(({ content }) => objectsIn(content).some(isSearchBlock))) return messages;
  const sent = objectsIn(tools);
  const names = new Set(sent.map(({ name }) => name));
  const canSearch = sent.some(isSearchTool);
  return messages.map((message) => {
    const blocks = objectsIn(message.content);
    if (!blocks.some(isSearchBlock)) return message;
    if (canSearch) return { ...message, content: blocks.map((block) => knownReferences(block, names)) };
    return { ...message, content: withoutSearches(blocks) };
  });
}

function withoutSearches(blocks: readonly WireObject[]): readonly WireObject[] {
  const kept = blocks.filter((block) => !isSearchBlock(block));
  // The API refuses a turn that ends with thinking.
  while (/thinking$/.test(textOr(kept.at(-1)?.type))) kept.pop();
  return kept.length > 0 ? kept : [NO_SEARCH];
}

function knownReferences(block: WireObject, names: ReadonlySet<unknown>): WireObject {
  const { type, content } = block;
  if (type !== 'tool_search_tool_result' || !isObject(content) || content.tool_references === undefined) return block;
  const known = objectsIn(content.tool_references).filter(({ tool_name }) => names.has(tool_name));
  return { ...block, content: { ...content, tool_references: known } };
}

function isSearchTool({ type }: WireObject): boolean {
  return textOr(type).startsWith('tool_search_tool_');
}

function isSearchBlock({ type, name }: WireObject): boolean {
  return type === 'tool_search_tool_result' || (type === 'server_tool_use' && isSearchTool({ type: name }));
}
