import {
  Agent,
  type AgentLifecycle,
  type AgentOptions,
  defineTool,
  HookAction,
  type Message,
  type Tool,
  type ToolContext,
  textOf,
  toolCallsOf,
} from 'keelson';
import { approval, limits } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';
import { keepingLogger } from '../silent-logger.js';
import { liftOf, type Plan, type PlannedAgent, type PlannedCall, TASK, visit } from './plan.js';
import type { Input, Stage } from './world.js';

/** The arguments of every call. */
export const args = z.object({ label: z.string(), note: z.string().optional() });

const NAMES = ['boss', 'desk', 'clerk'];

/** Makes the agents of a plan, as each process has them. Returns the outermost one. */
export function troupe(plan: Plan, stage: Stage, options: Partial<AgentOptions> = {}): Agent {
  const plans = new Map<string, PlannedAgent>([['r', plan.root]]);
  visit(plan.root, ({ agent }, label) => {
    if (agent !== undefined) plans.set(label, agent);
  });
  const lifecycle = [approval({ tools: ['ask'] }), holding(plans)];
  let inner: Agent | undefined;
  for (const [depth, name] of [...NAMES.entries()].reverse()) {
    const limited = plan.limit?.depth === depth ? limitOf(plan) : {};
    const own = limited.lifecycle ?? [];
    inner = new Agent({
      name,
      model: modelOf(plans, stage),
      tools: [...toolsOf(plan, stage), ...(inner === undefined ? [] : [asTool(inner)])],
      parallelToolCalls: plan.parallel,
      logger: keepingLogger(),
      ...options,
      ...limited,
      lifecycle: [...lifecycle, ...own],
    });
  }
  return inner as Agent;
}

function limitOf({ limit }: Plan): Pick<AgentOptions, 'lifecycle' | 'maxTurns'> {
  if (limit === undefined) return {};
  const { type, max } = limit;
  if (type === 'turns') return { maxTurns: { total: max } };
  return { lifecycle: [limits({ [type]: type === 'tokens' ? 15 * max : max })] };
}

function asTool(agent: Agent): Tool {
  return agent.asTool({ name: 'agent', description: 'Works.', input: args, toPrompt: ({ label }) => label });
}

function toolsOf(plan: Plan, stage: Stage): Tool[] {
  const planned = new Map<string, PlannedCall>();
  visit(plan.root, (call, label) => planned.set(label, call));
  const run = { description: 'Works.', input: args };
  const begin = async (input: Input, context: ToolContext) => {
    await stage.ran(input, context);
    await take(planned.get(input.label)?.ticks ?? 0);
  };
  const work = async (input: Input, context: ToolContext) => {
    await begin(input, context);
    return doneWith(input.label);
  };
  const fail = async (input: Input, context: ToolContext) => {
    await begin(input, context);
    throw new TypeError(`broken ${input.label}`);
  };
  const hang = async (input: Input, context: ToolContext) => {
    await begin(input, context);
    const path = [...(context.run.path ?? []), context.callId];
    const up = liftOf(planned.get(input.label)?.up ?? 0, input.label);
    const isCancelled = await stage.cancel(path.slice(0, path.length - up));
    return isCancelled ? new Promise<never>(() => {}) : 'nothing to cancel';
  };
  return [
    ...['work', 'ask'].map((name) => defineTool({ name, ...run, execute: work })),
    defineTool({ name: 'fail', ...run, execute: fail }),
    defineTool({ name: 'hang', ...run, execute: hang }),
    defineTool({ name: 'caller', ...run }),
  ];
}

async function take(ticks: number): Promise<void> {
  if (ticks === TASK) return new Promise((resolve) => setImmediate(resolve));
  for (let tick = 0; tick < ticks; tick++) await undefined;
}

/** Makes a model whose answers depend on the messages only, as in another process. */
function modelOf(plans: ReadonlyMap<string, PlannedAgent>, stage: Stage) {
  return scriptedModel(
    async ({ messages }) => {
      await stage.asked(messages);
      const label = labelOf(messages);
      const { turns } = plans.get(label) as PlannedAgent;
      const turn = turnsIn(messages);
      const [first, ...more] = (turns[turn]?.calls ?? []).map(({ id, kind }, index) => ({
        name: kind,
        id,
        input: { label: `${label}.${turn}.${index}` },
      }));
      return first === undefined ? says(answerText(label, isDenied(messages))) : calls(first, ...more);
    },
    { record: false },
  );
}

/** Suspends the responses and answers that the plan wants to be held. */
function holding(plans: ReadonlyMap<string, PlannedAgent>): AgentLifecycle {
  return {
    name: 'holding',
    afterModel({ content }, { messages }) {
      const { turns, isAnswerHeld } = plans.get(labelOf(messages)) as PlannedAgent;
      const isAnswer = content.every(({ type }) => type !== 'tool-call');
      const isHeld = isAnswer ? isAnswerHeld && !isDenied(messages) : turns[turnsIn(messages)]?.isHeld;
      return isHeld ? HookAction.suspend('Look at it first.') : undefined;
    },
  };
}

/** The label of the agent whose messages these are. */
export function labelOf(messages: readonly Message[]): string {
  return textOf(messages.find(({ role }) => role === 'user') as Message);
}

function isDenied(messages: readonly Message[]): boolean {
  return messages.some((message) => message.role === 'assistant' && message.denied);
}

function turnsIn(messages: readonly Message[]): number {
  return messages.filter((message) => toolCallsOf(message).length > 0).length;
}

export function doneWith(label: string): string {
  return `done ${label}`;
}

/** The answer of an agent, or the one after a denial. */
export function answerText(label: string, isSecond = false): string {
  return `${isSecond ? 'second ' : ''}answer of ${label}`;
}
