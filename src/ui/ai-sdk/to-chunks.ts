import type { AgentEvent, AgentEventOf } from '../../agent/agent-event.js';
import type { PendingCall, RunResult } from '../../agent/run-result.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { AssistantPart, ToolCallPart } from '../../model/message.js';
import { fileUrl, shownData, toolOutput } from '../shown-content.js';
import { sourcesOf } from '../sources.js';
import type { StreamTexts } from '../stream-texts.js';
import { StepChunks } from './step-chunks.js';
import type { UIMessageChunk } from './ui-chunk.js';

/** Options of a conversion of one run. */
export interface ChunkOptions extends StreamTexts {
  /** The id of the assistant message. Absent: the page chooses an id. */
  readonly messageId?: string | undefined;
}

/**
 * Converts the events of one run to UI message chunks, in order. Text that the run replaces (a retried model call, a
 * response changed by a hook) is taken back with `reset-step`.
 */
export class ChunkConverter {
  private step: StepChunks | undefined = undefined;
  private chunks: UIMessageChunk[] = [];
  private readonly announced = new Map<string, unknown>();
  private failed = false;
  /** True if the last model call gave no response. Its text is taken back, unless the run was aborted. */
  private withheld = false;

  constructor(private readonly options: ChunkOptions) {}

  /** Returns the chunks of an event; an empty array for events that a page does not need. */
  convert(event: AgentEvent): readonly UIMessageChunk[] {
    this.chunks = [];
    this.read(event);
    return this.chunks;
  }

  /** Returns the chunks for a run that failed before its first event. */
  fail(error: unknown): readonly UIMessageChunk[] {
    this.chunks = [];
    this.start();
    this.readError(error);
    return this.chunks;
  }

  private read(event: AgentEvent): void {
    switch (event.type) {
      case 'run-start':
        return this.start();
      case 'turn-start':
        // Turn 0 continues the tool calls of the message that the page already shows.
        if (event.turn > 0) this.openStep(event.turn);
        return;
      case 'text-delta':
      case 'reasoning-delta':
        return this.openedStep().delta(event);
      case 'tool-input-delta':
        return this.openedStep().inputDelta(event);
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
        return this.finish(event.result);
      default:
        return this.readTool(event);
    }
  }

  private start(): void {
    const { messageId } = this.options;
    this.push({ type: 'start', ...(messageId && { messageId }) });
  }

  private readTool(event: AgentEvent): void {
    if (event.type === 'tool-start') this.announce({ id: event.callId, name: event.name, input: event.input });
    else if (event.type === 'tool-delta') {
      this.push({
        type: 'tool-output-available',
        toolCallId: event.callId,
        output: shownData(event.data),
        preliminary: true,
      });
    } else if (event.type === 'tool-end') this.readToolEnd(event);
  }

  private readToolEnd({ callId: toolCallId, name, result }: AgentEventOf<'tool-end'>): void {
    if (result === undefined || !this.announced.has(toolCallId)) return;
    if (result.isError) {
      const errorText = this.options.toolErrorText({ callId: toolCallId, name, result });
      this.push({ type: 'tool-output-error', toolCallId, errorText });
    } else this.push({ type: 'tool-output-available', toolCallId, output: toolOutput(result) });
  }

  private readResponse({ response }: AgentEventOf<'model-end'>): void {
    this.withheld = response === undefined;
    if (response === undefined) return;
    const step = this.openedStep();
    step.settle(response.content);
    for (const part of response.content) this.readPart(part);
    for (const source of sourcesOf(response.content, response.providerMetadata)) {
      this.push({ type: 'source-url', ...source });
    }
  }

  /** Announces the parts that are not streamed: tool calls, results of the provider's own tools, and files. */
  private readPart(part: AssistantPart): void {
    if (part.type === 'tool-call') this.announce(part);
    else if (part.type === 'file') this.push({ type: 'file', url: fileUrl(part), mediaType: part.mediaType });
    else if (part.type === 'tool-result') {
      const output = toolOutput(part);
      this.push({ type: 'tool-output-available', toolCallId: part.id, output, providerExecuted: true });
    }
  }

  private announce(call: Pick<ToolCallPart, 'id' | 'name' | 'input' | 'invalidInput' | 'providerExecuted'>): void {
    const input = call.invalidInput ?? call.input;
    if (this.announced.has(call.id) && Object.is(this.announced.get(call.id), input)) return;
    this.announced.set(call.id, input);
    this.push({
      type: 'tool-input-available',
      toolCallId: call.id,
      toolName: call.name,
      input: shownData(input),
      ...(call.providerExecuted && { providerExecuted: true }),
    });
  }

  /** A denied call of a resumed run has no tool events. The page shows it in the message that asked for approval. */
  private readDecision({ decision: { point, type, call } }: AgentEventOf<'decision'>): void {
    if (point === 'resume' && type === 'block' && call) this.push({ type: 'tool-output-denied', toolCallId: call.id });
  }

  private readError(error: unknown): void {
    this.failed = true;
    // A person who stops an answer keeps what was shown.
    if (error instanceof RunAbortedError) this.withheld = false;
    this.closeStep();
    if (error instanceof RunAbortedError) this.push({ type: 'abort' });
    else this.push({ type: 'error', errorText: this.options.errorText(error) });
  }

  private finish(result: RunResult<unknown> | undefined): void {
    this.closeStep();
    if (result === undefined || this.failed) return;
    for (const call of result.pending as readonly PendingCall[]) {
      this.announce(call);
      const { id, reason } = call;
      this.push({ type: 'tool-approval-request', approvalId: id, toolCallId: id, ...(reason && { reason }) });
    }
    this.push({ type: 'finish', finishReason: result.finishReason, messageMetadata: { usage: result.usage } });
  }

  private openedStep(): StepChunks {
    this.takeBack();
    return this.step ?? this.openStep(0);
  }

  private openStep(turn: number): StepChunks {
    this.closeStep();
    this.push({ type: 'start-step' });
    this.step = new StepChunks(turn, (chunk) => this.push(chunk));
    return this.step;
  }

  /** A step stays open after its turn, since a lifecycle may still replace the text of the turn. */
  private closeStep(): void {
    this.takeBack();
    if (this.step === undefined) return;
    this.step.end();
    this.push({ type: 'finish-step' });
    this.step = undefined;
  }

  private takeBack(): void {
    if (this.withheld) this.step?.reset();
    this.withheld = false;
  }

  private push(chunk: UIMessageChunk): void {
    this.chunks.push(chunk);
  }
}
