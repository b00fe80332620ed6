import { MAX_TIMER_MS } from '../../internal/clock.js';
import type { Awaitable } from '../../internal/promise.js';
import type { HookAction } from '../../lifecycle/hook-action.js';
import { hookRunOf } from '../../lifecycle/hook-run/hook-run.js';
import { tellMoment } from '../../lifecycle/hook-run/moments.js';
import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { textOf, toolCallsOf } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import { dialectOf } from '../dialects/list.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEvent } from '../hook/event.js';
import { receivedArgs } from '../run/received-args.js';
import { addPendingMessages, afterAgent, beforeAgent, type JudgedAnswer, judgeAnswer } from './agent-hooks.js';
import { afterModel, beforeModel, beforeToolSelection, callModel } from './model-hooks.js';
import { createSubagentGate, watchMoments } from './moment-hooks.js';
import type { HookParts } from './parts.js';
import { isFinal } from './rewrites.js';
import { endSession, startSession } from './session-hooks.js';
import { afterTool, beforeTool } from './tool-hooks.js';

/** Low, so that hooks judge the values that other lifecycles have already rewritten. */
const GATE_PRIORITY = 10;
/** High, so that `after_tool` hooks see results after redaction. */
const RESULT_PRIORITY = 95;
/** Lowest, so that calls that another lifecycle refuses are not recorded. */
const REACH_PRIORITY = 0;

/** Returns true if the agent continues after the hook refuses an answer. Otherwise the answer is withheld. */
const continues = ({ dialect }: ShellHook) => dialectOf(dialect).refusedAnswer === 'continued';

/**
 * Creates the lifecycle for the events of a run, except `after_tool`. It defines only the lifecycle hooks that the events need.
 */
export function createGates(events: ReadonlySet<HookEvent>, parts: HookParts): AgentLifecycle {
  const when = <Point>(needed: boolean, point: Point) => (needed ? point : undefined);
  const has = (...some: HookEvent[]) => some.some((event) => events.has(event));
  return {
    name: 'shell-hooks',
    priority: GATE_PRIORITY,
    // The stream waits, because a hook may still replace the response.
    holdStream: has('after_model'),
    beforeAgent: entryPoint(events, parts),
    beforeModel: when(has('before_model', 'before_tool_selection'), modelPoint(events, parts)),
    beforeToolSelection: when(has('before_tool_selection'), (tools, run) => beforeToolSelection(tools, run, parts)),
    wrapModelCall: when(has('before_model', 'before_tool_selection'), (request, next) =>
      callModel(request, next, parts),
    ),
    afterModel: when(
      has('after_model', 'after_agent') || parts.transcripts !== undefined,
      responsePoint(events, parts),
    ),
    wrapToolCall: when(has('before_tool'), callPoint(parts)),
    afterAgent: (text, run) => endPoint(text, run, parts),
    onError: (_error, run) => closeRun(run, parts),
  };
}

/**
 * Creates the lifecycle for `session_start` and `session_end`. It also makes `agent.close()` wait for `notification`
 * hooks that have started. Returns undefined without hooks of these events.
 */
export function createSessionHooks(events: ReadonlySet<HookEvent>, parts: HookParts): AgentLifecycle | undefined {
  const [starts, ends, notifies] = [events.has('session_start'), events.has('session_end'), events.has('notification')];
  if (!starts && !ends && !notifies) return undefined;
  return {
    name: 'shell-hooks:session',
    priority: GATE_PRIORITY,
    // Each shell hook has its own time limit.
    timeoutMs: MAX_TIMER_MS,
    onSessionStart: starts ? (session) => startSession(session, parts) : undefined,
    onSessionEnd: ends ? (session) => endSession(session, parts) : undefined,
    onShutdown: notifies ? async () => void (await Promise.allSettled(parts.notices)) : undefined,
  };
}

/**
 * Creates the lifecycle that records which tool calls reach their tool. `after_tool` and `after_agent` need the
 * records.
 */
