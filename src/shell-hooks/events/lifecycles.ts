import { describeError } from '../../errors.js';
import type { Awaitable } from '../../internal/promise.js';
import { hasFinalAnswer, hookRunOf } from '../../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, LoaderHost, ToolCallNext, ToolCallRequest } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { textOf, toolCallsOf } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import { HOOK_EVENTS, type HookEvent } from '../../programs/hook-event.js';
import { dialectOf } from '../dialects/dialect.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookRegistry } from '../hook/registry.js';
import { frameGuard } from '../hook/text.js';
import { isFinal } from '../run/model-fields.js';
import { addPendingMessages, afterAgent, beforeAgent, judgeAnswer } from './agent-hooks.js';
import { afterModel, afterTools, beforeModel, beforeToolSelection, callModel } from './model-hooks.js';
import { MOMENT_EVENTS, watchMoments } from './moment-hooks.js';
import { type HookParts, idsOf } from './run-state.js';
import { createSessionHooks } from './session-hooks.js';
import { createSubagentStart, createSubagentStop } from './subagent-hooks.js';
import { afterTool, beforeTool } from './tool-hooks.js';

/** This priority is low, so that hooks judge the values that other lifecycles have already rewritten. */
const GATE_PRIORITY = 10;
/** This priority is high, so that `after_tool` hooks read results after redaction. */
const RESULT_PRIORITY = 95;
/** This priority is the lowest, so that calls that another lifecycle refuses are not recorded. */
const REACH_PRIORITY = 0;

/** Returns true if the agent continues after the hook refuses an answer. Otherwise the answer is withheld. */
const continues = ({ dialect }: ShellHook) => dialectOf(dialect).facts.refusedAnswer === 'continued';

/** Installs lifecycles for the events that have shell hooks, and updates them when the registry changes. */
export class Installation {
  private events = '';
  /** Removes an installed lifecycle, by its name. */
  private readonly removals = new Map<string, () => void>();

  constructor(
    private readonly host: LoaderHost,
    private readonly parts: HookParts,
    private readonly registry: HookRegistry,
  ) {}

  update(): void {
    const events = new Set(HOOK_EVENTS.filter((event) => this.registry.hooksOf(event).length > 0));
    const names = [...events].join();
    if (names === this.events) return;
    this.events = names;
    const earlier = new Map(this.removals);
    this.removals.clear();
    for (const lifecycle of createLifecycles(events, this.parts)) {
      const { name = '' } = lifecycle;
      this.removals.set(name, this.host.use(lifecycle, earlier.get(name)));
      earlier.delete(name);
    }
    for (const remove of earlier.values()) remove();
  }
}

/**
 * Creates the lifecycles that the events need. Their names are unique, because an update replaces a lifecycle by its
 * name.
 */
function createLifecycles(events: ReadonlySet<HookEvent>, parts: HookParts): readonly AgentLifecycle[] {
  if (events.size === 0) return [];
  const readsCalls = events.has('after_tool') || events.has('after_agent');
  const readsSubagents = events.has('before_subagent') || events.has('after_subagent');
  return [
    createSessionHooks(events, parts, GATE_PRIORITY),
    createGates(events, parts),
    frameGuard,
    events.has('after_tool') && {
      name: 'shell-hooks:after_tool',
      priority: RESULT_PRIORITY,
      wrapToolCall: (call: ToolCallRequest, next: ToolCallNext) => afterTool(call, next, parts),
    },
    events.has('after_subagent') && createSubagentStop(parts, RESULT_PRIORITY),
    readsCalls && createCallRecorder(parts),
    readsSubagents && createSubagentStart(parts, REACH_PRIORITY),
  ].filter((lifecycle) => lifecycle !== undefined && lifecycle !== false);
}

/**
 * Creates the lifecycle for the events of a run, except `after_tool`. It defines only the lifecycle hooks that the events need.
 */
function createGates(events: ReadonlySet<HookEvent>, parts: HookParts): AgentLifecycle {
  const has = (event: HookEvent) => events.has(event);
  const changesRequests = has('before_model') || has('before_tool_selection');
  const readsTurns = has('after_model') || has('after_agent') || has('after_tools');
  const readsResponses = readsTurns || parts.transcripts !== undefined;
  return {
    name: 'shell-hooks',
    priority: GATE_PRIORITY,
    // The stream waits, because a hook may still replace the response.
    holdStream: has('after_model'),
    beforeAgent: entryPoint(events, parts),
    beforeModel: changesRequests || has('after_tools') ? modelPoint(events, parts) : undefined,
    beforeToolSelection: has('before_tool_selection')
      ? (tools, run) => beforeToolSelection(tools, run, parts)
      : undefined,
    wrapModelCall:
      changesRequests || has('after_tools') ? (request, next) => callModel(request, next, parts) : undefined,
    afterModel: readsResponses ? responsePoint(events, parts) : undefined,
    wrapToolCall: has('before_tool') ? (call, next) => beforeTool(call, next, parts) : undefined,
    afterAgent: (text, run) => endPoint(text, run, parts),
    onError: (error, run) => (has('run_failed') ? reportFailure(error, run, parts) : closeRun(run, parts)),
  };
}

