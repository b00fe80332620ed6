import { describeError, HookResultInvalidError } from '../../../errors.js';
import { type Awaitable, isPromise } from '../../../internal/promise.js';
import type { SuspendAction } from '../../../lifecycle/hook-action.js';
import { ASIDE } from '../../../lifecycle/hook-run/hook-run.js';
import { runWaterfall } from '../../../lifecycle/waterfall.js';
import { type AssistantPart, type Message, type ToolCallPart, textOf } from '../../../model/message.js';
import type { Model, ModelResponse } from '../../../model/model.js';
import { ModelError, type ModelFailureHints } from '../../../model/run-error.js';
import { wholeResponse } from '../../../model/whole-response.js';
import type { Tool } from '../../../tools/tool.js';
import { ToolSnapshot } from '../../../tools/tool-catalog.js';
import { TurnLimitError } from '../../run-result.js';
import type { CurrentTurn, Run } from '../run.js';
import { callModel } from './model-call.js';
import { ModelStep } from './model-step.js';
import { callsOf, resultsOfCutOff, withDistinctIds } from './response-calls.js';
import { ToolCalls } from './tool-calls.js';
import { TurnEvents } from './turn-events.js';

const NO_TOOLS = new ToolSnapshot([]);

/**
 * One turn of a run. The run loop calls its steps in this order: `prepare`, `ask`, `judge`, `keep`, the tool calls, `end`.
 * A step that returns a promise must be awaited before the next one.
 */
export class Turn implements CurrentTurn {
  readonly run: Run;
  readonly number: number;
  tools: ToolSnapshot | undefined = undefined;
  attempt = 0;
  /** The model call with its hooks. */
  step: ModelStep | undefined = undefined;
  /** The tool calls of the response. */
  calls: ToolCalls | undefined = undefined;
  private heard: TurnEvents | undefined = undefined;

  constructor(run: Run, number: number) {
    this.run = run;
    this.number = number;
  }

  get events(): TurnEvents | undefined {
    if (!this.run.listeners.active) return undefined;
    this.heard ??= new TurnEvents(this.run, this);
    return this.heard;
  }

  get modelCalls(): number {
    return this.step === undefined ? Math.max(0, this.number - 1) : this.number;
  }

  nextAttempt(): number {
    this.attempt += 1;
    return this.attempt;
  }

  skipShown(response: ModelResponse): void {
    const attempt = this.nextAttempt();
    if (this.step !== undefined) this.step.responses[attempt] = response;
    this.events?.skipText(attempt);
  }

  /** Calls `beforeModel`, which may replace the working messages, and then `beforeToolSelection`. */
  prepare(): PromiseLike<void> | undefined {
    const { run } = this;
    const { beforeModel } = run.config.chain;
    if (beforeModel === undefined) return this.selectTools();
    const messages = runWaterfall(beforeModel, run.conversation.history, run);
    return isPromise(messages) ? messages.then((later) => this.adopt(later)) : this.adopt(messages);
  }

  private adopt(messages: readonly Message[]): PromiseLike<void> | undefined {
    this.run.conversation.adopt(messages);
    this.run.end.throwIfAborted();
    return this.selectTools();
  }

  /** Takes a snapshot of the tools, after `beforeToolSelection`. The extra turn of `atLimit: 'answer'` has no tools. */
  selectTools(): PromiseLike<void> | undefined {
    const { run } = this;
    const { catalog, maxTurns, chain } = run.config;
    if (run.end.verdict !== undefined) return undefined;
    this.tools = this.number > maxTurns ? NO_TOOLS : catalog.current();
    const { beforeToolSelection } = chain;
    if (beforeToolSelection === undefined || this.tools === NO_TOOLS) return undefined;
    // A copy, so that a hook that changes the array in place affects this turn only.
    const tools = runWaterfall<readonly Tool[]>(beforeToolSelection, [...this.tools.tools], run);
    if (isPromise(tools)) return tools.then((later) => this.offer(later));
    this.offer(tools);
    return undefined;
  }

  private offer(tools: readonly Tool[]): void {
    this.tools = new ToolSnapshot(tools);
  }

  /**
   * Calls the model, through the `wrapModelCall` hooks if there are any. Resolves with undefined if the service refused the
   * tool call that its model had written: the model is told the reason, and the next turn asks it again.
   */
  async ask(): Promise<ModelResponse | undefined> {
    const { run } = this;
    const { config, conversation } = run;
    const tools = this.tools as ToolSnapshot;
    run.end.throwIfAborted();
    this.events?.startModel();
    this.step = new ModelStep(run, {
      messages: conversation.outgoing,
      tools: tools.tools,
      toolChoice: tools === NO_TOOLS ? 'none' : config.toolChoice,
      output: config.output?.request,
      settings: config.settings,
      onPart: this.events?.partSink(),
      model: config.model,
      run: run.context,
    });
    try {
      return await this.callThrough(this.step);
    } catch (error) {
      if (!this.isRefused(error)) throw error;
      run.conversation.flush();
      const reason = describeError(error instanceof ModelError ? error.cause : error);
      const content = `The tool call was refused: ${reason}\nCall the tool again, in the right format.`;
      run.conversation.push({ role: 'user', content });
      return undefined;
    } finally {
      this.step.close();
    }
  }

