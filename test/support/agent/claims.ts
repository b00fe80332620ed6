import {
  Agent,
  type AgentLifecycle,
  defineLifecycle,
  defineTool,
  HookAction,
  type Message,
  type Model,
  type PendingAnswer,
  type PendingCall,
  type RunContext,
  type RunResult,
  type Session,
  type Tool,
  type ToolCallNext,
  type ToolCallRequest,
  type ToolContext,
  type ToolRun,
} from 'keelson';
import { approval } from 'keelson/lifecycles';
import { z } from 'zod';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const claim = <_Claim extends true>(): void => {};
const use = (..._values: readonly unknown[]): void => {};

interface Caller {
  readonly user: string;
}
interface Account {
  readonly account: number;
}
const S = z.object({ n: z.number() });
type Value = { n: number };

/** With an optional output schema, the output is its value or the text. */
export async function optionalOutput(agent: Agent, session: Session, cond: boolean): Promise<void> {
  const maybe = { output: cond ? S : undefined };
  const spread = { ...(cond ? { output: S } : {}) };
  const typed: { output?: typeof S } = {};
  const runs = [agent.run, session.run] as const;
  use(runs);
  const sure = await agent.run('x', { output: S });
  if (sure.status === 'completed') claim<Same<typeof sure.output, Value>>();
  const a = await agent.run('x', maybe);
  if (a.status === 'completed') claim<Same<typeof a.output, Value | string>>();
  const b = await agent.run('x', cond ? { output: S } : {});
  if (b.status === 'completed') claim<Same<typeof b.output, Value | string>>();
  const c = await agent.run('x', spread);
  if (c.status === 'completed') claim<Same<typeof c.output, Value | string>>();
  const d = await agent.run('x', typed);
  if (d.status === 'completed') claim<Same<typeof d.output, Value | string>>();
  const e = await session.run('x', { output: cond ? S : undefined });
  if (e.status === 'completed') claim<Same<typeof e.output, Value | string>>();
  const f = await agent.stream('x', typed).result;
  if (f.status === 'completed') claim<Same<typeof f.output, Value | string>>();
  const g = await session.stream('x', spread).result;
  if (g.status === 'completed') claim<Same<typeof g.output, Value | string>>();
  const plain = await agent.run('x', { maxTurns: 2 });
  if (plain.status === 'completed') claim<Same<typeof plain.output, string>>();
}
export async function generic<T>(agent: Agent, schema?: z.ZodType<T>): Promise<T | string | undefined> {
  const result = await agent.run('x', { output: schema });
  return result.output;
}
export async function genericSure<T>(agent: Agent, schema: z.ZodType<T>): Promise<T | undefined> {
  const result = await agent.run('x', { output: schema });
  return result.output;
}

export function results(result: RunResult<Value>): void {
  if (result.status === 'suspended') {
    claim<Same<typeof result.output, undefined>>();
    claim<Same<typeof result.pending, readonly (PendingCall | PendingAnswer)[]>>();
  } else {
    claim<Same<typeof result.pending, readonly []>>();
    claim<Same<typeof result.output, Value>>();
  }
  // @ts-expect-error A suspended run has no output.
  const value: Value = result.output;
  use(value);
}

export function contexts(model: Model, forCaller: Agent<Caller>): void {
  const whoami = defineTool({
    name: 'whoami',
    description: 'Names the caller.',
    input: z.object({}),
    execute: (_input, { context }: { context: Caller }) => context.user,
  });
  const typed = defineTool({
    name: 'typed',
    description: '',
    input: z.object({ a: z.string() }),
    execute: ({ a }, { context }: ToolContext<Caller>) => a + context.user,
  });
  use(new Agent<Caller>({ model, tools: [whoami, typed] }));
  const inferred: Agent<Caller> = new Agent({ model, tools: [whoami] });
  // @ts-expect-error The agent has no context.
  use(new Agent<unknown>({ model, tools: [whoami] }));
  // @ts-expect-error The agent has another context type.
  use(new Agent<Account>({ model, tools: [whoami] }));
  // @ts-expect-error
  use(new Agent<Account>({ model, tools: [forCaller.asTool({ description: '' })] }));
  // @ts-expect-error
  use(new Agent<unknown>({ model, tools: [forCaller.asTool({ description: '' })] }));
  use(new Agent<Caller>({ model, tools: [forCaller.asTool({ description: '' })] }), inferred);
  // @ts-expect-error The tools of the run have another context type.
  use(new Agent<Account>({ model }).run('x', { context: { account: 1 }, tools: [whoami] }));
  const a: AgentLifecycle<Caller> = {};
  const b: AgentLifecycle<Account> = {};
  const both = new Agent<Caller & Account>({ model, lifecycle: [a, b], tools: [whoami] });
  use(both);
}

export function toolRun(run: ToolRun, hook: RunContext): void {
  run.add({ role: 'user', content: 'x' });
  run.end({ type: 'respond', text: 'x' });
  use(run.session?.id);
  claim<Same<typeof hook.parent, ToolRun | undefined>>();
}

