import { report } from '../../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, LoaderHost, ModelCallRequest } from '../../lifecycle/lifecycle.js';
import { perAgent } from '../../lifecycle/per-agent.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { AssistantPart } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { Tool } from '../../tools/tool.js';
import { EXPECTED, type McpServerStatus } from '../server/status.js';
import { type AgentTools, agentTools } from './agent-tools.js';
import type { Loader } from './loader.js';

export function lifecyclesOf(loader: Loader, host: LoaderHost): readonly AgentLifecycle[] {
  return [toolsLifecycle(loader, host), callsLifecycle(loader, host), argumentsLifecycle(loader)];
}

function toolsLifecycle(loader: Loader, host: LoaderHost): AgentLifecycle {
  const lifecycle: AgentLifecycle = { name: 'mcp', priority: 100, tools: agentTools(loader, host) };
  return perAgent(lifecycle, (agent) => toolsLifecycle(loader, agent));
}

/**
 * Resolves the tool names in each response. Runs innermost, so that the request has exactly the tool names that the
 * model was offered.
 */
function callsLifecycle(loader: Loader, host: LoaderHost): AgentLifecycle {
  const agent = { loader, tools: agentTools(loader, host), host };
  const begun = new WeakSet<RunContext>();
  const lifecycle: AgentLifecycle = {
    name: 'mcp',
    priority: 0,
    async wrapModelCall(request, next) {
      const { run } = request;
      if (!begun.has(run)) {
        begun.add(run);
        if (loader.servers.isMissing) reportMissing(run, loader.servers.statuses());
      }
      return withResolvedCalls(await next(), request, agent);
    },
  };
  return perAgent(lifecycle, (other) => callsLifecycle(loader, other));
}

/**
 * Converts arguments again that other hooks have changed. Runs directly outside of `approval`, so that a person sees
 * the converted arguments. An approved call runs with the arguments that the person saw.
 */
function argumentsLifecycle(loader: Loader): AgentLifecycle {
  return {
    name: 'mcp',
    priority: 6,
    wrapToolCall(call, next) {
      const input = call.tool === undefined || call.approved ? call.input : loader.coerce(call.tool, call.input);
      return next(input === call.input ? call : { ...call, input });
    },
  };
}

function reportMissing(run: RunContext, statuses: readonly McpServerStatus[]): void {
  const missing = statuses.filter(({ state }) => !EXPECTED.has(state));
  const servers = missing.map(({ name, state, lastError }) => ({ name, state, error: lastError }));
  report(run, { type: 'server-error', servers });
}

interface AgentPool {
  readonly loader: Loader;
  readonly tools: AgentTools;
  readonly host: Pick<LoaderHost, 'tools'>;
}

/**
 * Gives each call its full name and converted arguments. The response is stored with them, so hooks, a person who approves
 * a call, and a resumed run all get the call that runs. Returns the response itself if nothing changes.
 */
function withResolvedCalls(response: ModelResponse, request: ModelCallRequest, agent: AgentPool): ModelResponse {
  let content: AssistantPart[] | undefined;
  for (const [at, part] of response.content.entries()) {
    if (part.type !== 'tool-call' || part.providerExecuted || part.needsApproval) continue;
    const tool = calledTool(part.name, request, agent);
    const input = tool === undefined ? part.input : agent.loader.coerce(tool, part.input);
    if (tool === undefined || (tool.name === part.name && input === part.input)) continue;
    content ??= [...response.content];
    content[at] = { ...part, name: tool.name, input };
  }
  return content === undefined ? response : { ...response, content };
}

/**
 * Returns the MCP tool that a call means by its full or its short name. A short name that belongs to another tool of the
 * agent means that tool, even if it is not offered in this turn.
 */
function calledTool(
  name: string,
  { tools: sent, run }: ModelCallRequest,
  { tools, host }: AgentPool,
): Tool | undefined {
  const fullName = tools.find(name)?.name;
  if (fullName === undefined) return undefined;
  const isTaken = fullName !== name && [sent, host.tools()].some((known) => known.some((it) => it.name === name));
  return isTaken ? undefined : run.tools.find((offered) => offered.name === fullName);
}
