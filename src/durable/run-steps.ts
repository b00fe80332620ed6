import type { Run } from '../agent/run/run.js';
import type { Chain } from '../lifecycle/chain.js';
import { isAside } from '../lifecycle/hook-run/hook-run.js';
import type { ModelCallRequest } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { ModelResponse } from '../model/model.js';
import type { Tool } from '../tools/tool.js';
import { type HookNames, withFirst, withHookSteps } from './hook-chain.js';
import { hookStep, type StepHook } from './hook-steps.js';
import type { Steps } from './record/steps.js';
import { storedTools, toolsOfTurn } from './tool-list.js';

/** The result of a model step. */
export interface StoredTurn {
  readonly response: ModelResponse;
  /** The names of the tools of the turn. */
  readonly tools?: readonly string[] | undefined;
  /** The hooks that are steps from here on, if they are others than before. */
  readonly hooks?: HookNames | undefined;
}

/** The steps of one run. They are those of the version that stored them, until a model call runs in this version. */
export class RunSteps {
  /** The number of steps of each kind that have begun. */
  private readonly counts = new Map<string, number>();
  /** The hooks of this version. */
  private readonly chain: Chain;
  /** The hooks that are steps. */
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

  /** Makes exactly these hooks steps. */
  useHooks(hooks: HookNames): void {
    const { run, chain } = this;
    this.hooks = hooks;
    const asStep = (hook: StepHook, lifecycle: string, call: (value: unknown, run: RunContext) => unknown) => {
      const kind = `hook ${lifecycle}.${hook}`;
      return (value: unknown, context: RunContext) =>
        hookStep(this.steps, { hook, step: `${kind} ${this.next(kind)}`, run, value }, () => call(value, context));
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

  /** Returns what the step of a model call stores. */
  stored(request: ModelCallRequest, response: ModelResponse): StoredTurn {
    if (isAside(request)) return { response };
    const { own, run } = this;
    const tools = run.turn?.tools?.tools.map(({ name }) => name);
    return isSame(own, this.hooks) ? { response, tools } : { response, tools, hooks: own };
  }

  /** Takes over what the step of a model call has stored. Returns the response. */
  restore({ response, tools, hooks }: StoredTurn): ModelResponse {
    const { turn } = this.run;
    if (tools !== undefined && turn !== undefined) turn.tools = toolsOfTurn(this.run, tools);
    if (hooks !== undefined) this.useHooks(hooks);
    return response;
  }
}

function isSame(one: HookNames, other: HookNames): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}
