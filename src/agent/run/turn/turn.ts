import type { Awaitable } from '../../../internal/promise.js';
import { ASIDE } from '../../../lifecycle/hook-run/hook-run.js';
import type { ModelCallRequest } from '../../../lifecycle/lifecycle.js';
import { type Waterfall, WaterfallCall } from '../../../lifecycle/waterfall.js';
import { type Message, textOf } from '../../../model/message.js';
import type { Model, ModelResponse } from '../../../model/model.js';
import type { Tool } from '../../../tools/tool.js';
import { ToolSnapshot } from '../../../tools/tool-catalog.js';
import { type Handoff, handoffIn } from '../../handoff/reach.js';
import { TurnLimitError } from '../../run-result.js';
import type { Run } from '../run.js';
import type { CurrentTurn } from '../run-parts.js';
import { turnLimitOf, turnsInside } from '../turn-limit.js';
import { acceptResponse, callModel, isPlainCall } from './model-call.js';
import { type ModelStep, plainStep, wrappedStep } from './model-step.js';
import { callsOf, haveUnclearIds, holdResponse, intactResponse, resultsOfCutOff, withDistinctIds } from './response.js';
import { ToolCalls } from './tool-calls.js';
import { TurnEvents } from './turn-events.js';

const NO_TOOLS = new ToolSnapshot([]);

/**
 * One turn of a run. The run loop calls its phases in this order: `prepare`, `ask`, `receive`, `judge`, `keep`, the
 * tool calls, `settle`. A returned promise must be awaited before the next phase.
 *
 * A hook may end the run in any phase. Then `run.end.verdict` holds its action.
 */
export class Turn implements CurrentTurn {
  tools: ToolSnapshot | undefined = undefined;
  attempt = 0;
  /** The model calls of the turn. Undefined if the run loop awaits the model itself. */
  step: ModelStep | undefined = undefined;
  /** The response, after `wrapModelCall` and before `afterModel`. */
  response: ModelResponse | undefined = undefined;
  /** The tool calls of the response. */
  calls: ToolCalls | undefined = undefined;
  /** True if the loop awaits the model itself. Then `receive` is the first code that sees the response. */
  private isPlain = false;
  private cachedEvents: TurnEvents | undefined = undefined;

  constructor(
    readonly run: Run,
    readonly number: number,
  ) {}

  get events(): TurnEvents | undefined {
    if (!this.run.listeners.active) return undefined;
    this.cachedEvents ??= new TurnEvents(this.run, this);
    return this.cachedEvents;
  }

  get modelCalls(): number {
    const hasAsked = this.isPlain || this.step !== undefined;
    // A turn whose model call was abandoned for an urgent message does not count.
    const steers = this.run.attached.recorder?.posts.steers ?? 0;
    return Math.max(0, (hasAsked ? this.number : this.number - 1) - steers);
  }

  nextAttempt(): number {
    this.attempt += 1;
    return this.attempt;
  }

  skipShown(response: ModelResponse): void {
    const attempt = this.nextAttempt();
    this.step?.record(attempt, response);
    this.events?.skipText(attempt);
  }

  // A function that contains a closure allocates memory in every call, even if it does not reach the closure. So the
  // methods with closures are called only if a hook is registered.

  /** Calls `beforeModel`, which may replace the working messages, and then `beforeToolSelection`. */
  prepare(): Awaitable<void> {
    const { beforeModel } = this.run.config.chain;
    return beforeModel === undefined ? this.selectTools() : this.passMessages(beforeModel);
  }

  private passMessages(hooks: Waterfall<readonly Message[]>): Awaitable<void> {
    const { run } = this;
    return new WaterfallCall(hooks, run.conversation.history, run).run((messages) => {
      run.conversation.adopt(messages);
      run.end.throwIfAborted();
      return this.selectTools();
    });
  }

  /**
   * Determines the tools of the turn, after `beforeToolSelection`. The extra turn of `atLimit: 'answer'` has no tools.
   */
  selectTools(): Awaitable<void> {
    const { config, end } = this.run;
    if (end.verdict !== undefined) return undefined;
    const all = this.number > turnLimitOf(this.run) ? NO_TOOLS : config.catalog.current();
    this.tools = all;
    const { beforeToolSelection } = config.chain;
    return beforeToolSelection === undefined || all === NO_TOOLS ? undefined : this.passTools(beforeToolSelection, all);
  }

  private passTools(hooks: Waterfall<readonly Tool[]>, all: ToolSnapshot): Awaitable<void> {
    // A copy, so that a hook that changes the array in place affects this turn only.
    return new WaterfallCall(hooks, [...all.tools], this.run).run((tools) => {
      this.tools = new ToolSnapshot(tools);
    });
  }

  /** Calls the model, through the `wrapModelCall` hooks if there are any. */
  ask(): Awaitable<ModelResponse> {
    const { run } = this;
    const { config, conversation } = run;
    const tools = this.tools as ToolSnapshot;
    run.end.throwIfAborted();
    this.events?.startModel();
    const request: ModelCallRequest = {
      messages: conversation.outgoing,
      tools: tools.tools,
      toolChoice: tools === NO_TOOLS ? 'none' : config.toolChoice,
      output: config.output?.request,
      settings: config.settings,
      idleMs: config.timeouts.idleMs,
      // The model step sets the signal, if anything can abort the call.
      signal: undefined,
      onPart: this.events?.partSink(),
      model: config.model,
      run: run.context,
    };
    this.isPlain = isPlainCall(run);
    if (this.isPlain) return config.model.generate(request);
    // A durable step is not abandoned, because its engine would repeat the step in the next attempt.
    const posts = run.effects === undefined ? run.attached.recorder?.posts : undefined;
    const isPlain = config.chain.wrapModelCall === undefined && posts === undefined;
    this.step = isPlain ? plainStep(run, request) : wrappedStep(run, request);
    const asking = callThrough(run, this.step);
    // An urgent message abandons the call, and `recover` lets the next turn ask again.
    return posts === undefined ? asking : posts.untilSteered(Promise.resolve(asking));
  }

