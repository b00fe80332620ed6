import type { AgentEventOf } from '../../agent/agent-event.js';
import type { PendingAnswer, PendingCall, RunResult } from '../../agent/run-result.js';
import { toJson } from '../../internal/json.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { deniedCall } from '../../model/denial.js';
import { callAsRun } from '../../model/edited-call.js';
import { type Message, type ToolCallPart, textOf } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import { isSummary } from '../../model/summary-message.js';
import type { Entry } from '../../state/record/entry.js';
import { recordOf } from '../../state/record/session-record.js';
import { shownIn, turnId } from '../history/shown.js';
import type { DeltaEvent, RunWriter, ToolEvent } from '../run-reader.js';
import { shownData, toolOutput } from '../shown-content.js';
import { codeOf, type StreamTexts } from '../stream-texts.js';
import type { AgUIEvent, AgUIInterrupt, AgUIOutcome } from './ag-ui-event.js';
import { AgUITurn } from './ag-ui-turn.js';
import { agUIMessagesOf, outputText } from './to-ag-ui-messages.js';

/** The name of the AG-UI custom events that report the progress of a tool. */
export const PROGRESS = 'keelson.progress';

/** Options for converting one run to AG-UI events. */
export interface AgUIWriterOptions extends StreamTexts {
  readonly threadId: string;
  /** The `runId` of the events. Default: the id of the run. */
  readonly runId?: string | undefined;
  /** Returns the entries of the session, for a snapshot of all messages. */
  readonly entries?: (() => readonly Entry[]) | undefined;
  /** True if the client may approve or deny tool calls and answers. Only then it receives interrupts. */
  readonly decides: boolean;
}

/**
 * Writes one run as AG-UI events. AG-UI cannot take back streamed text. If the run replaces text, the custom event
 * `keelson.replaced` names the replaced messages, and a snapshot of all messages follows at the end.
 */
export class AgUIWriter implements RunWriter {
  private turn: AgUITurn | undefined = undefined;
  /** The run id in the events. `ownId` is the id of the run itself, with which the ids of messages start. */
  private runId = '';
  private ownId = '';
  private replaced = false;
  private readonly announced = new Set<string>();

  constructor(
    private readonly options: AgUIWriterOptions,
    private readonly push: (event: AgUIEvent) => void,
  ) {}

  start(runId = 'not-started'): void {
    const { threadId } = this.options;
    this.ownId = runId;
    this.runId = this.options.runId ?? runId;
    this.push({ type: 'RUN_STARTED', threadId, runId: this.runId });
  }

  openTurn(turn: number): AgUITurn {
    this.closeTurn();
    this.turn = new AgUITurn(turnId(this.ownId, turn), this.push);
    return this.turn;
  }

  delta(event: DeltaEvent): void {
    // An approved answer belongs to no turn of the resumed run, so a turn is opened for it.
    const turn = this.turn ?? this.openTurn(event.turn);
    if (event.type === 'tool-input-delta') turn.inputDelta(event);
    else turn.delta(event);
  }

  takeBack(): void {
    this.turn?.replace();
  }

  respond({ content }: ModelResponse): void {
    this.turn?.settle(content);
    for (const part of content) if (part.type === 'tool-call') this.announce(part);
  }

  tool(event: ToolEvent): void {
    const { callId, name } = event;
    if (event.type === 'tool-start') {
      // The suspended run has already announced the calls of turn 0.
      if (event.turn > 0) this.announce({ id: callId, name, input: event.input });
    } else if (event.type === 'tool-delta') {
      const value = { toolCallId: callId, toolCallName: name, data: shownData(event.data) };
      this.push({ type: 'CUSTOM', name: PROGRESS, value });
    } else if (event.result !== undefined) {
      const { result } = event;
      this.pushResult(
        event,
        result.isError ? this.options.toolErrorText({ callId, name, result }) : outputText(toolOutput(result)),
      );
    }
  }