export async function noCasts(
  agent: Agent,
  pending: readonly PendingCall[],
  history: readonly Message[],
): Promise<void> {
  use(approval({ ask: async () => 'approve' }));
  use(approval({ ask: async (call) => (call.name === 'x' ? 'approve' : { deny: 'no' }) }));
  const resume = Object.fromEntries(pending.map(({ id }) => [id, 'approve']));
  use(agent.run('', { messages: history, resume }));
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
  ];
  use(agent.run('x', { messages }));
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  interface MySchema {
    type: 'object';
    properties: Record<string, { type: string }>;
  }
  const own: MySchema = { type: 'object', properties: {} };
  use(
    defineTool({ name: 'a', description: '', input: schema, execute: ({ city }: { city: string }) => city }),
    defineTool({ name: 'a', description: '', input: own, execute: () => '' }),
    defineTool({ name: 'a', description: '', input: { type: 'object', properties: {} } as const, execute: () => '' }),
    defineTool({ name: 'a', description: '', input: z.toJSONSchema(S), execute: () => '' }),
  );
}

export function whatCompilesRuns(): void {
  const base = { name: 'a', description: '' };
  // @ts-expect-error A string is not an object of arguments.
  use(defineTool({ ...base, input: z.string(), execute: () => '' }));
  // @ts-expect-error An array is not an object of arguments.
  use(defineTool({ ...base, input: z.array(z.string()), execute: () => '' }));
  // @ts-expect-error A map of schemas is not a schema.
  use(defineTool({ ...base, input: { city: z.string() }, execute: () => '' }));
  // @ts-expect-error
  use(defineTool({ ...base, input: z.object({}), execute: () => new Map([['a', 1]]) }));
  // @ts-expect-error
  use(defineTool({ ...base, input: z.object({}), execute: () => new Set([1]) }));
  // @ts-expect-error
  use(defineTool({ ...base, input: z.object({}), execute: () => () => 1 }));
  interface Row {
    readonly id: number;
    readonly tags: readonly string[];
  }
  const row: Row = { id: 1, tags: [] };
  use(
    defineTool({ ...base, input: z.object({}), execute: () => row }),
    defineTool({ ...base, input: z.object({}), execute: async () => [row] }),
    defineTool({ ...base, input: z.object({}), execute: () => new Date() }),
    defineTool({
      ...base,
      input: z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]),
      execute: () => '',
    }),
    defineTool({ ...base, input: z.any(), execute: () => '' }),
    defineTool({ ...base, input: z.record(z.string(), z.number()), execute: () => null }),
  );
}
export const tools: readonly Tool[] = [];

class Guard {
  onFailure = 'block';
  readonly seen: string[] = [];
  beforeModel(_messages: readonly Message[], run: RunContext) {
    return run.turn > 3 ? { type: 'reject', reason: 'That is enough.' } : undefined;
  }
  async wrapToolCall(call: ToolCallRequest, next: ToolCallNext) {
    this.seen.push(call.name);
    return call.name === 'erase' ? { type: 'suspend', reason: 'Ask first.' } : next(call);
  }
}
class ForCaller {
  onFailure = 'continue';
  beforeAgent(input: string, run: RunContext<Caller>) {
    return `${input} ${run.context.user}`;
  }
}

/** `defineLifecycle` keeps the type of a lifecycle, and a class needs no cast. */
export function lifecycles(model: Model, run: RunContext, forCaller: RunContext<Caller>): void {
  const literal = defineLifecycle({
    name: 'literal',
    onFailure: 'block',
    beforeAgent: (input, { agent }) => input + agent,
    beforeModel: (messages) => messages.slice(1),
    afterModel: (response) => (response.content.length > 0 ? HookAction.Continue : undefined),
  });
  claim<Same<ReturnType<typeof literal.beforeAgent>, string>>();
  claim<Same<ReturnType<typeof literal.beforeModel>, Message[]>>();
  use(literal.beforeAgent('x', run), literal.beforeModel([]));
  const ofCaller = defineLifecycle<Caller>({ beforeAgent: (input, { context }) => input + context.user });
  claim<Same<typeof ofCaller, AgentLifecycle<Caller>>>();
  use(ofCaller.beforeAgent?.('x', forCaller));
  const guard: AgentLifecycle = defineLifecycle(new Guard());
  const caller: AgentLifecycle<Caller> = defineLifecycle(new ForCaller());
  use(new Agent({ model, lifecycle: [guard, literal] }), new Agent<Caller>({ model, lifecycle: [caller, guard] }));
  // @ts-expect-error The class has another context type than the agent.
  use(new Agent<Account>({ model, lifecycle: [defineLifecycle(new ForCaller())] }));
  // @ts-expect-error A hook must be a function.
  use(defineLifecycle({ beforeModel: 'x' }));
}
