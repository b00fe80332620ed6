/**
 * Claims about the types of lifecycles, which `npm run types` compiles. Each `@ts-expect-error` claims that the next line
 * does not compile.
 */
// covers: S4-FR1.1, S4-FR1.AC1, S4-FR1.AC3, S4-FR2.1, S4-FR2.AC, S4-TC3
import {
  Agent,
  type AgentLifecycle,
  type Awaitable,
  type EntryAction,
  HookAction,
  type Message,
  type Model,
  type ModelCallNext,
  type ModelCallRequest,
  type ModelResponse,
  type RunContext,
  type Session,
  type SuspendAction,
  type Tool,
  type ToolCallNext,
  type ToolCallRequest,
  type ToolResult,
} from 'keelson';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Hook<Name extends keyof AgentLifecycle<Tenant>> = Exclude<AgentLifecycle<Tenant>[Name], undefined>;
const claim = <_Claim extends true>(): void => {};

interface Tenant {
  readonly tenant: string;
}
interface Admin extends Tenant {
  readonly admin: true;
}
interface Account {
  readonly account: number;
}
type Six = 'beforeAgent' | 'beforeModel' | 'wrapModelCall' | 'afterModel' | 'wrapToolCall' | 'afterAgent';
type Further = 'beforeToolSelection' | 'onInit' | 'onSessionStart' | 'onError' | 'onSessionEnd' | 'onShutdown';
type Settings = 'name' | 'priority' | 'onFailure' | 'timeoutMs' | 'holdStream' | 'tools';

/** The members of a lifecycle, with their parameters and return types. */
export function members(): void {
  claim<Same<keyof AgentLifecycle, Six | Further | Settings>>();
  claim<Same<keyof Required<AgentLifecycle>, keyof AgentLifecycle>>();
  claim<
    Same<Hook<'beforeAgent'>, (input: string, run: RunContext<Tenant>) => Awaitable<string | EntryAction | void>>
  >();
  claim<
    Same<
      Hook<'beforeModel'>,
      (messages: Message[], run: RunContext<Tenant>) => Awaitable<readonly Message[] | EntryAction | void>
    >
  >();
  claim<
    Same<Hook<'wrapModelCall'>, (request: ModelCallRequest<Tenant>, next: ModelCallNext) => Awaitable<ModelResponse>>
  >();
  claim<Same<Hook<'afterModel'>, (response: ModelResponse, run: RunContext<Tenant>) => Awaitable<HookAction | void>>>();
  claim<
    Same<
      Hook<'wrapToolCall'>,
      (call: ToolCallRequest<Tenant>, next: ToolCallNext) => Awaitable<ToolResult | SuspendAction>
    >
  >();
  claim<Same<Hook<'afterAgent'>, (result: string, run: RunContext<Tenant>) => Awaitable<string | void>>>();
  // @ts-expect-error The member is unknown.
  const unknown: AgentLifecycle = { beforeEverything: () => {} };
  // @ts-expect-error A hook is a function.
  const text: AgentLifecycle = { beforeModel: 'x' };
  use(unknown, text);
}

/** The six hooks, any subset of them, and an empty object are lifecycles. */
export function subsets(): void {
  const six: Required<Pick<AgentLifecycle<Tenant>, Six>> = {
    beforeAgent: (input) => input,
    beforeModel: (messages) => messages,
    wrapModelCall: (request, next) => next(request),
    afterModel: () => HookAction.Continue,
    wrapToolCall: (call, next) => next(call),
    afterAgent: (result) => result,
  };
  /** A class whose members have the types that TypeScript infers. */
  class Guard {
    onFailure = 'block';
    beforeModel(messages: Message[]) {
      messages.push({ role: 'user', content: 'Be brief.' });
      return messages;
    }
  }
  class Typed extends Guard implements AgentLifecycle<Tenant> {}
  const classes: readonly AgentLifecycle<Tenant>[] = [new Guard(), new Typed()];
  use(classes);
  const lifecycles: readonly AgentLifecycle<Tenant>[] = [six, {}, { afterAgent: async () => {} }, { name: 'named' }];
  use(lifecycles);
}