  /** True if the service refused the tool call that its model had written. Only the first such failure has a next turn. */
  private isRefused(error: unknown): boolean {
    const { run } = this;
    const isStopped = run.end.verdict !== undefined || run.end.abortError !== undefined;
    const isRefused = (error as ModelFailureHints | undefined)?.kind === 'tool-format';
    if (!isRefused || run.refused || isStopped || this.number >= run.config.maxTurns) return false;
    run.refused = true;
    return true;
  }

  async askAside(model: Model, messages: readonly Message[]): Promise<ModelResponse> {
    const step = new ModelStep(this.run, { model, messages, tools: [], run: this.run.context });
    Object.assign(step.request, { [ASIDE]: true });
    try {
      return await this.callThrough(step);
    } finally {
      step.close();
    }
  }

  private callThrough(step: ModelStep): Awaitable<ModelResponse> {
    const { wrapModelCall } = this.run.config.chain;
    return (wrapModelCall ?? callModel)(step.request, step);
  }

  /** Calls `afterModel` with the response. */
  judge(given: ModelResponse): Awaitable<ModelResponse> {
    const { run } = this;
    const { afterModel } = run.config.chain;
    const response = this.intact(given, 'wrapModelCall');
    if (afterModel === undefined || run.end.verdict !== undefined) return response;
    const judged = runWaterfall(afterModel, response, run);
    return isPromise(judged)
      ? judged.then((later) => this.intact(later, 'afterModel'))
      : this.intact(judged, 'afterModel');
  }

  /** Checks a response after hooks, which may have made a part of it invalid. Such a change cannot be undone. */
  private intact(response: ModelResponse, point: 'wrapModelCall' | 'afterModel'): ModelResponse {
    const { end, config } = this.run;
    end.throwIfAborted();
    try {
      return wholeResponse(response);
    } catch (error) {
      const hooks = config.chain.entries.filter(({ lifecycle }) => lifecycle[point] !== undefined);
      const names = hooks.map(({ name }) => name).join('", "');
      const damage = `${point} of "${names}" must not make the response invalid in place (${describeError(error)})`;
      throw end.own(new HookResultInvalidError(damage, response));
    }
  }

  /**
   * Adds the response to the conversation: as the answer, or with its tool calls. If a hook withheld the response, only its
   * tool calls are kept, and get error results. If a hook suspended it, it stays whole and waits.
   */
  keep(response: ModelResponse): void {
    const { run } = this;
    const action = run.end.verdict?.action;
    run.response = response;
    this.events?.endModel(action === undefined || action.type === 'suspend' ? response : undefined);
    const content = withDistinctIds(response.content, run.config.ids);
    const calls = callsOf(content);
    if (action?.type === 'suspend') return this.hold(content, calls, action);
    if (calls !== undefined) {
      run.conversation.push({ role: 'assistant', content });
      this.calls = new ToolCalls(run, calls, resultsOfCutOff(response.finishReason, calls));
    } else if (action === undefined) {
      run.conversation.push({ role: 'assistant', content });
      run.answer = textOf({ role: 'assistant', content });
    }
  }

  private hold(
    content: readonly AssistantPart[],
    calls: readonly ToolCallPart[] | undefined,
    { reason }: SuspendAction,
  ): void {
    const { run } = this;
    const by = run.end.verdict?.by ?? '';
    if (calls !== undefined) {
      run.conversation.push({ role: 'assistant', content });
      run.pending = calls.map((call) => ({ ...call, reason, by }));
    } else {
      run.conversation.push({ role: 'assistant', content, suspended: true });
      run.answer = textOf({ role: 'assistant', content });
      run.pending = [{ type: 'answer', id: 'answer', text: run.answer, reason, by }];
    }
    run.conversation.flush();
  }

  /** Saves the turn if the run has a session. Then throws the error that ended the tool calls early, if any. */
  end(): PromiseLike<void> | undefined {
    const { run, calls } = this;
    // A turn whose response a hook withheld is not saved.
    const isKept = (calls !== undefined && calls.begun > 0) || run.answer !== undefined || run.pending !== undefined;
    const saving = isKept ? run.save() : undefined;
    if (saving !== undefined) return saving.then(() => this.close());
    this.close();
    return undefined;
  }

  private close(): void {
    const { run, calls } = this;
    if (calls !== undefined) {
      run.end.throwIfAborted();
      if (calls.failure !== undefined) throw calls.failure.error;
    }
    this.events?.end();
  }
}

/** Starts the next turn. Throws TurnLimitError at the limit. With `atLimit: 'answer'`, one more turn is allowed. */
export function startTurn(run: Run): Turn {
  const { maxTurns, atLimit } = run.config;
  const turn = new Turn(run, run.context.turn + 1);
  const extra = atLimit === 'answer' ? 1 : 0;
  if (turn.number > maxTurns + extra) throw run.end.own(new TurnLimitError(maxTurns));
  run.turn = turn;
  turn.events?.start();
  return turn;
}
