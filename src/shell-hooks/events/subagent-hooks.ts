import { callKey, hookRunOf, runIdInside } from '../../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import { contentText, type WaitingRun } from '../../model/message.js';
import { receivedArgs } from '../../tools/received-args.js';
import type { Subagent } from '../hook/event-context.js';
import { hookMessage } from '../hook/text.js';
import type { HookEventResult } from '../run/outcome.js';
import type { HookParts } from './run-state.js';
import { addTexts, blocked, endRun, withheld } from './tool-hooks.js';

/** The origin of a tool that is an agent begins with this string. */
const AGENT_ORIGIN = 'agent ';

/**
 * Creates the lifecycle for `before_subagent`, which also records each started sub-agent for `after_subagent`. If a
 * hook cancels, the sub-agent does not start, and its caller reads an error result.
 */
export function createSubagentStart(parts: HookParts, priority: number): AgentLifecycle {
  return {
    name: 'shell-hooks:before_subagent',
    priority,
    async wrapToolCall(call, next) {
      const subagent = subagentOf(call);
      if (subagent === undefined) return next(call);
      const { run, id, tool, input } = call;
      // The `before_subagent` hooks of an agent that has waited for decisions have run before.
      if (earlierRun(call) === undefined) {
        const { agent } = subagent;
        const data = { agent, agent_id: subagent.id, args: receivedArgs(tool, input), tool_use_id: id };
        const outcome = await parts.runner.runEvent({
          event: 'before_subagent',
          ...parts.runs.of(run).context,
          value: undefined,
          source: agent,
          describe: () => ({ data }),
        });
        if (outcome.stop !== undefined) endRun(run, outcome);
        if (outcome.cancelled) return blocked(outcome);
        brief(call, outcome);
      }
      parts.runs.of(run).subagents.set(id, subagent);
      return next(call);
    },
  };
}

/**
 * Creates the lifecycle for `after_subagent`, which runs after each recorded sub-agent. If a hook cancels, the caller
 * reads an error result instead of the answer of the sub-agent.
 */
export function createSubagentStop(parts: HookParts, priority: number): AgentLifecycle {
  return {
    name: 'shell-hooks:after_subagent',
    priority,
    async wrapToolCall(call, next) {
      const { run, id } = call;
      const result = await next(call);
      const subagent = parts.runs.of(run).takeSubagent(id);
      if (subagent === undefined) return result;
      const response = contentText(result.content);
      const data = { agent: subagent.agent, agent_id: subagent.id, response, tool_use_id: id };
      const outcome = await parts.runner.runEvent({
        event: 'after_subagent',
        ...parts.runs.of(run).context,
        value: undefined,
        source: subagent.agent,
        describe: () => ({ data }),
      });
      addTexts(run, outcome, parts);
      if (outcome.stop !== undefined) endRun(run, outcome);
      return outcome.cancelled ? withheld(outcome) : result;
    },
  };
}

/** If the tool of a call is an agent, returns the name of the agent and the id for its run. */
function subagentOf(call: ToolCallRequest): Subagent | undefined {
  const { tool, id, run } = call;
  const hookRun = hookRunOf(run);
  if (hookRun === undefined || !tool?.origin?.startsWith(AGENT_ORIGIN)) return undefined;
  const runId = earlierRun(call)?.runId ?? runIdInside(callKey(hookRun, id));
  return { agent: tool.origin.slice(AGENT_ORIGIN.length), id: runId };
}

/** Returns the earlier run that the sub-agent of this call continues. Undefined if the sub-agent starts now. */
function earlierRun({ run, id }: ToolCallRequest): WaitingRun | undefined {
  return hookRunOf(run)?.end.calls?.prior.inside?.get(id)?.run;
}

/** Adds the messages of hooks to the sub-agent run that begins. */
function brief({ run, id }: ToolCallRequest, { modelTexts }: HookEventResult): void {
  const hookRun = hookRunOf(run);
  if (hookRun === undefined || modelTexts.length === 0) return;
  hookRun.briefings ??= new Map();
  hookRun.briefings.set(
    id,
    modelTexts.map(({ hook, text }) => hookMessage(hook, text)),
  );
}