  /**
   * Handles a failed model call: lets the next turn ask the model again, or throws the error that ends the run. Imports
   * the code on first use, because most calls succeed.
   */
  recover(thrown: unknown): Promise<void> {
    this.step?.close();
    this.run.end.throwIfAborted();
    // Reads the cached events, because the listener that heard the text may have been removed.
    return recover(this, thrown, this.cachedEvents?.shownText ?? '');
  }

  async askAside(model: Model, messages: readonly Message[]): Promise<ModelResponse> {
    const step = wrappedStep(this.run, { model, messages, tools: [], run: this.run.context });
    Object.assign(step.request, { [ASIDE]: true });
    try {
      return await callThrough(this.run, step);
    } finally {
      step.close();
    }
  }

  /** Checks the response of the model. Adds its usage and its finish reason if they are missing. */
  receive(given: ModelResponse): void {
    this.step?.close();
    this.response = this.isPlain ? acceptResponse(this.run, given) : intactResponse(this.run, given, 'wrapModelCall');
  }

  /** Passes the response to the `afterModel` hooks, which may replace it. */
  judge(response: ModelResponse): Awaitable<ModelResponse> {
    const { config, end } = this.run;
    const { afterModel } = config.chain;
    return afterModel === undefined || end.verdict !== undefined
      ? response
      : passResponse(this.run, response, afterModel);
  }

  /**
   * Adds the response to the conversation, as the answer or with its tool calls.
   *
   * If a hook suspended the response, `holdResponse` adds it, and the run waits for a decision. If a hook ended the run
   * with a text or a rejection, no answer is added. Tool calls are added and do not run: each gets an error result.
   */
  keep(response: ModelResponse): void {
    const { run } = this;
    const { verdict } = run.end;
    const isHeld = verdict?.action.type === 'suspend';
    run.response = response;
    // Listeners do not get a response that a hook withheld.
    this.events?.endModel(verdict === undefined || isHeld ? response : undefined);
    let { content } = response;
    let calls = callsOf(content);
    if (calls !== undefined && haveUnclearIds(calls)) {
      content = withDistinctIds(content, run.config.ids);
      calls = callsOf(content);
    }
    if (isHeld) return holdResponse(run, content, verdict);
    if (calls !== undefined) {
      run.conversation.say({ role: 'assistant', content });
      this.calls = new ToolCalls(run, calls, resultsOfCutOff(response.finishReason, calls));
    } else if (verdict === undefined) {
      run.conversation.say({ role: 'assistant', content });
      run.answer = textOf({ role: 'assistant', content });
    }
  }

  /**
   * Saves the tool results if the run has a session. Then throws the error of an aborted run, or the error that halted
   * the tool calls, such as a failed hook.
   *
   * If a tool call was a handoff, continues with the other agent.
   */
  settle(): Promise<void> | undefined {
    const { run, calls } = this;
    // `conclude` saves the answer and the waiting calls.
    const saving = calls !== undefined && run.pending === undefined ? run.save() : undefined;
    return saving === undefined ? closeTurn(this) : saving.then(() => closeTurn(this));
  }
}

/** Starts the next turn. Throws TurnLimitError at the limit, or allows one more turn with `atLimit: 'answer'`. */
export function startTurn(run: Run): Turn {
  const { maxTurns, totalTurns, atLimit } = run.config;
  const turn = new Turn(run, run.context.turn + 1);
  const extra = atLimit === 'answer' ? 1 : 0;
  if (turn.number > turnLimitOf(run) + extra) {
    throw run.end.own(new TurnLimitError(totalTurns !== undefined && turnsInside(run) > 0 ? totalTurns : maxTurns));
  }
  run.turn = turn;
  turn.events?.start();
  return turn;
}

async function recover(turn: Turn, thrown: unknown, shown: string): Promise<void> {
  const { recoverFrom } = await import('./recover.js');
  turn.response = recoverFrom(turn.run, thrown, shown);
}

function passResponse(run: Run, response: ModelResponse, hooks: Waterfall<ModelResponse>): Awaitable<ModelResponse> {
  return new WaterfallCall(hooks, response, run).run((judged) => intactResponse(run, judged, 'afterModel'));
}

function callThrough(run: Run, step: ModelStep): Awaitable<ModelResponse> {
  const { wrapModelCall } = run.config.chain;
  return (wrapModelCall ?? callModel)(step.request, step);
}

function closeTurn({ run, calls, events }: Turn): Promise<void> | undefined {
  if (calls !== undefined) {
    run.end.throwIfAborted();
    if (calls.failure !== undefined) throw calls.failure.error;
  }
  events?.end();
  const { pending, end, config } = run;
  if (calls === undefined || pending !== undefined || end.verdict !== undefined) return undefined;
  const handoff = handoffIn(config.catalog.current());
  return handoff && handOver(handoff, { run, calls });
}

/** Imports the code on first use, because most agents have no handoff. */
async function handOver(
  handoff: Handoff,
  { run, calls }: { readonly run: Run; readonly calls: ToolCalls },
): Promise<void> {
  const { handOver } = await handoff.load();
  await handOver(run, calls);
}
