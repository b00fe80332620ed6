import { report } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, LoaderHost, ModelCallRequest } from '../lifecycle/lifecycle.js';
import { perAgent } from '../lifecycle/per-agent.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { AssistantPart } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';
import { searchedRuns } from '../tools/searched-runs.js';
import type { Tool } from '../tools/tool.js';
import { type AgentTools, agentTools } from './agent-tools.js';
import type { McpServerStatus } from './server/status.js';
import type { ServerPool } from './server-pool.js';

/** Returns the lifecycles that an MCP loader adds to an agent. */
export function lifecyclesOf(pool: ServerPool, host: LoaderHost): readonly AgentLifecycle[] {
  return [toolsLifecycle(pool, host), callsLifecycle(pool, host), argumentsLifecycle(pool)];
}

function toolsLifecycle(pool: ServerPool, host: LoaderHost): AgentLifecycle {
  const size = new ToolListSize();
  const lifecycle: AgentLifecycle = {
    name: 'mcp',
    priority: 100,
    tools: agentTools(pool, host),
    beforeAgent: (_input, run) => reportMissing(run, pool.members.statuses()),
    afterModel: (_response, run) => size.check(run),
  };
  return perAgent(lifecycle, (agent) => toolsLifecycle(pool, agent));
}

/** Runs innermost, to see the names that the model was offered. */
function callsLifecycle(pool: ServerPool, host: LoaderHost): AgentLifecycle {
  const agent = { pool, tools: agentTools(pool, host), host };
  const lifecycle: AgentLifecycle = {
    name: 'mcp',
    priority: 0,
    wrapModelCall: async (request, next) => withResolvedCalls(await next(), request, agent),
  };
  return perAgent(lifecycle, (other) => callsLifecycle(pool, other));
}

/**
 * Converts the arguments that other hooks have changed. Runs directly outside of `approval`, so that a person sees them.
 * An approved call runs as it was shown.
 */
function argumentsLifecycle(pool: ServerPool): AgentLifecycle {
  return {
    name: 'mcp',
    priority: 6,
    wrapToolCall(call, next) {
      const input = call.tool === undefined || call.approved ? call.input : pool.coerce(call.tool, call.input);
      return next(input === call.input ? call : { ...call, input });
    },
  };
}

/** States of servers that a run does not miss. */
const EXPECTED: readonly McpServerStatus['state'][] = ['connected', 'disabled', 'denied', 'closed'];

/** Emits a `server-error` event that lists the servers without a connection, unless all servers are connected. */
function reportMissing(run: RunContext, statuses: readonly McpServerStatus[]): void {
  const missing = statuses.filter(({ state }) => !EXPECTED.includes(state));
  if (missing.length === 0) return;
  const servers = missing.map(({ name, state, lastError }) => ({ name, state, error: lastError }));
  report(run, { type: 'server-error', servers });
}

/** From these figures on, tools take a large part of the context of a model. */
const MANY_TOOLS = 100;
const MANY_CHARACTERS = 100_000;
/** The measurement stops here. Measuring more would hold the thread. */
const MOST_CHARACTERS = 1_000_000;
/** Average number of characters of JSON in a token. */
const CHARACTERS_PER_TOKEN = 4;

/** Warns once if the tools of an agent take a large part of each request. */
class ToolListSize {
  private isWarned = false;
  private checked: readonly Tool[] | undefined = undefined;

  /** Checks the tools of a turn. Measures each list of tools once. */
  check(run: RunContext): void {
    const { tools } = run;
    if (this.isWarned || tools.length === 0 || tools === this.checked || searchedRuns.has(run)) return;
    this.checked = tools;
    const length = charactersOf(tools);
    if (tools.length <= MANY_TOOLS && length <= MANY_CHARACTERS) return;
    this.isWarned = true;
    const tokens = Math.round(length / CHARACTERS_PER_TOKEN / 1_000);
    run.logger.warn(
      `Each request has ${tools.length} tools with ${length > MOST_CHARACTERS ? 'over ' : ''}${Math.round(length / 1_000)} KB of definitions, about ${tokens},000 tokens. OpenAI refuses more than 128 tools. Add \`toolSearch()\` of keelson/lifecycles, or set \`includeTools\`.`,
    );
  }
}

/** Returns the characters of the definitions, or more than `MOST_CHARACTERS` if the measurement stops. */
function charactersOf(tools: readonly Tool[]): number {
  let length = 0;
  for (const { name, description, inputSchema } of tools) {
    length += JSON.stringify([name, description, inputSchema]).length;
    if (length > MOST_CHARACTERS) break;
  }
  return length;
}

/** One MCP loader, its tools in an agent, and all tools of the agent. */
interface AgentPool {
  readonly pool: ServerPool;
  readonly tools: AgentTools;
  readonly host: Pick<LoaderHost, 'tools'>;
}

/**
 * Gives each call its full name and converted arguments. The response is stored with them, so hooks, a person who approves
 * a call, and a resumed run all get the call that runs. Returns the response itself if nothing changes.
 */
function withResolvedCalls(response: ModelResponse, request: ModelCallRequest, agent: AgentPool): ModelResponse {
  const content = response.content.map((part) => resolvedPart(part, request, agent));
  return content.some((part, at) => part !== response.content[at]) ? { ...response, content } : response;
}

function resolvedPart(part: AssistantPart, request: ModelCallRequest, agent: AgentPool): AssistantPart {
  if (part.type !== 'tool-call' || part.providerExecuted || part.needsApproval) return part;
  const name = fullNameOf(part.name, request, agent);
  const tool = request.run.tools.find((offered) => offered.name === name);
  const isRead = tool !== undefined && part.invalidInput === undefined;
  const input = isRead ? agent.pool.coerce(tool, part.input) : part.input;
  return name === part.name && input === part.input ? part : { ...part, name, input };
}

/** Does not change a name that belongs to another tool of the agent, even if that tool is not offered in this turn. */
function fullNameOf(name: string, { tools: sent, run }: ModelCallRequest, { tools, host }: AgentPool): string {
  const fullName = tools.find(name)?.name ?? name;
  if (fullName === name || !run.tools.some((offered) => offered.name === fullName)) return name;
  return [sent, host.tools()].some((known) => known.some((other) => other.name === name)) ? name : fullName;
}
