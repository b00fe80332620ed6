import type { AgentEventOf } from '../../agent/agent-event.js';
import type { PendingAnswer, PendingCall, RunResult } from '../../agent/run-result.js';
import { toJson } from '../../internal/json.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { inputOf } from '../../model/edited-call.js';
import type { AssistantPart, ToolCallPart } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import { answerCall } from '../history/pending.js';
import type { ReplayedCall } from '../history/replay.js';
import type { DeltaEvent, RunWriter, ToolEvent } from '../run-reader.js';
import { fileUrl, shownData, toolOutput } from '../shown-content.js';
import { sourcesOf } from '../sources.js';
import type { StreamTexts } from '../stream-texts.js';
import { StepChunks } from './step-chunks.js';
import { userParts } from './to-ui-messages.js';
import { editMetadata, type UIMessageChunk } from './ui-chunk.js';

/** Options for converting one run to UI message chunks. */
export interface ChunkOptions extends StreamTexts {
  /** The id of the assistant message. Default: the id of the run. */
  readonly messageId?: string | undefined;
  /**
   * True if the person on the page may approve or deny tool calls. Only then the page receives requests for approval.
   */
  readonly decides: boolean;
}

/**
 * Writes one run as UI message chunks. If the run replaces streamed text, for example after a retry, the chunk
 * `reset-step` removes this text from the page.
 */
export class ChunkWriter implements RunWriter {
  private step: StepChunks | undefined = undefined;
  /** True if the last step on the page has the result of a tool call. */
  private endsInCalls = false;
  /** The arguments of each tool call that were sent to the page, as JSON, by call id. */
  private readonly announced = new Map<string, string | undefined>();
  /** The arguments from the model for calls whose arguments a person changed, by call id. */
  private readonly edited = new Map<string, unknown>();

  constructor(
    private readonly options: ChunkOptions,
    private readonly push: (chunk: UIMessageChunk) => void,
  ) {}

  start(runId: string | undefined): void {
    const { messageId = runId } = this.options;
    const start = { type: 'start', ...(messageId && { messageId }) } as const;
    // A page keeps the metadata of a message that a run continues. Once the run has started, its calls no longer wait.
    const isContinued = runId !== undefined && this.options.messageId !== undefined;
    this.push(isContinued ? { ...start, messageMetadata: { pending: [] } } : start);
  }

  openTurn(turn: number): void {
    // Turn 0 continues tool calls of a message that the page already shows.
    if (turn > 0) this.openStep(turn);
  }

  delta(event: DeltaEvent): void {
    const step = this.step ?? this.openStep(0);
    if (event.type === 'tool-input-delta') step.inputDelta(event);
    else step.delta(event);
  }

  takeBack(): void {
    this.step?.reset();
  }

  respond({ content, providerMetadata }: ModelResponse): void {
    (this.step ?? this.openStep(0)).settle(content);
    for (const part of content) this.writePart(part);
    for (const source of sourcesOf(content, providerMetadata)) this.push({ type: 'source-url', ...source });
  }

  tool(event: ToolEvent): void {
    const { callId: toolCallId, name } = event;
    if (event.type === 'tool-start') this.announce({ id: toolCallId, name, input: event.input });
    else if (event.type === 'tool-delta') {
      this.push({ type: 'tool-output-available', toolCallId, output: shownData(event.data), preliminary: true });
    } else if (event.result !== undefined && this.announced.has(toolCallId)) {
      const { result } = event;
      this.endsInCalls = true;
      if (result.isError) {
        const errorText = this.options.toolErrorText({ callId: toolCallId, name, result });
        this.push({ type: 'tool-output-error', toolCallId, errorText });
      } else this.push({ type: 'tool-output-available', toolCallId, output: toolOutput(result) });
    }
  }

  join({ id, message }: AgentEventOf<'post'>): void {
    this.closeStep();
    this.push({ type: 'steering-message', id, parts: userParts(message) });
  }

  handOver({ from, to }: AgentEventOf<'handoff'>): void {
    this.push({ type: 'data-handoff', data: { from, to }, transient: true });
  }

  /** Tells the page that a call was denied. The page shows the call in the message that asked for approval. */
  denyCall(toolCallId: string): void {
    this.push({ type: 'tool-output-denied', toolCallId });
  }

