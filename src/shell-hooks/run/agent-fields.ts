import type { RunContext } from '../../lifecycle/run-context.js';
import type { EventFields, Subagent } from '../hook/event-context.js';
import type { CallRecord } from './tool-fields.js';

export function beforeAgentFields(run: RunContext, prompt: string): EventFields {
  const { agent, model, messages, instructions } = run;
  const context = {
    session_id: run.session?.id ?? run.id,
    run_id: run.id,
    agent,
    model: model.id,
    instructions: instructions ?? null,
    messages,
  };
  return { data: { prompt, context }, flat: { prompt } };
}

/** The prompt and the tool calls that led to an answer. */
export interface AnswerOrigin {
  readonly prompt: string;
  readonly calls: readonly CallRecord[];
  /** Number of turns that hooks added by refusing an answer. */
  readonly continued: number;
}

export function afterAgentFields(response: string, { prompt, calls, continued }: AnswerOrigin): EventFields {
  return {
    data: { response, tool_calls: calls.map(({ id, name, args }) => ({ id, name, args: args ?? null })) },
    flat: {
      prompt,
      prompt_response: response,
      last_assistant_message: response,
      stop_hook_active: continued > 0,
      loop_count: continued,
    },
  };
}

/** The `notification_type` of a question for approval. */
export const APPROVAL = 'permission_prompt';

/** Returns the input fields that name a sub-agent, with the names of Claude Code. */
export function subagentFields({ agent, id }: Subagent): Readonly<Record<string, unknown>> {
  return { agent_id: id, agent_type: agent };
}

/** Returns the input fields of `after_subagent`, with the names of Claude Code. */
export function endedSubagentFields(subagent: Subagent, response: string): Readonly<Record<string, unknown>> {
  return { ...subagentFields(subagent), last_assistant_message: response, stop_hook_active: false };
}
