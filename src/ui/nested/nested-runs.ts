import type { AgentEvent, AgentEventOf, EarlierTurn } from '../../agent/agent-event.js';
import type { PendingAnswer, PendingCall, RunResult } from '../../agent/run-result.js';
import { toJson } from '../../internal/json.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { callAsRun, inputOf } from '../../model/edited-call.js';
import { type AssistantMessage, textOf, toolCallsOf } from '../../model/message.js';
import { answerCall } from '../history/pending.js';
import { turnId } from '../history/shown.js';
import { shownData, toolOutput } from '../shown-content.js';
import type { StreamTexts } from '../stream-texts.js';
import { SuspendedResponse } from '../suspended-response.js';
import type { NestedPart, UINestedCall, UINestedRun } from './nested-part.js';

/**
 * The settings of a page that shows nested runs: its error texts, and whether the person on it may approve or deny tool
 * calls.
 */
export interface NestedPage extends StreamTexts {
  /** True if the person on the page may approve or deny tool calls. */
  readonly decides: boolean;
}

/** The minimum number of new characters after which the text of a step is sent again. */
const MIN_GROWTH = 200;

type EndedCall = Pick<AgentEventOf<'tool-end'>, 'callId' | 'name' | 'result'>;
type Push = (part: NestedPart) => void;

/**
 * Converts the events of nested runs to parts for a page: one for each run, and one for each turn. A part is sent again
 * when a call or the end of the run changes it.
 *
 * Growing text is sent again only after it has grown by a third, and by at least 200 characters. So all versions
 * together are at most five times as long as the text.
 */
export class NestedRuns {
  /** The runs that have not ended, by their ids. */
  private readonly open = new Map<string, OpenRun>();

  constructor(
    private readonly page: NestedPage,
    private readonly push: Push,
  ) {}

  /**
   * Reads an event of a nested run, or of the outermost run. `path` has the ids of the enclosing tool calls, and is
   * empty for the outermost run.
   */
  read(event: AgentEvent, path: readonly string[]): void {
    const { type, runId } = event;
    if (type === 'tool-end' && event.result !== undefined) this.cut([...path, event.callId], event.result.isError);
    if (path.length > 0) {
      if (type === 'run-start') {
        const run = new OpenRun({ runId, agent: event.agent, path }, this.page, this.push);
        if (event.earlier !== undefined) run.goOn(event.earlier);
        this.open.set(runId, run);
      } else this.open.get(runId)?.read(event);
      if (type === 'run-end') this.open.delete(runId);
    } else if (type === 'run-end') this.cut(path);
  }

  /**
   * Ends the nested runs below `path` that have not ended. Called when their tool call has a result or the outermost
   * run has ended.
   */
  cut(path: readonly string[], isError?: boolean): void {
    for (const [runId, run] of this.open) {
      if (!path.every((id, at) => run.path[at] === id)) continue;
      run.end(isError ? 'failed' : 'stopped');
      this.open.delete(runId);
    }
  }
}

/** A nested run, and its current turn. */
class OpenRun {
  private step: OpenStep | undefined = undefined;
  /** The number of turns of the earlier run that this run resumes. */
  private turnsBefore = 0;
  /** True if the last model call returned no response. Its text is then removed, unless the run was stopped. */
  private failed = false;
  private failure: Pick<UINestedRun, 'status' | 'errorText'> | undefined = undefined;
  private readonly suspension = new SuspendedResponse();

  constructor(
    private readonly run: Omit<UINestedRun, 'status'>,
    private readonly page: NestedPage,
    private readonly push: Push,
  ) {
    this.send({ status: 'running' });
  }

  get path(): readonly string[] {
    return this.run.path;
  }

  /** Shows the last turn of the earlier run that this run resumes, with its calls and results. */
  goOn({ turn, message, results }: EarlierTurn): void {
    this.turnsBefore = turn;
    const step = this.at(0);
    // A suspended answer is not shown before it is approved.
    if (!message.suspended) step.fill(message);
    for (const { id: callId, name, ...result } of results) step.endCall({ callId, name, result }, this.page);
    step.send();
  }

  read(event: AgentEvent): void {
    if (this.suspension.hides(event)) return;
    switch (event.type) {
      case 'text-delta':
        return this.at(event.turn).write(event);
      case 'model-error':
        return this.at(event.turn).replace('');
      case 'model-end':
        return this.readResponse(event);
      case 'tool-start':
        return this.at(event.turn).start(event);
      case 'tool-end':
        return this.at(event.turn).endCall(event, this.page);
      case 'decision':
        return this.readDecision(event);
      case 'run-error':
        return this.readError(event.error);
      case 'run-end':
        return this.readEnd(event.result);
    }
  }

