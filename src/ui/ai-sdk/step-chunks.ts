import type { AgentEventOf } from '../../agent/agent-event.js';
import type { AssistantPart } from '../../model/message.js';
import type { UIMessageChunk } from './ui-chunk.js';

type Kind = 'text' | 'reasoning';

/** A text or reasoning part that the page shows. */
interface ShownPart {
  readonly kind: Kind;
  readonly id: string;
  text: string;
}

/**
 * Writes the text and the reasoning of one step as UI message chunks. Removes them from the page if the run replaces
 * them.
 */
export class StepChunks {
  private shown: ShownPart[] = [];
  private isOpen = false;
  private attempt = 0;
  private resets = 0;
  private hasCalls = false;
  private readonly inputs = new Set<string>();

  /** `turn` is a part of the ids of text and reasoning parts, so that they are unique in the message. */
  constructor(
    private readonly turn: number,
    private readonly push: (chunk: UIMessageChunk) => void,
  ) {}

  /** Appends streamed text. If `attempt` is new, first replaces the text of the previous attempt. */
  delta({ type, attempt, text }: AgentEventOf<'text-delta'> | AgentEventOf<'reasoning-delta'>): void {
    this.begin(attempt);
    this.append(type === 'text-delta' ? 'text' : 'reasoning', text);
  }

  /**
   * Appends a piece of the arguments of a tool call. Ignores pieces without a call id, because the complete arguments
   * follow.
   */
  inputDelta({ callId: toolCallId, name, attempt, text }: AgentEventOf<'tool-input-delta'>): void {
    if (toolCallId === '') return;
    this.begin(attempt);
    this.end();
    if (!this.inputs.has(toolCallId)) {
      this.inputs.add(toolCallId);
      this.push({ type: 'tool-input-start', toolCallId, toolName: name });
    }
    this.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: text });
  }

  /**
   * Shows the final response of the model. Keeps the streamed parts if they match the response, otherwise replaces
   * them.
   */
  settle(content: readonly AssistantPart[]): void {
    this.end();
    const texts = content.filter((part) => part.type === 'text' || part.type === 'reasoning');
    if (!this.shows(texts, 'text') || !this.showsInputs(content)) {
      this.reset();
      for (const { type, text } of texts) {
        this.end();
        this.append(type, text);
      }
      this.end();
    }
    this.hasCalls = content.some((part) => part.type === 'tool-call');
  }

  /** Removes everything that the step has shown from the page. */
  reset(): void {
    const isEmpty = this.shown.length === 0 && this.inputs.size === 0;
    this.isOpen = false;
    this.shown = [];
    this.inputs.clear();
    if (isEmpty) return;
    this.resets += 1;
    this.push({ type: 'reset-step' });
  }

  /** Ends the current text or reasoning part, if there is one. */
  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const { kind, id } = this.shown.at(-1) as ShownPart;
    this.push({ type: `${kind}-end`, id });
  }

  private begin(attempt: number): void {
    // Resetting a step with tool calls would also remove their results.
    if (attempt !== this.attempt && this.attempt !== 0 && !this.hasCalls) this.reset();
    this.attempt = attempt;
  }

  private append(kind: Kind, delta: string): void {
    if (delta === '') return;
    let part = this.isOpen ? this.shown.at(-1) : undefined;
    if (part?.kind !== kind) {
      this.end();
      part = { kind, id: `${this.turn}.${this.resets}.${this.shown.length}`, text: '' };
      this.shown.push(part);
      this.isOpen = true;
      this.push({ type: `${kind}-start`, id: part.id });
    }
    part.text += delta;
    this.push({ type: `${kind}-delta`, id: part.id, delta });
  }

  /** Returns true if the streamed text of this kind equals the text of this kind in the final response. */
  private shows(texts: readonly { readonly type: Kind; readonly text: string }[], kind: Kind): boolean {
    const textOf = (parts: readonly { readonly text: string }[]) => parts.map(({ text }) => text).join('');
    return (
      textOf(this.shown.filter((part) => part.kind === kind)) === textOf(texts.filter(({ type }) => type === kind))
    );
  }

  /** Returns true if the final response contains each tool call that was streamed. */
  private showsInputs(content: readonly AssistantPart[]): boolean {
    const ids = new Set(content.map((part) => (part.type === 'tool-call' ? part.id : '')));
    return [...this.inputs].every((id) => ids.has(id));
  }
}
