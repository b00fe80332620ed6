import type { LoaderHost, ModelCallRequest } from '../lifecycle/lifecycle.js';
import type { AssistantPart } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';
import type { AgentTools } from './agent-tools.js';

/** The tools of one MCP loader, and all tools of its agent. */
export interface AgentNames {
  readonly tools: AgentTools;
  readonly host: Pick<LoaderHost, 'tools'>;
}

/**
 * Gives each call with the short name of a tool its full name. The response is stored with it, so hooks, a person who
 * approves the call, and a resumed run all get one name. Returns the response itself if nothing changes.
 */
export function withFullNames(response: ModelResponse, request: ModelCallRequest, names: AgentNames): ModelResponse {
  const content = response.content.map((part) => withFullName(part, request, names));
  return content.some((part, at) => part !== response.content[at]) ? { ...response, content } : response;
}

/** Keeps a name that another tool of the agent has, even if that tool is not offered in this turn. */
function withFullName(part: AssistantPart, { tools: sent, run }: ModelCallRequest, { tools, host }: AgentNames) {
  if (part.type !== 'tool-call' || part.providerExecuted || part.needsApproval) return part;
  const meant = tools.find(part.name)?.name ?? part.name;
  if (meant === part.name || !run.tools.some(({ name }) => name === meant)) return part;
  return [sent, host.tools()].some((known) => known.some(({ name }) => name === part.name))
    ? part
    : { ...part, name: meant };
}