/** The valid return values of a hook, plain and as a promise. */
export function returns(response: ModelResponse, tools: readonly Tool[]): void {
  const every: readonly HookAction[] = [
    ...[HookAction.Continue, HookAction.Approve, HookAction.reject('no'), HookAction.respond('yes')],
    ...[HookAction.suspend('ask'), HookAction.modify(response)],
  ];
  const judge: AgentLifecycle = { afterModel: () => every[0], beforeToolSelection: () => tools };
  const later: AgentLifecycle = {
    afterModel: async () => HookAction.modify(response),
    beforeAgent: async () => HookAction.respond('yes'),
    beforeModel: async () => HookAction.reject('no'),
    wrapToolCall: async () => HookAction.suspend('ask'),
  };
  // @ts-expect-error `modify` is invalid before the model call.
  const early: AgentLifecycle = { beforeModel: () => HookAction.modify(response) };
  // @ts-expect-error `suspend` is invalid before the model call.
  const open: AgentLifecycle = { beforeAgent: () => HookAction.suspend('ask') };
  // @ts-expect-error wrapToolCall returns a result or `suspend`.
  const reject: AgentLifecycle = { wrapToolCall: () => HookAction.reject('no') };
  // @ts-expect-error wrapModelCall returns a response.
  const none: AgentLifecycle = { wrapModelCall: () => {} };
  // @ts-expect-error afterAgent returns a string.
  const late: AgentLifecycle = { afterAgent: () => HookAction.Continue };
  // @ts-expect-error afterModel returns an action, not a response.
  const bare: AgentLifecycle = { afterModel: () => response };
  // @ts-expect-error `reject` requires a reason.
  const silent: HookAction = { type: 'reject' };
  use(judge, later, early, open, reject, none, late, bare, silent);
}

/** A switch over the type of an action is exhaustive. */
export function nameOf(action: HookAction): string {
  switch (action.type) {
    case 'continue':
    case 'approve':
      return action.type;
    case 'reject':
    case 'suspend':
      return action.reason;
    case 'respond':
      return action.text;
    case 'modify':
      return action.response.finishReason;
    default:
      return action satisfies never;
  }
}

class ForTenant implements AgentLifecycle<Tenant> {
  beforeModel(_messages: readonly Message[], run: RunContext<Tenant>): void {
    run.context.tenant.toUpperCase();
  }
}

/** The context type of a lifecycle must match that of the agent. A lifecycle without a context type fits every agent. */
export function contexts(model: Model): void {
  const anybody: AgentLifecycle = { beforeModel: (_messages, run) => run.logger.info(run.id) };
  const tenant: AgentLifecycle<Tenant> = {
    wrapToolCall: (call, next) => (call.run.context.tenant ? next(call) : next()),
  };
  const agent = new Agent<Tenant>({ model, lifecycle: [anybody, tenant, new ForTenant()] });
  agent.use(anybody);
  agent
    .withLifecycle(tenant)
    .withLifecycle(anybody)
    .on('run-end', () => {});
  // @ts-expect-error The lifecycle has another context type.
  const wrong = new Agent<Account>({ model, lifecycle: [tenant] });
  // @ts-expect-error The class has another context type.
  const wrongClass = new Agent<Account>({ model, lifecycle: [new ForTenant()] });
  // @ts-expect-error The agent has no context.
  const noContext = new Agent<unknown>({ model, lifecycle: [tenant] });
  const inferred: Agent<Tenant> = new Agent({ model, lifecycle: [tenant] });
  // @ts-expect-error The same for `use`.
  const used = new Agent<Account>({ model }).use(tenant);
  use(wrong, wrongClass, noContext, inferred, used);
}

