import { boolean, oneOf, texts, whole } from '../../internal/options/rules.js';
import { type OptionTable, validateOption, validateOptions } from '../../internal/options/validate.js';
import type { AgentLifecycle, ModelCallRequest, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { ToolSpec } from '../../model/model.js';
import { searchedRuns } from '../../tools/searched-runs.js';
import type { Tool, ToolResult } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import { FoundTools, wholeTools } from './found-tools.js';
import { type FindTools, indexTools } from './index-tools.js';

/** Options of {@link toolSearch}. */
export interface ToolSearchOptions {
  /** The largest number of tools that are all offered. With more tools, the model finds tools by a search. Default: 30. */
  readonly over?: number | undefined;
  /** Names of tools that are always offered. `*` matches any characters. */
  readonly pinned?: readonly string[] | undefined;
  /** Names of MCP servers whose tools are always offered. */
  readonly pinnedServers?: readonly string[] | undefined;
  /** The largest number of tools that one search returns. Default: 5. */
  readonly results?: number | undefined;
  /** How long a found tool stays offered: in this run, or in the conversation, later runs included. Default: `session`. */
  readonly keep?: 'run' | 'session' | undefined;
  /** The name of the search tool. Default: `search_tools`. */
  readonly name?: string | undefined;
  /**
   * If true, a model whose provider searches among tools uses the search of its provider. The options `results`, `keep` and
   * `name` have no effect then. Default: true.
   */
  readonly provider?: boolean | undefined;
}

const rules = {
  over: whole(0),
  pinned: texts,
  pinnedServers: texts,
  results: whole(1),
  keep: oneOf('run', 'session'),
  provider: boolean,
  name: {
    expected: 'a string of 1 to 64 letters, digits, "_" and "-"',
    accepts: (value) => typeof value === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(value),
  },
} satisfies OptionTable<ToolSearchOptions>;

const SOURCES_SHOWN = 30;
const DESCRIPTION_SHOWN = 200;

/**
 * Makes a lifecycle that offers few tools of many. If a request has more than `over` tools, the model gets a search tool
 * in place of most of them. A found tool is offered from the next turn on. A request with `over` tools or fewer does not
 * change.
 *
 * The application's own tools, which have no `origin`, stay offered if they are at most `over`. Tools that
 * `beforeToolSelection` removes cannot be found. Found tools pass through all hooks, such as approval.
 *
 * A model with `findsTools`, such as Claude, gets no search tool: its provider searches among the other tools.
 *
 * Priority 4: innermost, so that the search covers the tools that other lifecycles leave in the request.
 *
 * @example
 * import { Agent } from 'keelson';
 * import { toolSearch } from 'keelson/lifecycles';
 * import { mcpServers } from 'keelson/mcp';
 * import { scriptedModel } from 'keelson/testing';
 *
 * const mcp = mcpServers({ servers: { files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] } } });
 * const model = scriptedModel(['Done.']);
 * const agent = new Agent({ model, loaders: [mcp], lifecycle: [toolSearch({ pinnedServers: ['files'] })] });
 */
export function toolSearch(options: ToolSearchOptions = {}): AgentLifecycle {
  validateOptions(options, rules);
  const search = new ToolSearch(options);
  return {
    name: 'tool-search',
    priority: 4,
    wrapModelCall: (request, next) => next(search.narrowed(request)),
    wrapToolCall: (call, next) => (search.isSearch(call) ? search.answer(call) : next(call)),
  };
}

class ToolSearch {
  private readonly over: number;
  private readonly most: number;
  private readonly name: string;
  private readonly runs = new WeakMap<object, FoundTools>();
  /** The last index, and the names and descriptions that it covers. */
  private index: { readonly key: string; readonly find: Promise<FindTools> } | undefined = undefined;
  private readonly isPinned: (tool: Tool) => boolean;

  constructor(private readonly options: ToolSearchOptions) {
    const { over = 30, results = 5, name = 'search_tools', pinned = [], pinnedServers = [] } = options;
    this.over = over;
    this.most = results;
    this.name = name;
    const patterns = pinned.map(patternOf);
    const origins = pinnedServers.map((server) => `mcp:${server}`);
    this.isPinned = (tool) =>
      origins.includes(tool.origin ?? '') || patterns.some((pattern) => pattern.test(tool.name));
  }

  /** Returns the request with the pinned and found tools and the search tool, or the request itself. */
  narrowed(request: ModelCallRequest): ModelCallRequest {
    const found = this.foundIn(request);
    found.hidden = [];
    if (request.tools.length <= this.over) return request;
    if (request.model.findsTools && this.options.provider !== false) return this.deferred(request);
    const all = wholeTools(request);
    validateOption('name', this.name, {
      expected: 'a name that no tool of the agent has',
      accepts: (name) => all.every((tool) => tool.name !== name),
    });
    const isKept = this.keptIn(request, all);
    found.hidden = all.filter((tool) => !isKept(tool) && !found.names.has(tool.name));
    if (found.hidden.length === 0) return request;
    const hidden = new Set(found.hidden.map(({ name }) => name));
    const offered: ToolSpec[] = request.tools.filter(({ name }) => !hidden.has(name));
    return { ...request, tools: [...offered, this.toolFor(found.hidden)] };
  }

  /**
   * Returns the request with marks on the tools that the provider searches. Found tools keep their marks, because a changed
   * tool would remove the request from the provider's cache.
   */
  private deferred(request: ModelCallRequest): ModelCallRequest {
    const all = wholeTools(request);
    const isKept = this.keptIn(request, all);
    const tools = request.tools.map((spec, at) => (isKept(all[at] as Tool) ? spec : { ...spec, deferred: true }));
    return { ...request, tools };
  }

  /** Returns a function that is true for the tools that are always offered. */
  private keptIn({ toolChoice }: ModelCallRequest, all: readonly Tool[]): (tool: Tool) => boolean {
    const own = all.filter(({ origin }) => origin === undefined);
    const keepsOwn = own.length <= this.over;
    const forced = typeof toolChoice === 'object' ? toolChoice.tool : undefined;
    return (tool) => (keepsOwn && tool.origin === undefined) || tool.name === forced || this.isPinned(tool);
  }

  isSearch({ name, tool, run }: ToolCallRequest): boolean {
    return name === this.name && tool === undefined && this.runs.has(run);
  }

  async answer({ input, run }: ToolCallRequest): Promise<ToolResult> {
    const { query } = (input ?? {}) as { readonly query?: unknown };
    const hidden = this.runs.get(run)?.hidden ?? [];
    if (typeof query !== 'string' || query.trim() === '') {
      return errorResult(`The arguments of "${this.name}" are not valid: \`query\` must be a string of words.`);
    }
    const names = (await this.finderOf(hidden))(query, this.most);
    if (names.length === 0) {
      const content = `No tool matches ${JSON.stringify(query)}. Search with other words. ${sourcesOf(hidden)}`;
      return { content, structured: { tools: [] } };
    }
    const lines = names.map((name) => `- ${name}: ${shortText(hidden.find((tool) => tool.name === name))}`);
    const content = `You can call these tools from now on:\n${lines.join('\n')}`;
    return { content, structured: { tools: [...names] } };
  }

  private foundIn({ run, messages }: ModelCallRequest): FoundTools {
    let found = this.runs.get(run);
    if (found === undefined) {
      found = new FoundTools(this.name);
      this.runs.set(run, found);
      searchedRuns.add(run);
      if (this.options.keep === 'run') found.skip(messages);
    }
    found.scan(messages);
    return found;
  }

  private finderOf(tools: readonly Tool[]): Promise<FindTools> {
    const key = JSON.stringify(tools.map(({ name, description }) => [name, description]));
    if (this.index?.key !== key) this.index = { key, find: indexTools(tools) };
    return this.index.find;
  }

  private toolFor(hidden: readonly Tool[]): ToolSpec {
    return {
      name: this.name,
      description: `Finds tools by words that describe a task. Found tools can be called in the next step. ${sourcesOf(hidden)}`,
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string', description: 'Words such as "create issue", or the names of tools.' } },
        required: ['query'],
      },
    };
  }
}

/** Lists the sources of tools with the number of their tools. */
function sourcesOf(tools: readonly Tool[]): string {
  const counts = new Map<string, number>();
  for (const { origin = 'application' } of tools) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  const shown = [...counts]
    .slice(0, SOURCES_SHOWN)
    .map(([origin, count]) => `${origin.replace(/^mcp:/, '')} (${count})`);
  const rest = counts.size > SOURCES_SHOWN ? ', …' : '';
  return `${tools.length} tools can be found, by source: ${shown.join(', ')}${rest}.`;
}

function shortText(tool: Tool | undefined): string {
  const text = tool?.description.replace(/\s+/g, ' ') ?? '';
  return text.length > DESCRIPTION_SHOWN ? `${text.slice(0, DESCRIPTION_SHOWN)}…` : text;
}

function patternOf(pattern: string): RegExp {
  const parts = pattern.split(/\*+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
