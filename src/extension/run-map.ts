import { hookRunOf } from '../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../lifecycle/run-context.js';

/**
 * One value per run, kept as a property of the run. Entries of a WeakMap survive each collection of the young
 * generation, which takes longer than the run itself.
 */
export class RunMap<Value> {
  private readonly key = Symbol('keelson.runValue');
  /** For contexts that no agent has made. */
  private readonly others = new WeakMap<RunContext, Value>();

  get(run: RunContext): Value | undefined {
    const holder = this.holderOf(run);
    return holder === undefined ? this.others.get(run) : holder[this.key];
  }

  set(run: RunContext, value: Value): void {
    const holder = this.holderOf(run);
    if (holder === undefined) this.others.set(run, value);
    else holder[this.key] = value;
  }

  private holderOf(run: RunContext): Record<symbol, Value> | undefined {
    return hookRunOf(run) as Record<symbol, Value> | undefined;
  }
}
