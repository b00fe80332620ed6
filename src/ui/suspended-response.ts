import type { AgentEvent } from '../agent/agent-event.js';
import { toolCallsOf } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';

/** Finds the events of a run that belong to a response which a lifecycle suspended. */
export class SuspendedResponse {
  private isSuspended = false;

  /** True for text after the suspension. `holdStream` delays all text until then. */
  hides(event: AgentEvent): boolean {
    if (event.type === 'decision') {
      const { point, type } = event.decision;
      this.isSuspended ||= point === 'afterModel' && type === 'suspend';
    }
    return this.isSuspended && (event.type === 'text-delta' || event.type === 'reasoning-delta');
  }

  /** True if the response is a suspended answer without tool calls. */
  isAnswer(response: ModelResponse | undefined): boolean {
    const wasSuspended = this.isSuspended;
    this.isSuspended = false;
    if (!wasSuspended || response === undefined) return false;
    return toolCallsOf({ role: 'assistant', content: response.content }).length === 0;
  }
}
