import type { AgentEvent } from '../agent/agent-event.js';
import { toolCallsOf } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';

/**
 * Finds the events of a response that a lifecycle has suspended. A page must not show the response before its approval.
 */
export class SuspendedResponse {
  private isSuspended = false;

  /**
   * Returns true for text of a response that was already suspended. No text is sent before the suspension, because
   * `holdStream` delays it.
   */
  hides(event: AgentEvent): boolean {
    if (event.type === 'decision') {
      const { point, type } = event.decision;
      this.isSuspended ||= point === 'afterModel' && type === 'suspend';
    }
    return this.isSuspended && (event.type === 'text-delta' || event.type === 'reasoning-delta');
  }

  /** Returns true if the response is a suspended answer without tool calls. */
  isAnswer(response: ModelResponse | undefined): boolean {
    const wasSuspended = this.isSuspended;
    this.isSuspended = false;
    if (!wasSuspended || response === undefined) return false;
    return toolCallsOf({ role: 'assistant', content: response.content }).length === 0;
  }
}