export function createCallRecorder({ runs }: HookParts): AgentLifecycle {
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

/** Creates the lifecycle for `after_subagent`. Undefined without such hooks. */
export function createSubagentHooks(events: ReadonlySet<HookEvent>, parts: HookParts): AgentLifecycle | undefined {
  return events.has('after_subagent') ? createSubagentGate(parts, RESULT_PRIORITY) : undefined;
}

/** Creates the lifecycle for `after_tool`. */
export function createResultGate(parts: HookParts): AgentLifecycle {
  return {
    name: 'shell-hooks:after_tool',
    priority: RESULT_PRIORITY,
    wrapToolCall: (call, next) => afterTool(call, next, parts),
  };
}

function entryPoint(events: ReadonlySet<HookEvent>, parts: HookParts): NonNullable<AgentLifecycle['beforeAgent']> {
  return (prompt, run) => {
    watchMoments(run, events, parts);
    if (events.has('after_agent')) parts.runs.of(run).prompt = prompt;
    if (events.has('before_agent')) return beforeAgent(prompt, run, parts);
    if (!parts.notes.isEmpty) addPendingMessages(run, parts);
    return undefined;
  };
}

function modelPoint(events: ReadonlySet<HookEvent>, parts: HookParts): NonNullable<AgentLifecycle['beforeModel']> {
  return (messages, run) => {
    parts.runs.of(run).clearRequest();
    return events.has('before_model') ? beforeModel(messages, run, parts) : undefined;
  };
}

function responsePoint(events: ReadonlySet<HookEvent>, parts: HookParts): NonNullable<AgentLifecycle['afterModel']> {
  return (response, run) => {
    const stops = parts.runner.matching({ event: 'after_agent' }).filter(continues);
    if (events.has('after_model') || stops.length > 0) return judgeResponse({ response, run, stops }, parts);
    return recordCalls(response, run, parts);
  };
}

interface Judged {
  readonly response: ModelResponse;
  readonly run: RunContext;
  /** Hooks that can make the agent continue after its answer. */
  readonly stops: readonly ShellHook[];
}

async function judgeResponse({ response, run, stops }: Judged, parts: HookParts): Promise<HookAction | undefined> {
  const judged = await afterModel(response, run, parts);
  if ('type' in judged) return judged;
  recordCalls(judged, run, parts);
  if (stops.length > 0 && isFinal(judged)) {
    const text = textOf({ role: 'assistant', content: judged.content });
    const refused = await judgeAnswer({ text, hooks: stops }, run, parts);
    if (refused !== undefined) return refused;
  }
  return judged === response ? undefined : { type: 'modify', response: judged };
}

function recordCalls(response: ModelResponse, run: RunContext, parts: HookParts): void {
  const notes = parts.runs.of(run);
  const message = { role: 'assistant', content: response.content } as const;
  parts.transcripts?.describe(response, run.model.id);
  notes.recordCalls(toolCallsOf(message));
  notes.response = { message, after: run.messages.length };
}

function callPoint(parts: HookParts): NonNullable<AgentLifecycle['wrapToolCall']> {
  return (call, next) => {
    const args = receivedArgs(call.tool, call.input);
    const hooks = parts.runner.matching({ event: 'before_tool', tool: call.name, args });
    if (hooks.length === 0) return next(call);
    return beforeTool(call, hooks, parts).then((judged) => {
      if ('run' in judged) return next(judged);
      if ('type' in judged) void tellMoment(call.run, { kind: 'approval', tool: call.name, reason: judged.reason });
      return judged;
    });
  };
}

function endPoint(text: string, run: RunContext, parts: HookParts): Awaitable<void> {
  const hooks = parts.runner.matching({ event: 'after_agent' });
  const judges = hooks.length === 0 ? hooks : hooks.filter((hook) => !continues(hook));
  if (judges.length === 0) return closeRun(run, parts);
  return judgeEnd({ text, hooks: judges }, run, parts);
}

async function judgeEnd(answer: JudgedAnswer, run: RunContext, parts: HookParts): Promise<void> {
  try {
    await afterAgent(answer, run, parts);
  } finally {
    await closeRun(run, parts);
  }
}

/** Ends the hooks of a run. A run without a session removes its transcript before it ends. */
function closeRun(run: RunContext, { runs, transcripts }: HookParts): Awaitable<void> {
  runs.closeOf(run);
  return run.session === undefined ? transcripts?.remove(run.id) : undefined;
}
