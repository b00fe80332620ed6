import { AsyncLocalStorage } from 'node:async_hooks';
import type { Run } from '../../agent/run/run.js';
import type { RunEffects } from '../../agent/run/run-parts.js';
import type { Decision } from '../../lifecycle/decision.js';
import type { Message } from '../../model/message.js';
import type { Usage } from '../../model/model.js';
import { addUsage, type UsageSum } from '../../model/usage.js';
import type { RejectAction, RespondAction } from '../../tools/tool.js';

/** The effects of a step on its run, besides its result. A replay repeats them. */
export interface Effects {
  readonly usage?: Usage | undefined;
  readonly decisions?: readonly Decision[] | undefined;
  /** The messages that the step passed to `run.add`. */
  readonly added?: readonly Message[] | undefined;
  /** The action that the step passed to `run.end`. */
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

  /** Returns the usage of the run inside the step: the usage of all stored steps, and of the calls in this step. */
  usageOver(total: Usage): UsageSum {
    if (this.sum === undefined) {
      this.before = { ...total };
      this.sum = { ...total };
    }
    return this.sum;
  }

  /** Returns the effects so far. Returns undefined without effects. */
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
 * The step whose function is running. Calls and hooks inside a step are part of the step. Several steps of a run may be
 * open at once: see docs/decisions/0109-wraps-are-inside-of-steps.md.
 */
export const stepScope = new AsyncLocalStorage<StepScope>();

/** Records the effects of steps on a run. Called once, before the first step of the run. */
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
      // Returning a stored result is not a decision of the durable lifecycle.
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

/** Adds the usage of a step to its run. On a replay, also repeats the effects of the step on the run. */
export function applyEffects(run: Run, effects: Effects, isReplay: boolean): void {
  if (run.end.over) return;
  // The first attempt has already counted the tokens in the enclosing runs.
  if (!isReplay) return addUsage(run.usage, effects.usage);
  if (effects.usage !== undefined) run.spend(effects.usage);
  const { decisions = [], added = [], ended } = effects;
  for (const decision of decisions) if (decision.point !== 'end') run.record({ ...decision });
  for (const message of added) if (!run.end.closing) run.context.add(message);
  if (ended !== undefined && !run.end.closing) run.context.end(ended);
}

/**
 * Returns the effects without the arguments of `run.add` and `run.end`, because JSON may not be able to represent them.
 */
export function withoutArguments(effects: Effects | undefined): Effects {
  return { usage: effects?.usage, decisions: effects?.decisions };
}

/** Returns a copy of a decision without values that JSON cannot represent. These values are only for display. */
function shownAsJson(decision: Decision): Decision {
  try {
    return JSON.parse(JSON.stringify(decision));
  } catch {
    const { before: _before, after: _after, ...rest } = decision;
    return rest;
  }
}
