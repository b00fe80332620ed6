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

/** The stored result of a model call, with facts that a replay needs for the rest of the turn. */
export interface StoredTurn {
  readonly response: ModelResponse;
  /** The names of the tools that the model was offered in this turn. */
  readonly tools?: readonly string[] | undefined;
  /** The hooks that are steps from this model call on. Set if the program has changed since the run began. */
  readonly hooks?: HookNames | undefined;
  /** The changes that hooks made to stored state before and after the call, by the name of their lifecycle. */
  readonly writes?: Readonly<Record<string, JsonValue>> | undefined;
}

/**
 * The steps of one run. If another version of the program began the run, its hooks stay steps until this version makes
 * a model call.
 */
export class RunSteps {
  /** The number of steps that have begun, by kind. */
  private readonly counts = new Map<string, number>();
  /** The hooks of the agent, without any steps. */
  private readonly chain: Chain;
  /** The names of the hooks that are steps at present. */
  private hooks: HookNames = [];

  constructor(
    readonly run: Run,
    private readonly steps: Steps,
    /** The names of the hooks that are steps in this version of the program. */
    readonly own: HookNames,
  ) {
    this.chain = run.config.chain;
  }

  /** Returns the number of the next step of this kind, counted from 1. */
  next(kind: string): number {
    const number = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, number);
    return number;
  }

  /** Makes exactly these hooks steps. All other hooks run without a step. */
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

  /** Stores the tool list of each turn in a step, as older versions of this library did. */
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

  /** Takes over the stored result of a model call, and returns the model's response. */
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

  /** Returns the changes that hooks have made to stored state since the last step, by the name of their lifecycle. */
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