/**
 * Creates the lifecycle that records which tool calls reach their tool. `after_tool` and `after_agent` need the
 * records.
 */
function createCallRecorder({ runs }: HookParts): AgentLifecycle {
  return {
    name: 'shell-hooks:calls',
    priority: REACH_PRIORITY,
    wrapToolCall: (call, next) => {
      const calls = hookRunOf(call.run)?.end.calls;
      if (calls) calls.ran ??= new Set();
      runs.of(call.run).recordReached({ id: call.id, name: call.name, args: call.input });
      return next(call);
    },
  };
}

function entryPoint(events: ReadonlySet<HookEvent>, parts: HookParts): NonNullable<AgentLifecycle['beforeAgent']> {
  const hasMoments = MOMENT_EVENTS.some((event) => events.has(event));
  return (prompt, run) => {
    if (hasMoments) watchMoments(run, events, parts);
    if (events.has('after_agent')) parts.runs.of(run).prompt = prompt;
    if (events.has('before_agent')) return beforeAgent(prompt, run, parts);
    if (!parts.pending.isEmpty) addPendingMessages(run, parts);
    return undefined;
  };
}

/** Runs the `after_tools` hooks if a turn has ended, and then the `before_model` hooks. */
function modelPoint(events: ReadonlySet<HookEvent>, parts: HookParts): NonNullable<AgentLifecycle['beforeModel']> {
  return async (messages, run) => {
    const state = parts.runs.of(run);
    state.texts = [];
    state.changes = [];
    state.mustCallTool = false;
    const calls = events.has('after_tools') ? state.takeTurn() : [];
    const rejection = calls.length > 0 ? await afterTools(calls, run, parts) : undefined;
    return rejection ?? (events.has('before_model') ? beforeModel(messages, run, parts) : undefined);
  };
}

/** Runs the `run_failed` hooks, unless the run was aborted. Their answers decide nothing. */
async function reportFailure(error: unknown, run: RunContext, parts: HookParts): Promise<void> {
  const message = describeError(error);
  if (!run.signal.aborted) {
    await parts.runner.runEvent({
      event: 'run_failed',
      ...idsOf(run),
      value: undefined,
      describe: () => ({ data: { error: message } }),
    });
  }
  await closeRun(run, parts);
}

function responsePoint(events: ReadonlySet<HookEvent>, parts: HookParts): NonNullable<AgentLifecycle['afterModel']> {
  return async (response, run) => {
    const judged = events.has('after_model') ? await afterModel(response, run, parts) : response;
    if ('type' in judged) return judged;
    recordCalls(judged, run, parts);
    const hooks = isFinal(judged) ? parts.runner.matching({ event: 'after_agent' }).filter(continues) : [];
    if (hooks.length > 0) {
      const text = textOf({ role: 'assistant', content: judged.content });
      const refused = await judgeAnswer({ text, hooks }, run, parts);
      if (refused !== undefined) return refused;
    }
    return judged === response ? undefined : { type: 'modify', response: judged };
  };
}

function recordCalls(response: ModelResponse, run: RunContext, parts: HookParts): void {
  const state = parts.runs.of(run);
  const message = { role: 'assistant', content: response.content } as const;
  parts.transcripts?.describe(response, run.model.id);
  state.recordCalls(toolCallsOf(message));
  state.response = { message, after: run.messages.length };
}

async function endPoint(text: string, run: RunContext, parts: HookParts): Promise<void> {
  const found = hasFinalAnswer(run) ? parts.runner.matching({ event: 'after_agent' }) : [];
  const hooks = found.filter((hook) => !continues(hook));
  try {
    if (hooks.length > 0) await afterAgent({ text, hooks }, run, parts);
  } finally {
    await closeRun(run, parts);
  }
}

/** Ends the hooks of a run. A run without a session removes its transcript before it ends. */
function closeRun(run: RunContext, { runs, transcripts }: HookParts): Awaitable<void> {
  runs.of(run).close();
  return run.session === undefined ? transcripts?.remove(run.id) : undefined;
}