/** A hook may read fewer members of the context than the agent has, but not more. */
export function narrower(tenant: AgentLifecycle<Tenant>, admin: AgentLifecycle<Admin>): void {
  fits<AgentLifecycle<Admin>>(tenant);
  // @ts-expect-error
  fits<AgentLifecycle<Tenant>>(admin);
  // @ts-expect-error
  fits<AgentLifecycle<Tenant>>({ beforeAgent: (_: string, _run: RunContext<Admin>) => {} });
  // @ts-expect-error
  fits<AgentLifecycle<Tenant>>({ beforeModel: (_: readonly Message[], _run: RunContext<Admin>) => {} });
  // @ts-expect-error
  fits<AgentLifecycle<Tenant>>({ beforeToolSelection: (_: readonly Tool[], _run: RunContext<Admin>) => {} });
  // @ts-expect-error
  fits<AgentLifecycle<Tenant>>({ wrapModelCall: (_: ModelCallRequest<Admin>, next: ModelCallNext) => next() });
  // @ts-expect-error
  fits<AgentLifecycle<Tenant>>({ afterModel: (_: ModelResponse, _run: RunContext<Admin>) => {} });
  // @ts-expect-error
  fits<AgentLifecycle<Tenant>>({ wrapToolCall: (_: ToolCallRequest<Admin>, next: ToolCallNext) => next() });
  // @ts-expect-error
  fits<AgentLifecycle<Tenant>>({ afterAgent: (_: string, _run: RunContext<Admin>) => {} });
  // @ts-expect-error
  fits<AgentLifecycle<Tenant>>({ onError: (_: unknown, _run: RunContext<Admin>) => {} });
}

/** The `context` option is required if the agent has a context type. */
export function runs(agent: Agent, forTenant: Agent<Tenant>): void {
  const context: Tenant = { tenant: 'acme' };
  use(
    agent.run('Hello'),
    agent.run('Hello', { maxTurns: 1 }),
    agent.run('Hello', { context: 7 }),
    agent.stream('Hello'),
  );
  use(forTenant.run('Hello', { context }), forTenant.stream('Hello', { context }));
  // @ts-expect-error
  use(forTenant.run('Hello'));
  // @ts-expect-error
  use(forTenant.run('Hello', { maxTurns: 1 }));
  // @ts-expect-error
  use(forTenant.run('Hello', { context: { tenant: 7 } }));
  // @ts-expect-error
  use(forTenant.stream('Hello'));
  use(agent.session().then((session) => session.run('Hello')));
  use(forTenant.session().then((session) => [session.run('Hello', { context }), session.stream('Hello', { context })]));
  // @ts-expect-error
  use(forTenant.session().then((session) => session.run('Hello')));
  // @ts-expect-error
  use(forTenant.session().then((session) => session.stream('Hello')));
}

/** `Agent<C>` is not assignable to `Agent`. An agent that needs fewer context members is assignable. */
export function assignments(agent: Agent, forTenant: Agent<Tenant>, forAdmin: Agent<Admin>): void {
  fits<Agent<Tenant>>(agent);
  fits<Agent<Admin>>(forTenant);
  fits<readonly Agent<never>[]>([agent, forTenant]);
  // @ts-expect-error The agent would run without its context.
  fits<Agent>(forTenant);
  // @ts-expect-error The agent would run without some members of its context.
  fits<Agent<Tenant>>(forAdmin);
}

/** The same rules hold for sessions. */
export function sessions(session: Session, forTenant: Session<Tenant>): void {
  fits<Session<Tenant>>(session);
  fits<readonly Session<never>[]>([session, forTenant]);
  // @ts-expect-error
  fits<Session>(forTenant);
}

/** The lifecycles of an agent are not part of its type. */
export function agents(first: Agent<Tenant>): Agent<Tenant> {
  claim<Same<typeof first, ReturnType<typeof first.withLifecycle>>>();
  // @ts-expect-error An agent has one type parameter, the context type.
  type Two = Agent<Tenant, AgentLifecycle>;
  const two: Two | undefined = undefined;
  use(two);
  return first.withLifecycle({ name: 'a' }).withLifecycle(new ForTenant());
}

function use(..._values: readonly unknown[]): void {}

function fits<T>(_value: T): void {}