  editCall(toolCallId: string, before: unknown): void {
    this.edited.set(toolCallId, before);
  }

  /** Removes the request for approval of a suspended answer, which is the last step on the page. */
  decideAnswer(): void {
    this.push({ type: 'reset-step' });
  }

  fail(error: unknown): void {
    const isStopped = error instanceof RunAbortedError;
    this.closeStep(isStopped);
    if (!isStopped) {
      return this.push({ type: 'error', errorText: this.options.errorText(error) });
    }
    this.push({ type: 'message-metadata', messageMetadata: { stopped: true } });
    this.push({ type: 'abort' });
  }

  finish({ pending: all, finishReason, usage }: RunResult<unknown>): void {
    this.closeStep(all.length === 0);
    const pending = all as readonly (PendingCall | PendingAnswer)[];
    if (this.options.decides) this.ask(pending);
    const ids = pending.map(({ id }) => id);
    const messageMetadata = { usage, pending: ids.length > 0 ? ids : undefined };
    this.push({ type: 'finish', finishReason, messageMetadata });
  }

  /**
   * Sends a request for approval of each waiting call. If calls wait in nested runs, one request for the enclosing call
   * covers all of them.
   */
  private ask(pending: readonly (PendingCall | PendingAnswer)[]): void {
    const asked = new Set<string>();
    for (const item of pending) {
      const id = item.path?.[0] ?? item.id;
      if (item.path === undefined) this.announce(item.type === 'answer' ? answerCall(item.text) : item);
      // The page runs the tool of such a call.
      if ((item.type !== 'answer' && item.needs === 'result') || asked.has(id)) continue;
      asked.add(id);
      const request = { type: 'tool-approval-request', approvalId: id, toolCallId: id } as const;
      this.push(item.reason ? { ...request, reason: item.reason } : request);
    }
  }

  /**
   * Sends the parts of a response that are not streamed: tool calls, results of the provider's own tools, and files.
   */
  private writePart(part: AssistantPart): void {
    if (part.type === 'tool-call') this.announce(part);
    else if (part.type === 'file') this.push({ type: 'file', url: fileUrl(part), mediaType: part.mediaType });
    else if (part.type === 'tool-result') {
      const output = toolOutput(part);
      this.push({ type: 'tool-output-available', toolCallId: part.id, output, providerExecuted: true });
    }
  }

  private announce(call: Omit<ToolCallPart, 'type'>): void {
    const input = shownData(inputOf(call));
    if (call.editedInput !== undefined) this.editCall(call.id, call.invalidInput ?? call.input);
    const json = toJson(input);
    if (this.announced.has(call.id) && this.announced.get(call.id) === json) return;
    this.announced.set(call.id, json);
    const { id: toolCallId, name: toolName } = call;
    if ((call as ReplayedCall).isAnswered) {
      // `tool-input-available` would run `onToolCall` on the page, so the arguments are sent as a delta.
      this.push({ type: 'tool-input-start', toolCallId, toolName });
      return this.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: json });
    }
    const chunk = { type: 'tool-input-available', toolCallId, toolName, input } as const;
    if (this.edited.has(toolCallId)) {
      return this.push({ ...chunk, providerMetadata: editMetadata(this.edited.get(toolCallId)) });
    }
    this.push(call.providerExecuted ? { ...chunk, providerExecuted: true } : chunk);
  }

  private openStep(turn: number): StepChunks {
    this.closeStep();
    this.endsInCalls = false;
    this.push({ type: 'start-step' });
    this.step = new StepChunks(turn, this.push);
    return this.step;
  }

  /**
   * Ends the current step, if there is one. A step stays open after its turn, because a lifecycle may still replace the
   * text of the turn.
   *
   * If the answer is over and its last step has tool calls, adds an empty step. Otherwise a page that sends an answer
   * with complete tool calls would send this answer.
   */
  private closeStep(isOver = false): void {
    this.step?.end();
    if (this.step !== undefined) this.push({ type: 'finish-step' });
    this.step = undefined;
    if (!isOver || !this.endsInCalls) return;
    this.push({ type: 'start-step' });
    this.push({ type: 'finish-step' });
  }
}
