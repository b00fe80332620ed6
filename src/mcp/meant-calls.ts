import type { LoaderHost, ModelCallRequest } from '../lifecycle/lifecycle.js';
import type { AssistantPart } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';
import type { AgentTools } from './agent-tools.js';
import type { ServerPool } from './server-pool.js';

/** One MCP loader, its tools in an agent, and all tools of the agent. */
export interface AgentPool {
  readonly pool: ServerPool;
  readonly tools: AgentTools;
  readonly host: Pick<LoaderHost, 'tools'>;
}

/**
 * Gives each call its full name and converted arguments. The response is stored with them, so hooks, a person who approves
 * a call, and a resumed run all get the call that runs. Returns the response itself if nothing changes.
 */
export function withMeantCalls(response: ModelResponse, request: ModelCallRequest, agent: AgentPool): ModelResponse {
  const content = response.content.map((part) => meantPart(part, request, agent));
  return content.some((part, at) => part !== response.content[at]) ? { ...response, content } : response;
}

function meantPart(part: AssistantPart, request: ModelCallRequest, agent: AgentPool): AssistantPart {
  if (part.type !== 'tool-call' || part.providerExecuted || part.needsApproval) return part;
  const name = fullNameOf(part.name, request, agent);
  const tool = request.run.tools.find((offered) => offered.name === name);
  const isRead = tool !== undefined && part.invalidInput === undefined;
  const input = isRead ? agent.pool.coerce(tool, part.input) : part.input;
  return name === part.name && input === part.input ? part : { ...part, name, input };
}

/** Does not change a name that belongs to another tool of the agent, even if that tool is not offered in this turn. */
function fullNameOf(name: string, { tools: sent, run }: ModelCallRequest, { tools, host }: AgentPool): string {
  const meant = tools.find(name)?.name ?? name;
  if (meant === name || !run.tools.some((offered) => offered.name === meant)) return name;
  return [sent, host.tools()].some((known) => known.some((other) => other.name === name)) ? name : meant;
}
