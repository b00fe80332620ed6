import type { AgentEvent, AgentEventOf } from '../../agent/agent-event.js';
import type { PendingCall, RunResult } from '../../agent/run-result.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { Message, ToolCallPart } from '../../model/message.js';
import { shownData, toolOutput } from '../shown-content.js';
import type { StreamTexts } from '../stream-texts.js';
import type { AgUIEvent, AgUIInterrupt } from './ag-ui-event.js';
import { AgUITurn } from './ag-ui-turn.js';
import { outputText, toAgUIMessages } from './to-ag-ui-messages.js';

/** Options of a conversion of one run. */
export interface AgUIConverterOptions extends StreamTexts {
  readonly threadId: string;
  /** Default: the id of the run. */
  readonly runId?: string | undefined;
  /** The start of every message id. Default: the id of the run. */
  readonly messageId?: string | undefined;
}

/**
 * Converts the events of one run to AG-UI events, in order. AG-UI cannot take back streamed text. If the run replaced
 * text, the custom event `keelson.replaced` names the old messages, and a snapshot of all messages follows at the end.
 */
export class AgUIConverter {
  private turn: AgUITurn | undefined = undefined;
  private events: AgUIEvent[] = [];
  private runId = '';
  private replaced = false;
  /** True if the last model call gave no response. Its text is taken back, unless the run was aborted. */
  private withheld = false;
  private readonly announced = new Set<string>();

  constructor(private readonly options: AgUIConverterOptions) {}

  /** Returns the AG-UI events of an event; an empty array for events that a page does not need. */
  convert(event: AgentEvent): readonly AgUIEvent[] {
    this.events = [];
    this.read(event);
    return this.events;
  }

  /** Returns the events for a run that failed before its first event. */
  fail(error: unknown): readonly AgUIEvent[] {
    this.events = [];
    this.start('not-started');
    this.readError(error);
    return this.events;
  }

  private read(event: AgentEvent): void {
    switch (event.type) {
      case 'run-start':
        return this.start(event.runId);
      case 'turn-start':
        return this.openTurn(event.turn);
      case 'text-delta':
      case 'reasoning-delta':
        this.takeBack();
        return this.turn?.delta(event);
      case 'tool-input-delta':
        this.takeBack();
        return this.turn?.inputDelta(event);
      case 'model-error':
        this.withheld = true;
        return this.takeBack();
      case 'model-end':
        return this.readResponse(event);
      case 'decision':
        return this.readDecision(event);
      case 'run-error':
        return this.readError(event.error);
      case 'run-end':
        return event.result && this.finish(event.result);
      default:
        return this.readTool(event);
    }
  }

  private start(runId: string): void {
    const { threadId } = this.options;
    this.runId = this.options.runId ?? runId;
    this.push({ type: 'RUN_STARTED', threadId, runId: this.runId });
  }

  private readResponse({ response }: AgentEventOf<'model-end'>): void {
    this.withheld = response === undefined;
    if (response === undefined) return;
    this.turn?.settle(response.content);
    for (const part of response.content) if (part.type === 'tool-call') this.announce(part);
  }

  private readTool(event: AgentEvent): void {
    if (event.type === 'tool-start') {
      // The calls of turn 0 were announced by the run that was suspended.
      if (event.turn > 0) this.announce({ id: event.callId, name: event.name, input: event.input });
    } else if (event.type === 'tool-delta') {
      const value = { toolCallId: event.callId, toolCallName: event.name, data: shownData(event.data) };
      this.push({ type: 'CUSTOM', name: 'keelson.progress', value });
    } else if (event.type === 'tool-end' && event.result !== undefined) {
      const { callId, name, result } = event;
      this.pushResult(
        callId,
        result.isError ? this.options.toolErrorText({ callId, name, result }) : outputText(toolOutput(result)),
      );
    }
  }

  /** A denied call of a resumed run has no tool events. */
  private readDecision({ decision: { point, type, call } }: AgentEventOf<'decision'>): void {
    if (point === 'resume' && type === 'block' && call) this.pushResult(call.id, 'The call was denied.');
  }

  private pushResult(toolCallId: string, content: string): void {
    this.push({ type: 'TOOL_CALL_RESULT', messageId: `${this.prefix}.${toolCallId}`, toolCallId, content });
  }

  private announce({
    id,
    name,
    input,
    invalidInput,
  }: Pick<ToolCallPart, 'id' | 'name' | 'input' | 'invalidInput'>): void {
    if (this.announced.has(id)) return;
    this.announced.add(id);
    this.turn?.call({ id, name, text: invalidInput ?? JSON.stringify(shownData(input) ?? {}) });
  }

  private readError(error: unknown): void {
    // A person who stops an answer keeps what was shown.
    if (error instanceof RunAbortedError) this.withheld = false;
    this.closeTurn();
    if (error instanceof RunAbortedError) {
      this.sendSnapshot(error.history);
      return this.push(this.finished({ type: 'cancelled' }));
    }
    const code = (error as { readonly code?: unknown } | null | undefined)?.code;
    const message = this.options.errorText(error);
    this.push({ type: 'RUN_ERROR', message, ...(typeof code === 'string' && { code }) });
  }

  private finish(result: RunResult<unknown>): void {
    this.closeTurn();
    this.sendSnapshot(result.history);
    const interrupts = (result.pending as readonly PendingCall[]).map(interruptOf);
    const outcome =
      result.status === 'suspended' && interrupts.length > 0
        ? ({ type: 'interrupt', interrupts } as const)
        : ({ type: 'success' } as const);
    this.push({ ...this.finished(outcome), usage: [result.usage] });
  }

  /** Sends all messages of the chat, if the run replaced text that AG-UI cannot take back. */
  private sendSnapshot(history: readonly Message[]): void {
    if (!this.replaced) return;
    this.push({ type: 'MESSAGES_SNAPSHOT', messages: toAgUIMessages(history, { chatId: this.options.threadId }) });
  }

  private finished(outcome: Extract<AgUIEvent, { type: 'RUN_FINISHED' }>['outcome']) {
    return { type: 'RUN_FINISHED', threadId: this.options.threadId, runId: this.runId, outcome } as const;
  }

  /** A resumed run answers the same user message as the suspended run, so the run id keeps the message ids unique. */
  private get prefix(): string {
    const { messageId } = this.options;
    return messageId === undefined ? this.runId : `${messageId}.${this.runId}`;
  }

  private openTurn(turn: number): void {
    this.closeTurn();
    this.turn = new AgUITurn(`${this.prefix}.${turn}`, (event) => this.push(event));
  }

  private closeTurn(): void {
    this.takeBack();
    this.turn?.close();
    this.replaced ||= this.turn?.replaced ?? false;
    this.turn = undefined;
  }

  private takeBack(): void {
    if (this.withheld) this.turn?.replace();
    this.withheld = false;
  }

  private push(event: AgUIEvent): void {
    this.events.push(event);
  }
}

function interruptOf({ id, name, reason }: PendingCall): AgUIInterrupt {
  return { id, reason: 'tool_call', toolCallId: id, message: reason === '' ? `Approve ${name}?` : reason };
}
