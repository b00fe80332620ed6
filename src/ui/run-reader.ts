import type { AgentEvent, AgentEventOf } from '../agent/agent-event.js';
import type { RunResult } from '../agent/run-result.js';
import { OwnEvents } from '../agent/run-stream.js';
import { RunAbortedError } from '../lifecycle/run-failure.js';
import type { ModelResponse } from '../model/model.js';
import type { NestedPart } from './nested/nested-part.js';
import { type NestedPage, NestedRuns } from './nested/nested-runs.js';
import type { Converter } from './sse/event-queue.js';
import { SuspendedResponse } from './suspended-response.js';

/** A streamed piece of a response: text, reasoning, or arguments of a tool call. */
export type DeltaEvent =
  | AgentEventOf<'text-delta'>
  | AgentEventOf<'reasoning-delta'>
  | AgentEventOf<'tool-input-delta'>;

/** An event of a tool call. */
export type ToolEvent = AgentEventOf<'tool-start'> | AgentEventOf<'tool-delta'> | AgentEventOf<'tool-end'>;

/** Writes the events of one run in the format of one protocol. */
export interface RunWriter {
  /** Starts the output. `runId` is undefined for a run that failed before its first event. */
  start(runId: string | undefined): void;
  /** Ends the current turn and starts the next one. */
  openTurn(turn: number): void;
  delta(event: DeltaEvent): void;
  /** Removes everything that the current turn has shown from the page. */
  takeBack(): void;
  respond(response: ModelResponse): void;
  tool(event: ToolEvent): void;
  /** Shows a user message that was sent during the run, after the current turn. */
  join(event: AgentEventOf<'post'>): void;
  /** Reports that the run continues with another agent. */
  handOver(event: AgentEventOf<'handoff'>): void;
  /** Reports that a resumed run has denied a call. No other event reports this. */
  denyCall(callId: string, reason: string | undefined): void;
  /**
   * Reports that a resumed run starts a call whose arguments a person changed. `before` has the arguments from the
   * model.
   */
  editCall(callId: string, before: unknown): void;
  /** Reports that a resumed run has approved or denied the suspended answer. */
  decideAnswer(): void;
  fail(error: unknown): void;
  finish(result: RunResult<unknown>): void;
}

/** The settings of a page, and a function that converts the parts of nested runs. */
interface ConvertedPage<Item> extends NestedPage {
  readonly nestedItem: (part: NestedPart) => Item;
}

/**
 * Returns functions that convert the events of a run by means of a writer. `create` receives a function that adds a
 * converted item, and returns the writer.
 */
export function convertRun<Item>(
  page: ConvertedPage<Item>,
  create: (push: (item: Item) => void) => RunWriter,
): Converter<Item> {
  let items: Item[] = [];
  const push = (item: Item) => void items.push(item);
  const reader = new RunReader(create(push), new NestedRuns(page, (part) => push(page.nestedItem(part))));
  return {
    convert(event) {
      items = [];
      reader.read(event);
      return items;
    },
    fail(error) {
      items = [];
      reader.fail(error);
      return items;
    },
  };
}

/** Reads the events of a run in order, and decides which text stays on the page. */
class RunReader {
  /** True if the last model call returned no response. Its text is then removed, unless the run was stopped. */
  private failed = false;
  private hasTurns = false;
  private readonly own = new OwnEvents();
  private readonly suspension = new SuspendedResponse();

  constructor(
    private readonly writer: RunWriter,
    private readonly nested: NestedRuns,
  ) {}

  read(event: AgentEvent): void {
    const { writer } = this;
    const path = this.own.pathOf(event);
    this.nested.read(event, path);
    if (path.length > 0 || this.suspension.hides(event)) return;
    switch (event.type) {
      case 'run-start':
        return writer.start(event.runId);
      case 'turn-start':
        this.settle();
        this.hasTurns = true;
        return writer.openTurn(event.turn);
      case 'post':
        return this.readPost(event);
      case 'handoff':
        return writer.handOver(event);
      case 'text-delta':
      case 'reasoning-delta':
      case 'tool-input-delta':
        this.settle();
        return writer.delta(event);
      case 'model-error':
        return writer.takeBack();
      case 'model-end':
        return this.readResponse(event);
      case 'decision':
        return this.readDecision(event);
      case 'run-error':
        return this.readError(event.error);
      case 'run-end':
        this.settle();
        return event.result && writer.finish(event.result);
      case 'tool-start':
      case 'tool-delta':
      case 'tool-end':
        return writer.tool(event);
    }
  }

  /** Reports the error of a run that failed before its first event. */
  fail(error: unknown): void {
    this.writer.start(undefined);
    this.readError(error);
  }

  private readResponse({ response }: AgentEventOf<'model-end'>): void {
    if (this.suspension.isAnswer(response)) return this.writer.takeBack();
    this.failed = response === undefined;
    if (response !== undefined) this.writer.respond(response);
  }

  private readPost(event: AgentEventOf<'post'>): void {
    // Keeps the text of a model call that was abandoned for a message.
    this.failed = false;
    // A message before the first turn is shown before the answer. A message about the end of a background work is not
    // shown, because nobody typed it.
    if (this.hasTurns && event.work === undefined) this.writer.join(event);
  }

  private readDecision({ decision: { point, type, call, reason, before, after } }: AgentEventOf<'decision'>): void {
    if (point !== 'resume') return;
    if (call === undefined) this.writer.decideAnswer();
    else if (type === 'block') this.writer.denyCall(call.id, reason);
    else if (type === 'approve' && after !== undefined) this.writer.editCall(call.id, before);
  }

  private readError(error: unknown): void {
    // If a person stops an answer, the text that was shown stays.
    if (error instanceof RunAbortedError) this.failed = false;
    this.settle();
    this.writer.fail(error);
  }

  private settle(): void {
    if (this.failed) this.writer.takeBack();
    this.failed = false;
  }
}
