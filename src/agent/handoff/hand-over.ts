import { describeError } from '../../errors.js';
import { type HookRun, hookRunOf } from '../../lifecycle/hook-run/hook-run.js';
import { Pairing } from '../../lifecycle/hook-run/pairing.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { WaterfallCall } from '../../lifecycle/waterfall.js';
import { noInputPoint } from '../../lifecycle/waterfall-points.js';
import { checkMessages } from '../../model/check-messages.js';
import {
  type AssistantMessage,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
  toolCallsOf,
} from '../../model/message.js';
import type { ToolContext, ToolResult } from '../../tools/tool.js';
import type { AgentEvent } from '../agent-event.js';
import type { AgentListeners, RunListeners } from '../listeners.js';
import { instruct } from '../run/instructions.js';
import { pathInside } from '../run/outer-call.js';
import type { Run } from '../run/run.js';
import { ownerOf, type RunConfig, type RunEngine } from '../run/run-config.js';
import type { ToolCalls } from '../run/turn/tool-calls.js';
import { HandoffUnavailableError } from './handoff-error.js';
import { agentsFrom, targetOf, warnOfStranger } from './reach.js';

const CLOSED = 'the agent is closed';
/** The hook with which a lifecycle such as `limits` counts the model calls of its own agent. */
const COUNTER = 'wrapModelCall';
const OWNER_DURABLE = 'a durable run cannot be handed over';

/**
 * Accepts a handoff call, so that the run is handed over after this turn. Throws a HandoffUnavailableError if the agent
 * cannot continue, or if the turn already has a handoff.
 */
export function admit(agent: RunEngine, { run: view, callId, toolName }: ToolContext): void {
  const run = hookRunOf(view) as Run;
  const refuse = (problem: string) => {
    throw new HandoffUnavailableError(agent.name, problem);
  };
  const calls = run.end.calls as ToolCalls;
  const first =
    calls.handover ?? calls.parts.find((part) => isDone(run.config, part, calls.prior.results.get(part.id)))?.id;
  if (isDurable(run.config)) refuse(OWNER_DURABLE);
  if (agent === run.config.engine) refuse('the agent has the conversation already');
  if (agent !== ownerOf(run).engine && !agent.life.isOpen) refuse(CLOSED);
  if (isDurable(partOf(run, agent))) refuse('the runs of the agent are durable');
  if (agentNamed(run, agent.name) !== agent) refuse('another agent of the conversation has the same name');
  if (calls.parts.find(({ id }) => id === callId)?.name !== toolName) refuse('a hook changed the name of the tool');
  if (first !== undefined && first !== callId && resultOf(calls, first)?.isError !== true)
    refuse('another call of this turn has handed the conversation over');
  calls.handover = callId;
}

function resultOf({ parts, results }: ToolCalls, call: string): ToolResultPart | undefined {
  return results[parts.findIndex(({ id }) => id === call)];
}

/** Continues the run with another agent, if a call of the finished turn was a successful handoff. */
export async function handOver(run: Run, { parts, results }: ToolCalls): Promise<void> {
  const call = parts.find((part, index) => isDone(run.config, part, results[index]));
  const agent = call && targetIn(run.config, call);
  if (agent === undefined || agent === run.config.engine || isDurable(run.config)) return;
  run.end.stopper();
  await run.end.race(readyIn(run, agent));
  run.end.throwIfAborted();
  const from = run.config.agent;
  await leave(run);
  beginPart(run, partOf(run, agent));
  const { listeners, context, config } = run;
  if (listeners.active)
    listeners.emit({ type: 'handoff', runId: context.id, turn: context.turn, from, to: config.agent });
  await enter(run);
}

/** True for a handoff call with a result that is not an error. */
function isDone(config: RunConfig, call: ToolCallPart, result: ToolResult | undefined): boolean {
  return result !== undefined && result.isError !== true && targetIn(config, call) !== undefined;
}

function targetIn({ catalog }: RunConfig, { name }: ToolCallPart): RunEngine | undefined {
  return targetOf(catalog.current().find(name));
}

function agentNamed(run: Run, name: string): RunEngine | undefined {
  return agentsFrom(ownerOf(run).engine, (agent) => partOf(run, agent)).find((agent) => agent.name === name);
}

/** Returns the configuration of an agent in a run. The limits of the run apply to each of its agents. */
function partOf(run: Run, engine: RunEngine): RunConfig {
  const owner = ownerOf(run);
  if (engine === owner.engine) return owner;
  const own = engine.configFor(run.origin, run.attached);
  const { maxTurns, totalTurns, atLimit, output, timeouts } = owner;
  return { ...own, maxTurns, totalTurns, atLimit, output, timeouts: { ...own.timeouts, runMs: timeouts.runMs } };
}

/**
 * Waits for the loaders of the agent. Throws a HandoffUnavailableError if the agent is closed.
 *
 * The agent that started the run is accepted even while it is closing, because closing waits for this run.
 */
async function readyIn(run: Run, agent: RunEngine): Promise<void> {
  if (agent === ownerOf(run).engine) return;
  if (!agent.life.isOpen) throw new HandoffUnavailableError(agent.name, CLOSED);
  await agent.ready().catch((cause) => {
    throw new HandoffUnavailableError(agent.name, describeError(cause), cause);
  });
}