  end(status: UINestedRun['status']): void {
    this.settle();
    this.step?.flush();
    this.send({ status, ...this.failure });
  }

  private at(ownTurn: number): OpenStep {
    const turn = this.turnsBefore + ownTurn;
    if (this.step?.turn === turn) return this.step;
    this.settle();
    this.step?.flush();
    const { runId } = this.run;
    const id = turnId(runId, turn);
    this.step = new OpenStep(turn, (step) =>
      this.push({ type: 'nested-step', id, data: { runId, turn, text: step.text, calls: [...step.calls.values()] } }),
    );
    return this.step;
  }

  private readResponse({ turn, response }: AgentEventOf<'model-end'>): void {
    const step = this.at(turn);
    if (this.suspension.isAnswer(response)) return step.replace('');
    this.failed = response === undefined;
    if (response === undefined) return;
    step.fill({ role: 'assistant', content: response.content });
    step.send();
  }

  private readError(error: unknown): void {
    const isStopped = error instanceof RunAbortedError;
    // A stopped run keeps the text that was shown.
    if (isStopped) this.failed = false;
    this.failure = isStopped ? { status: 'stopped' } : { status: 'failed', errorText: this.page.errorText(error) };
  }

  private settle(): void {
    if (this.failed) this.step?.replace('');
    this.failed = false;
  }

  /** Shows that a resumed run has denied a call. No other event reports this. */
  private readDecision({ decision: { point, type, call, reason, turn } }: AgentEventOf<'decision'>): void {
    if (point !== 'resume' || type !== 'block' || call === undefined) return;
    const step = this.at(turn);
    const { id, name } = call;
    step.change({ id, name, input: step.calls.get(id)?.input, status: 'denied', reason });
  }

  private readEnd(result: RunResult<unknown> | undefined): void {
    const pending = (result?.pending ?? []) as readonly (PendingCall | PendingAnswer)[];
    for (const item of this.page.decides ? pending : []) {
      // The nested run has already shown its own waiting calls.
      if (item.path !== undefined) continue;
      const { id, name, input } = item.type === 'answer' ? answerCall(item.text) : callAsRun(item);
      this.step?.change({ id, name, input: shownData(input), status: 'pending', reason: item.reason, by: item.by });
    }
    this.end(result?.status ?? 'failed');
  }

  private send(state: Pick<UINestedRun, 'status' | 'errorText'>): void {
    this.push({ type: 'nested-run', id: this.run.runId, data: { ...this.run, ...state } });
  }
}

/** The text and the calls of one turn. */
class OpenStep {
  text = '';
  readonly calls = new Map<string, UINestedCall>();
  private attempt = 0;
  /** The text that the page has received. */
  private sent = '';

  constructor(
    readonly turn: number,
    private readonly push: (step: OpenStep) => void,
  ) {}

  /** Appends streamed text. If `attempt` is new, first removes the text of the previous attempt. */
  write({ attempt, text }: AgentEventOf<'text-delta'>): void {
    if (attempt !== this.attempt) this.text = '';
    this.attempt = attempt;
    this.text += text;
    if (this.text.length - this.sent.length >= Math.max(MIN_GROWTH, this.sent.length / 3)) this.send();
  }

  /** Sets the text and the calls of a response. */
  fill(message: AssistantMessage): void {
    this.text = textOf(message);
    for (const call of toolCallsOf(message)) {
      this.calls.set(call.id, { id: call.id, name: call.name, input: shownData(inputOf(call)), status: 'running' });
    }
  }

  replace(text: string): void {
    this.text = text;
    this.flush();
  }

  start({ callId: id, name, input: given }: AgentEventOf<'tool-start'>): void {
    const input = shownData(given);
    const known = this.calls.get(id);
    // A hook may have changed the arguments.
    if (known?.status !== 'running' || toJson(known.input) !== toJson(input)) {
      this.change({ id, name, input, status: 'running' });
    }
  }

  endCall({ callId: id, name, result }: EndedCall, { toolErrorText }: StreamTexts): void {
    if (result === undefined) return;
    const call = { id, name, input: this.calls.get(id)?.input };
    if (!result.isError) return this.change({ ...call, status: 'done', output: toolOutput(result) });
    this.change({ ...call, status: 'failed', errorText: toolErrorText({ callId: id, name, result }) });
  }

  change(call: UINestedCall): void {
    this.calls.set(call.id, call);
    this.send();
  }

  /**
   * Sends the step if its text has changed since it was last sent. Calls need no `flush`, because `change` sends each
   * change at once.
   */
  flush(): void {
    if (this.text !== this.sent) this.send();
  }

  send(): void {
    this.sent = this.text;
    this.push(this);
  }
}
