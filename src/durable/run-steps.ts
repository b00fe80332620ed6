import type { Run } from '../agent/run/run.js';
import type { JsonValue } from '../internal/json.js';
import type { Chain } from '../lifecycle/chain.js';
import { isAside } from '../lifecycle/hook-run/hook-run.js';
import type { ModelCallRequest } from '../lifecycle/lifecycle.js';
import type { RegisteredLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { ModelResponse } from '../model/model.js';
import type { Tool } from '../tools/tool.js';
import { type HookNames, stateOf, withFirst, withHookSteps } from './hook-chain.js';
import { hookStep, type StepHook } from './hook-steps.js';
import { nameOf } from './named-lifecycles.js';
import type { Steps } from './record/steps.js';
import { storedTools, toolsOfTurn } from './tool-list.js';

type HookFunction = (value: unknown, run: RunContext) => unknown;

/** The stored result of a model step. */
export interface StoredTurn {
  readonly response: ModelResponse;
  /** The names of the tools of the turn. */
  readonly tools?: readonly string[] | undefined;
  /** The hooks that are steps from this turn on, if they have changed. */
  readonly hooks?: HookNames | undefined;
  /** The state changes of the hooks around the call, by the name of their lifecycle. */
  readonly writes?: Readonly<Record<string, JsonValue>> | undefined;
}

/**
 * The steps of one run. A run that an older version began keeps the steps of that version until this version calls the
 * model.
 */
export class RunSteps {
  /** The number of steps of each kind that have begun. */
  private readonly counts = new Map<string, number>();
  /** The hooks of this version's program. */
  private readonly chain: Chain;
  /** The hooks that are steps now. */
  private hooks: HookNames = [];

  constructor(
    readonly run: Run,
    private readonly steps: Steps,
    /** The hooks that are steps in this version. */
    readonly own: HookNames,
  ) {
    this.chain = run.config.chain;
  }

  /** Counts a step. Returns its number. */
  next(kind: string): number {
    const number = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, number);
    return number;
  }

  /** Runs exactly these hooks as steps of the engine; all other hooks run without a step. */
  useHooks(hooks: HookNames): void {
    const { run, chain } = this;
    this.hooks = hooks;
    const asStep = (hook: StepHook, entry: RegisteredLifecycle, call: HookFunction): HookFunction => {
      const kind = `hook ${entry.name}.${hook}`;
      const state = stateOf(entry.lifecycle);
      return (value, context) => {
        const step = `${kind} ${this.next(kind)}`;
        return hookStep(this.steps, { hook, step, run, value, state }, () => call(value, context));
      };
    };
    run.config = { ...run.config, chain: withHookSteps(chain, hooks, asStep) };
  }

  /** Makes the tool list of each turn a step, as older versions of this library do. */
  storeTools(): void {
    const { run, steps } = this;
    const lifecycle = {
      beforeToolSelection: (tools: readonly Tool[]) => storedTools(steps, tools, { run, number: this.next('tools') }),
    };
    run.config = { ...run.config, chain: withFirst(run.config.chain, lifecycle) };
  }

  /** Returns the data that the step of a model call stores. */
  stored(request: ModelCallRequest, response: ModelResponse): StoredTurn {
    if (isAside(request)) return { response };
    const { own, run } = this;
    const tools = run.turn?.tools?.tools.map(({ name }) => name);
    const hooks = isSame(own, this.hooks) ? undefined : own;
    return { response, tools, hooks, writes: this.writes() };
  }

  /** Applies the stored result of a model call. Returns the response. */
  async restore({ response, tools, hooks, writes = {} }: StoredTurn, isReplay: boolean): Promise<ModelResponse> {
    const { turn, context } = this.run;
    for (const { lifecycle } of isReplay ? this.chain.entries : []) {
      const own = writes[nameOf(lifecycle) ?? ''];
      if (own !== undefined) await stateOf(lifecycle)?.restore(context, own);
    }
    if (tools !== undefined && turn !== undefined) turn.tools = toolsOfTurn(this.run, tools);
    if (hooks !== undefined) this.useHooks(hooks);
    return response;
  }

  /** Returns the state changes of hooks since the last step. */
  private writes(): Record<string, JsonValue> | undefined {
    const written = this.chain.entries.flatMap(({ lifecycle }) => {
      const writes = stateOf(lifecycle)?.take(this.run.context);
      return writes === undefined ? [] : [[nameOf(lifecycle) ?? '', writes]];
    });
    return written.length === 0 ? undefined : Object.fromEntries(written);
  }
}

function isSame(one: HookNames, other: HookNames): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}
