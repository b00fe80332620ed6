import type { AgentEventOf } from '../../agent/agent-event.js';
import type { AssistantPart } from '../../model/message.js';
import type { AgUIEvent } from './ag-ui-event.js';

type Kind = 'text' | 'reasoning';

/** Writes the text, the reasoning and the tool calls of one turn as AG-UI events. */
export class AgUITurn {
  /** True if the run has replaced text that was already sent. */
  replaced = false;
  private open: { readonly kind: Kind; readonly id: string } | undefined = undefined;
  private reasonings = 0;
  private replacements = 0;
  private attempt = 0;
  private text = '';
  private sent: string[] = [];
  private readonly calls = new Map<string, 'open' | 'closed'>();

  /** `id` is the name of the AG-UI step, and the id of the message with the text and the tool calls. */
  constructor(
    private readonly id: string,
    private readonly push: (event: AgUIEvent) => void,
  ) {
    push({ type: 'STEP_STARTED', stepName: id });
  }

  /** Appends streamed text. If `attempt` is new, first replaces the text of the previous attempt. */
  delta({ type, attempt, text }: AgentEventOf<'text-delta'> | AgentEventOf<'reasoning-delta'>): void {
    this.begin(attempt);
    this.append(type === 'text-delta' ? 'text' : 'reasoning', text);
  }

  /**
   * Appends a piece of the arguments of a tool call. Ignores pieces without a call id, because the complete arguments
   * follow.
   */
  inputDelta({ callId, name, attempt, text }: AgentEventOf<'tool-input-delta'>): void {
    if (callId === '' || text === '') return;
    this.begin(attempt);
    this.end();
    if (!this.calls.has(callId)) {
      this.startCall(callId, name);
    }
    this.push({ type: 'TOOL_CALL_ARGS', toolCallId: callId, delta: text });
  }

  /** Sends a complete tool call. If its arguments were streamed, only ends the call. */
  call({ id, name, text }: { readonly id: string; readonly name: string; readonly text: string }): void {
    this.end();
    if (!this.calls.has(id)) {
      this.startCall(id, name);
      this.push({ type: 'TOOL_CALL_ARGS', toolCallId: id, delta: text });
    }
    this.endCall(id);
  }

  /** Ends the streamed messages. If a hook changed the text of the response, sends the new text in another message. */
  settle(content: readonly AssistantPart[]): void {
    this.end();
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (text === this.text) return;
    this.replace();
    this.append('text', text);
    this.end();
  }

  /** Ends the messages and tool calls of the turn, and tells the client that they are replaced. */
  replace(): void {
    this.close(false);
    if (this.sent.length === 0 && this.calls.size === 0) return;
    this.replaced = true;
    const value = { messageIds: this.sent, toolCallIds: [...this.calls.keys()] };
    this.push({ type: 'CUSTOM', name: 'keelson.replaced', value });
    if (this.sent.includes(this.messageId) || this.calls.size > 0) this.replacements += 1;
    this.sent = [];
    this.calls.clear();
    this.text = '';
  }

  /** Ends the messages and tool calls that are not complete yet. With `endsStep`, also ends the AG-UI step. */
  close(endsStep = true): void {
    this.end();
    for (const id of this.calls.keys()) this.endCall(id);
    if (endsStep) this.push({ type: 'STEP_FINISHED', stepName: this.id });
  }

  private begin(attempt: number): void {
    if (this.attempt !== 0 && attempt !== this.attempt) this.replace();
    this.attempt = attempt;
  }

  private append(kind: Kind, delta: string): void {
    if (delta === '') return;
    const { id } = this.open?.kind === kind ? this.open : this.start(kind);
    if (kind === 'text') this.text += delta;
    this.push({ type: kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT', messageId: id, delta });
  }

  private start(kind: Kind): { readonly id: string } {
    this.end();
    if (kind === 'reasoning') this.reasonings += 1;
    const messageId = kind === 'text' ? this.messageId : `${this.id}.reasoning.${this.reasonings}`;
    this.open = { kind, id: messageId };
    if (!this.sent.includes(messageId)) this.sent.push(messageId);
    if (kind === 'text') this.push({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' });
    else {
      this.push({ type: 'REASONING_START', messageId });
      this.push({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' });
    }
    return this.open;
  }

  /**
   * The id of the message with the text. It changes after a replacement, because the client keeps the replaced text
   * under the previous id.
   */
  private get messageId(): string {
    return this.replacements === 0 ? this.id : `${this.id}.${this.replacements}`;
  }

  private end(): void {
    if (this.open === undefined) return;
    const { kind, id: messageId } = this.open;
    this.open = undefined;
    if (kind === 'text') return this.push({ type: 'TEXT_MESSAGE_END', messageId });
    this.push({ type: 'REASONING_MESSAGE_END', messageId });
    this.push({ type: 'REASONING_END', messageId });
  }

  private startCall(toolCallId: string, toolCallName: string): void {
    this.calls.set(toolCallId, 'open');
    this.push({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: this.messageId });
  }

  private endCall(id: string): void {
    if (this.calls.get(id) !== 'open') return;
    this.calls.set(id, 'closed');
    this.push({ type: 'TOOL_CALL_END', toolCallId: id });
  }
}
