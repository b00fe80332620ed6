import { AsyncLocalStorage } from 'node:async_hooks';
import type { Run } from '../../agent/run/run.js';
import type { RunEffects } from '../../agent/run/run-parts.js';
import type { Decision } from '../../lifecycle/decision.js';
import type { Message } from '../../model/message.js';
import type { Usage } from '../../model/model.js';
import { addUsage, type UsageSum } from '../../model/usage.js';
import type { RejectAction, RespondAction } from '../../tools/tool.js';

/**
 * The changes that a step makes to its run in addition to its result. A replay makes the same changes without the step.
 */
export interface Effects {
  readonly usage?: Usage | undefined;
  readonly decisions?: readonly Decision[] | undefined;
  /** The messages that code inside the step passed to `run.add`. */
  readonly added?: readonly Message[] | undefined;
  /** The action that code inside the step passed to `run.end`. */
  readonly ended?: RejectAction | RespondAction | undefined;
}

/** Collects the changes that one step makes to its run while the step executes. */
export class StepScope {
  /** The number of ids that code inside the step has generated. */
  ids = 0;
  readonly decisions: Decision[] = [];
  readonly added: Message[] = [];
  ended: RejectAction | RespondAction | undefined = undefined;
  private sum: UsageSum | undefined = undefined;
  private before: Usage | undefined = undefined;

  /** `run` is undefined for a step outside a run, such as a step that loads a session. */
  constructor(
    readonly key: string,
    readonly run: Run | undefined,
  ) {}

  /**
   * Returns the usage that code inside this step sees and adds to. It starts from `total`, the usage of the run before
   * the step.
   */
  usageOver(total: Usage): UsageSum {
    if (this.sum === undefined) {
      this.before = { ...total };
      this.sum = { ...total };
    }
    return this.sum;
  }

  /** Returns the changes made so far. Returns undefined without any change. */
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
 * The step that is executing. Model calls, tool calls and hooks inside a step belong to it and are not steps
 * themselves.
 *
 * Several steps of a run may execute at once: see docs/decisions/0109-wraps-are-inside-of-steps.md.
 */
export const stepScope = new AsyncLocalStorage<StepScope>();

/** Makes a run record the changes that its steps make to it. Called once, before the first step of the run. */
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

/**
 * Adds the usage of a finished step to its run. On a replay, also repeats the other changes that the step made to the
 * run.
 */
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
 * Returns the changes without the arguments of `run.add` and `run.end`. Used if JSON cannot represent these arguments.
 */
export function withoutArguments(effects: Effects | undefined): Effects {
  return { usage: effects?.usage, decisions: effects?.decisions };
}

/** Returns a copy of a recorded decision. Leaves out values that JSON cannot represent; they only serve for display. */
function shownAsJson(decision: Decision): Decision {
  try {
    return JSON.parse(JSON.stringify(decision));
  } catch {
    const { before: _before, after: _after, ...rest } = decision;
    return rest;
  }
}
