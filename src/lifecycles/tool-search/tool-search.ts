import { boolean, oneOf, texts, whole } from '../../internal/options/rules.js';
import { type OptionTable, validateOption, validateOptions } from '../../internal/options/validate.js';
import type { Awaitable } from '../../internal/promise.js';
import { starTest } from '../../internal/star-pattern.js';
import type { AgentLifecycle, ModelCallRequest, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { ToolSpec } from '../../model/model.js';
import type { Tool, ToolResult } from '../../tools/tool.js';
import { errorResult } from '../../tools/tool-result.js';
import { nearestTool } from '../../tools/unknown-tool-names.js';
import { checkToolNames } from '../tool-name-check.js';
import { FoundTools, wholeTools } from './found-tools.js';
import { type FindTools, indexTools } from './index-tools.js';

/** Options of {@link toolSearch}. */
export interface ToolSearchOptions {
  /**
   * The largest number of tools that are offered without a search. With more tools, the model has to search for tools.
   * Default: 30.
   */
  readonly over?: number | undefined;
  /**
   * Names of tools that are always offered. `*` matches any characters. If a name without `*` matches no tool, a
   * warning is logged at the first model call.
   */
  readonly pinned?: readonly string[] | undefined;
  /** Names of MCP servers whose tools are always offered. */
  readonly pinnedServers?: readonly string[] | undefined;
  /** The largest number of tools that one search returns. Default: 5. */
  readonly results?: number | undefined;
  /**
   * How long a found tool stays offered: until the end of the run, or also in later runs of the session. Default:
   * `session`.
   */
  readonly keep?: 'run' | 'session' | undefined;
  /** The name of the search tool. Default: `search_tools`. */
  readonly name?: string | undefined;
  /**
   * If true, a model whose provider can search tools uses the search of the provider. The options `results`, `keep` and
   * `name` then have no effect. Default: true.
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
/** The largest number of found tools in a request, so that a long conversation stays within the limits of providers. */
const MOST_FOUND = 60;
/** Only this many characters of a query are read, because the time of a search grows with the query. */
const QUERY_READ = 500;

/**
 * Makes a lifecycle that hides most of many tools until the model searches for them. If a request has more than `over`
 * tools, a search tool replaces most of them. A found tool is offered from the next turn on. A request with at most
 * `over` tools does not change.
 *
 * The application's own tools, which have no `origin`, stay offered if there are at most `over` of them. Tools that
 * `beforeToolSelection` removes cannot be found. Calls of found tools pass through all hooks, such as approval.
 *
 * A model with `findsTools`, such as Claude, gets no search tool: its provider searches among the hidden tools.
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
  const names = (options.pinned ?? []).filter((name) => !name.includes('*'));
  const pinnedNames = names.length > 0 ? checkToolNames('toolSearch({ pinned })', names, false) : undefined;
  return {
    name: 'tool-search',
    priority: 4,
    onInit: pinnedNames?.onInit,
    wrapModelCall(request, next) {
      pinnedNames?.check(request.run);
      return next(search.narrowed(request));
    },
    wrapToolCall: (call, next) => search.answerTo(call) ?? next(call),
  };
}

class ToolSearch {
  private readonly over: number;
  private readonly most: number;
  private readonly name: string;
  private readonly runs = new WeakMap<object, FoundTools>();
  /** The latest index, with the tools that it covers. */
  private index: { readonly tools: readonly Tool[]; readonly find: Promise<FindTools> } | undefined = undefined;
  private readonly isPinned: (tool: Tool) => boolean;

  constructor(private readonly options: ToolSearchOptions) {
    const { over = 30, results = 5, name = 'search_tools', pinned = [], pinnedServers = [] } = options;
    this.over = over;
    this.most = results;
    this.name = name;
    const patterns = pinned.map(starTest);
    const origins = pinnedServers.map((server) => `mcp:${server}`);
    this.isPinned = (tool) => origins.includes(tool.origin ?? '') || patterns.some((fits) => fits(tool.name));
  }

  /**
   * Returns the request with the search tool, the pinned tools and the found tools. Returns the request itself if it
   * needs no search.
   */
  narrowed(request: ModelCallRequest): ModelCallRequest {
    const found = this.foundIn(request);
    found.tools = [];
    if (request.tools.length <= this.over) return request;
    const all = wholeTools(request);
    if (request.model.findsTools && this.options.provider !== false) {
      found.tools = all;
      return this.deferred(request, all);
    }
    validateOption('name', this.name, {
      expected: 'a name that no tool of the agent has',
      accepts: (name) => all.every((tool) => tool.name !== name),
    });
    const isKept = this.keptIn(request, all);
    const others = all.filter((tool) => !isKept(tool)).map(({ name }) => name);
    const hidden = this.hiddenOf(others, found);
    if (hidden.size === 0) return request;
    found.tools = all;
    found.hidden = hidden;
    const offered: ToolSpec[] = request.tools.filter(({ name }) => !hidden.has(name));
    // The search tool comes first, because a provider with a limit keeps the first tools.
    return { ...request, tools: [this.toolFor(all.filter(({ name }) => hidden.has(name))), ...offered] };
  }

  /** Returns the names of the tools to leave out of the request: all of `names`, except the latest found ones. */
  private hiddenOf(names: readonly string[], found: FoundTools): ReadonlySet<string> {
    const hidden = new Set(names);
    const known = [...found.names].filter((name) => hidden.has(name));
    for (const name of known.slice(-Math.max(MOST_FOUND, this.most))) hidden.delete(name);
    return hidden;
  }

  /**
   * Returns the request with `deferred` set on the tools that the provider searches. Found tools stay deferred: a
   * change of the tools would make the provider's cache useless.
   */
  private deferred(request: ModelCallRequest, all: readonly Tool[]): ModelCallRequest {
    const isKept = this.keptIn(request, all);
    const tools = request.tools.map((spec, at) => (isKept(all[at] as Tool) ? spec : { ...spec, deferred: true }));
    return { ...request, tools };
  }

  /** Returns a function that tells which tools are always offered. */
  private keptIn({ toolChoice }: ModelCallRequest, all: readonly Tool[]): (tool: Tool) => boolean {
    const own = all.filter(({ origin }) => origin === undefined);
    const keepsOwn = own.length <= this.over;
    const forced = typeof toolChoice === 'object' ? toolChoice.tool : undefined;
    return (tool) => (keepsOwn && tool.origin === undefined) || tool.name === forced || this.isPinned(tool);
  }

  /** Answers a call of the search tool, or of an unknown tool. Returns undefined for every other call. */
  answerTo({ name, tool, needsApproval, input, run }: ToolCallRequest): Awaitable<ToolResult> | undefined {
    const found = this.runs.get(run);
    if (found === undefined || tool !== undefined || needsApproval) return undefined;
    if (name === this.name) return this.search((input ?? {}) as { readonly query?: unknown }, found);
    return found.tools.length === 0 ? undefined : this.unknown(name, found);
  }

  /**
   * Returns the error result for an unknown tool. Names only the most similar tool, because a list of many tools would
   * be too long.
   */
  private unknown(name: string, { tools, hidden }: FoundTools): ToolResult {
    const near = nearestTool(
      name,
      tools.map((tool) => tool.name),
    );
    const advice = near === undefined ? '' : ` Did you mean "${near}"?`;
    return errorResult(
      `There is no tool "${name}".${advice}${hidden.size > 0 ? ` Find tools with "${this.name}".` : ''}`,
    );
  }

  private async search({ query }: { readonly query?: unknown }, { tools, hidden }: FoundTools): Promise<ToolResult> {
    if (typeof query !== 'string' || query.trim() === '') {
      return errorResult(`The arguments of "${this.name}" are not valid: \`query\` must be a string of words.`);
    }
    const words = query.slice(0, QUERY_READ);
    const names = (await this.finderOf(tools))(words);
    const found = names.filter((name) => hidden.has(name)).slice(0, this.most);
    const offered = names.filter((name) => !hidden.has(name)).slice(0, this.most);
    const lines = found.map((name) => `- ${name}: ${shortText(tools.find((tool) => tool.name === name))}`);
    const content = [
      query === words ? '' : `Only the first ${QUERY_READ} characters of \`query\` were read.`,
      names.length === 0 ? `No tool matches ${JSON.stringify(words)}. Search with other words.` : '',
      found.length === 0 ? '' : `You can call these tools from now on:\n${lines.join('\n')}`,
      offered.length === 0 ? '' : `You have these tools already: ${offered.join(', ')}.`,
      names.length === 0 ? sourcesOf(tools.filter(({ name }) => hidden.has(name))) : '',
    ];
    return { content: content.filter((text) => text !== '').join('\n'), structured: { tools: found } };
  }

  private foundIn({ run, messages }: ModelCallRequest): FoundTools {
    let found = this.runs.get(run);
    if (found === undefined) {
      found = new FoundTools(this.name);
      this.runs.set(run, found);
      if (this.options.keep === 'run') found.skipEarlierRuns(messages);
    }
    found.scan(messages);
    return found;
  }

  private finderOf(tools: readonly Tool[]): Promise<FindTools> {
    if (this.index === undefined || !areSame(this.index.tools, tools)) this.index = { tools, find: indexTools(tools) };
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

function areSame(some: readonly Tool[], others: readonly Tool[]): boolean {
  const isSame = ({ name, description, inputSchema }: Tool, other: Tool | undefined) =>
    name === other?.name && description === other.description && inputSchema === other.inputSchema;
  return some.length === others.length && some.every((tool, at) => isSame(tool, others[at]));
}

/** Returns a sentence with the sources of the tools and the number of tools of each source. */
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