  join({ id: messageId, message }: AgentEventOf<'post'>): void {
    this.closeTurn();
    this.push({ type: 'TEXT_MESSAGE_START', messageId, role: 'user' });
    const delta = textOf(message);
    if (delta !== '') this.push({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
    this.push({ type: 'TEXT_MESSAGE_END', messageId });
  }

  handOver({ from, to }: AgentEventOf<'handoff'>): void {
    this.push({ type: 'CUSTOM', name: 'keelson.handoff', value: { from, to } });
  }

  denyCall(callId: string, reason: string | undefined): void {
    this.pushResult({ callId, turn: 0 }, deniedCall(reason));
  }

  /** Requests a snapshot at the end of the run, because AG-UI cannot change the arguments that the client shows. */
  editCall(): void {
    this.replaced = true;
  }

  /** Does nothing, because the client removed the interrupt when it resumed the run. */
  decideAnswer(): void {}

  fail(error: unknown): void {
    this.closeTurn();
    if (error instanceof RunAbortedError) {
      this.sendSnapshot(error.history);
      return this.push(finished(this.options.threadId, this.runId, { type: 'cancelled' }));
    }
    this.push({ type: 'RUN_ERROR', message: this.options.errorText(error), code: codeOf(error) });
  }

  finish({ history, pending, usage }: RunResult<unknown>): void {
    this.closeTurn();
    this.sendSnapshot(history);
    const open = pending as readonly (PendingCall | PendingAnswer)[];
    const asked = open.filter((item) => item.type === 'answer' || item.needs === undefined);
    const interrupts = this.options.decides ? asked.map(interruptOf) : [];
    const outcome = interrupts.length > 0 ? ({ type: 'interrupt', interrupts } as const) : { type: 'success' as const };
    this.push({ ...finished(this.options.threadId, this.runId, outcome), usage: [usage] });
  }

  private pushResult({ callId: toolCallId, turn }: Pick<ToolEvent, 'callId' | 'turn'>, content: string): void {
    const messageId = `${turnId(this.ownId, turn)}.${toolCallId}`;
    this.push({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content });
  }

  private announce(call: Omit<ToolCallPart, 'type'>): void {
    const { id, name, input, invalidInput } = callAsRun(call);
    if (this.announced.has(id)) return;
    this.announced.add(id);
    this.turn?.call({ id, name, text: invalidInput ?? toJson(shownData(input) ?? {}) });
  }

  /** Sends all messages of the chat, if the run replaced text that AG-UI cannot take back. */
  private sendSnapshot(history: readonly Message[]): void {
    if (!this.replaced) return;
    const entries = this.options.entries?.() ?? history.map(entryOf);
    this.push({ type: 'MESSAGES_SNAPSHOT', messages: agUIMessagesOf(shownIn(recordOf(entries)), this.options) });
  }

  private closeTurn(): void {
    this.turn?.close();
    this.replaced ||= this.turn?.replaced ?? false;
    this.turn = undefined;
  }
}

function finished(threadId: string, runId: string, outcome: AgUIOutcome) {
  return { type: 'RUN_FINISHED', threadId, runId, outcome } as const;
}

/** Converts a message to an entry, for a run that has no session. */
function entryOf(message: Message, index: number): Entry {
  const place = { id: `m${index + 1}`, parent: index === 0 ? undefined : `m${index}`, at: 0 };
  if (!isSummary(message)) return { ...place, body: { type: 'message', message } };
  return { ...place, body: { type: 'summary', text: textOf(message).replace(/^.*\n/, ''), keep: [], shorten: [] } };
}

function interruptOf({ id, path, agent, reason, ...pending }: PendingCall | PendingAnswer): AgUIInterrupt {
  const inside = path && { toolCallId: path[0] as string };
  if (pending.type === 'answer') {
    const metadata = { text: pending.text, ...(path && { path, agent }) };
    return { id, reason: 'answer', ...inside, message: reason || 'Approve the answer?', metadata };
  }
  const { name } = pending;
  const call = { id, reason: 'tool_call', toolCallId: id, message: reason || `Approve ${name}?` } as const;
  return path === undefined
    ? call
    : { ...call, ...inside, metadata: { path, agent, name, input: shownData(callAsRun(pending).input) } };
}