/**
 * Calls the `afterAgent` hooks of the agent that hands over, and ignores the text that they return. Then removes the
 * run callbacks that its lifecycles have set.
 */
async function leave(run: Run): Promise<void> {
  const { afterAgent } = run.config.chain;
  if (afterAgent !== undefined) {
    run.end.closing = true;
    await new WaterfallCall(afterAgent, '', run).run(() => {});
    run.end.closing = false;
  }
  (run as HookRun).onEnd?.({ status: 'completed', text: '' });
  Object.assign(run, { onEnd: undefined, onDecision: undefined, onReport: undefined, onMoment: undefined });
}

/** Calls the `beforeAgent` hooks of the next agent with the text of the last user message. */
async function enter(run: Run): Promise<void> {
  const { end, pairing, conversation } = run;
  const { beforeAgent } = run.config.chain;
  if (beforeAgent !== undefined) {
    const asked = conversation.history.findLast(({ role }) => role === 'user');
    const waterfall = { point: noInputPoint, entries: beforeAgent.entries };
    await new WaterfallCall(waterfall, asked === undefined ? '' : textOf(asked), run).run(() => {});
  }
  end.throwIfAborted();
  if (end.verdict === undefined) pairing.enterAll();
  conversation.addQueued();
}

/**
 * Returns the configuration of the agent that continues these messages: the agent of the last assistant message, or the
 * agent that this message handed over to.
 *
 * Returns undefined if it is the agent whose `run` was called. Waits for the loaders of the other agent.
 */
export async function partIn(run: Run, messages: readonly unknown[] | undefined): Promise<RunConfig | undefined> {
  const agent = agentIn(run, messages as readonly Message[]);
  if (agent === run.config.engine) return undefined;
  if (isDurable(run.config)) throw new HandoffUnavailableError(agent.name, OWNER_DURABLE);
  await readyIn(run, agent);
  return partOf(run, agent);
}

function agentIn(run: Run, messages: readonly Message[]): RunEngine {
  const { config: owner, attached } = run;
  const open = checkMessages(messages, attached.closed);
  const at = open?.index ?? messages.findLastIndex(({ role }) => role === 'assistant');
  const last = messages[at] as AssistantMessage;
  const speaker = last.agent === undefined ? owner.engine : agentNamed(run, last.agent);
  if (speaker === undefined) {
    warnOfStranger(owner, String(last.agent));
    return owner.engine;
  }
  // The agent that made the open calls has to run them.
  if (open !== undefined) return speaker;
  const config = partOf(run, speaker);
  const next = messages[at + 1];
  const results = next?.role === 'tool' ? next.content : [];
  const done = toolCallsOf(last).find((call) =>
    isDone(
      config,
      call,
      results.find(({ id }) => id === call.id),
    ),
  );
  return (done && targetIn(config, done)) ?? speaker;
}

/** Makes an agent the current agent of a run. */
export function beginPart(run: Run, config: RunConfig): void {
  const { conversation, attached, context } = run;
  const owner = ownerOf(run);
  run.config.part?.end();
  const isOwner = config.engine === owner.engine;
  const { budgets = [] } = run as HookRun;
  const earlier = budgets.filter(({ counter }) => counter !== undefined && !isInForce(config, counter));
  run.config = { ...config, part: { owner, budgets: earlier, end: isOwner ? () => {} : join(run, config) } };
  run.pairing = new Pairing();
  if (run.turn !== undefined) run.turn.tools = undefined;
  const { agent, model, logger, ids, clock } = config;
  const instructions = typeof config.instructions === 'string' ? config.instructions : undefined;
  Object.assign(context, { agent, model, instructions, logger, ids, clock });
  Object.assign(conversation, { agent: isOwner ? undefined : agent, instructions });
  conversation.replace(conversation.history);
  instruct(run);
  if (attached.recorder !== undefined) attached.recorder.start.agent = agent;
}

function isInForce({ chain }: RunConfig, counter: unknown): boolean {
  return chain.entries.some(({ lifecycle }) => lifecycle[COUNTER] === counter);
}

/**
 * Counts the run as a run of this agent: the listeners of the agent get its events, and closing the agent aborts it.
 * Returns a function that ends both.
 */
function join(run: Run, { life, hub }: RunConfig): () => void {
  const { listeners } = run;
  life.runs += 1;
  const unfollow = life.stop.onStop(() => run.end.abort(new RunAbortedError(life.stop.reason)));
  run.listeners = new PartListeners(run, listeners, hub);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    run.listeners = listeners;
    unfollow();
    life.endRun();
  };
}

/** Sends the events of a run to the run's own listeners, and to the listeners of the current agent. */
class PartListeners implements RunListeners {
  readonly nested: RunListeners['nested'];

  constructor(
    private readonly run: Run,
    private readonly own: RunListeners,
    private readonly hub: AgentListeners,
  ) {
    this.nested = own.nested;
  }

  get active(): boolean {
    return this.own.active || this.hub.active;
  }

  get watch(): RunListeners['watch'] {
    return this.own.watch;
  }

  hears(type: AgentEvent['type']): boolean {
    return this.own.hears(type) || this.hub.hears(type);
  }

  emit(event: AgentEvent): void {
    const path = pathInside(this.run.origin.parent);
    this.own.emit(event);
    this.hub.emit(path === undefined ? event : { ...event, path });
  }
}

function isDurable({ chain }: RunConfig): boolean {
  return chain.durable !== undefined;
}
