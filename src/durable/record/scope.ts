import { AsyncLocalStorage } from 'node:async_hooks';
import type { Run } from '../../agent/run/run.js';
import type { RunEffects } from '../../agent/run/run-parts.js';
import type { Decision } from '../../lifecycle/decision.js';
import type { Message } from '../../model/message.js';
import type { Usage } from '../../model/model.js';
import { addUsage, type UsageSum } from '../../model/usage.js';
import type { RejectAction, RespondAction } from '../../tools/tool.js';

/** The effects of a step on its run, apart from its result. A replay repeats them. */
export interface Effects {
  readonly usage?: Usage | undefined;
  readonly decisions?: readonly Decision[] | undefined;
  /** The arguments of `run.add`. */
  readonly added?: readonly Message[] | undefined;
  /** The argument of `run.end`. */
  readonly ended?: RejectAction | RespondAction | undefined;
}

/** One step while its function runs in this process. */
export class StepScope {
  /** The number of ids that the step has generated. */
  ids = 0;
  readonly decisions: Decision[] = [];
  readonly added: Message[] = [];
  ended: RejectAction | RespondAction | undefined = undefined;
  private sum: UsageSum | undefined = undefined;
  private before: Usage | undefined = undefined;

  /** `run` is undefined for a step outside a run, such as the load of a session. */
  constructor(
    readonly key: string,
    readonly run: Run | undefined,
  ) {}

  /** Returns the usage of the run as the step sees it: all stored steps, and the calls in this step. */
  usageOver(total: Usage): UsageSum {
    if (this.sum === undefined) {
      this.before = { ...total };
      this.sum = { ...total };
    }
    return this.sum;
  }

  /** Returns the effects so far, or undefined without effects. */
  effects(): Effects | undefined {
    const { decisions, added, ended } = this;
    const usage = this.spent();
    if (usage === undefined && decisions.length === 0 && added.length === 0 && ended === undefined) return undefined;
    return {
      ...(usage && { usage }),
      ...(decisions.length > 0 && { decisions: decisions.map(shownAsJson) }),
      ...(added.length > 0 && { added }),
      ...(ended && { ended }),
    };
  }

  private spent(): Usage | undefined {
    if (this.sum === undefined) return undefined;
    const spent = { ...this.sum } as Record<string, number>;
    for (const [name, count] of Object.entries(this.before as Usage)) spent[name] = (spent[name] ?? 0) - count;
    return Object.values(spent).some((count) => count > 0) ? (spent as unknown as Usage) : undefined;
  }
}

/**
 * The step whose function is running. Calls and hooks inside a step are part of that step. Several steps of a run are
 * open at the same time: see docs/decisions/0109-wraps-are-inside-of-steps.md.
 */
export const stepScope = new AsyncLocalStorage<StepScope>();

/** Records the effects of steps on this run. Called once, before any step of the run. */
export function recordEffects(
  run: Run,
  durableName: string,
  engine: Pick<RunEffects, 'checkEnd'> & { isOld(): boolean; hasEnded(): boolean },
): void {
  const scopeOf = () => {
    const scope = stepScope.getStore();
    return scope?.run === run ? scope : undefined;
  };
  run.effects = {
    checkEnd: (error) => engine.checkEnd(error),
    get isInStep() {
      return stepScope.getStore() !== undefined;
    },
    get hasEnded() {
      return engine.hasEnded();
    },
    get savesOnce() {
      return !engine.isOld();
    },
    usageOver: (total) => scopeOf()?.usageOver(total) ?? total,
    decided(decision) {
      // A stored result is not a decision of the durable lifecycle.
      if (decision.by === durableName && decision.point !== 'resume') return false;
      scopeOf()?.decisions.push(decision);
      return true;
    },
    added(message) {
      scopeOf()?.added.push(message);
    },
    ended(action) {
      const scope = scopeOf();
      if (scope !== undefined) scope.ended ??= action;
    },
  };
}

/** Adds the usage of a step to its run. On a replay, also repeats what the step did to the run. */
export function applyEffects(run: Run, effects: Effects, isReplay: boolean): void {
  if (run.end.over) return;
  // The first attempt has counted the tokens in the runs around this one.
  if (!isReplay) return addUsage(run.usage, effects.usage);
  if (effects.usage !== undefined) run.spend(effects.usage);
  const { decisions = [], added = [], ended } = effects;
  for (const decision of decisions) if (decision.point !== 'end') run.record({ ...decision });
  for (const message of added) if (!run.end.closing) run.context.add(message);
  if (ended !== undefined && !run.end.closing) run.context.end(ended);
}

/** Returns the effects without the arguments of `run.add` and `run.end`, which JSON may not be able to hold. */
export function withoutArguments(effects: Effects | undefined): Effects {
  return { usage: effects?.usage, decisions: effects?.decisions };
}

/** Returns a copy without values that JSON cannot hold. They only show a change to people. */
function shownAsJson(decision: Decision): Decision {
  try {
    return JSON.parse(JSON.stringify(decision));
  } catch {
    const { before: _before, after: _after, ...rest } = decision;
    return rest;
  }
}
