/**
 * The kinds of steps that a budget limits: a switch to another process that was not forced, and faults of the world. A crash
 * ends a process, a jump lets a claim run out, and the answer of a store can get lost, or arrive after other steps.
 */
export type Price = 'switch' | 'crash' | 'jump' | 'lost' | 'late';

/** The number of steps of each kind that a schedule may have. */
export type Budget = Readonly<Record<Price, number>>;

/** One thing that can happen next. */
export interface Step {
  /** Plain words for the trace. */
  readonly label: string;
  readonly prices: readonly Price[];
  act(): void;
}

/** An execution that a scheduler drives from its start, always in the same way. */
export interface Execution {
  /** The possible steps, those at least that the rest of the budget affords. The first one goes on with the last process. */
  steps(left: Budget): readonly Step[];
  /** Takes a step, and resolves when everything waits again. */
  take(step: Step): Promise<void>;
  /** Equal for two executions only if the same can follow. */
  key(): string;
  /** The first broken rule. */
  violation(): string | undefined;
  /** Called when no step is left. Returns the rule that this end breaks. */
  end(): string | undefined;
}

/** An execution with more steps counts as endless. */
const MOST_STEPS = 200;

/** The outcome of an exploration. */
export interface Exploration {
  /** The number of executions, and of steps beyond what an earlier one has taken. */
  readonly executions: number;
  readonly steps: number;
  readonly ends: number;
  readonly violation?: { readonly why: string; readonly trace: readonly string[] } | undefined;
}

/** A choice among the affordable steps, in the order of `steps`. */
interface Choice {
  index: number;
  readonly labels: readonly string[];
}

/**
 * Takes every sequence of steps within the budget: each execution replays a prefix of choices, takes another step, and then
 * the first steps to the end. A state from which an earlier execution had at least as much to spend is not entered again.
 */
export async function explore(start: () => Promise<Execution>, budget: Budget): Promise<Exploration> {
  const choices: Choice[] = [];
  const seen = new SeenStates();
  const count = { executions: 0, steps: 0, ends: 0 };
  do {
    count.executions += 1;
    const why = await execute(await start(), { choices, seen, budget, count });
    if (why !== undefined) {
      return { ...count, violation: { why, trace: choices.map(({ labels, index }) => labels[index] ?? '') } };
    }
  } while (advance(choices));
  return count;
}

interface Search {
  readonly choices: Choice[];
  readonly seen: SeenStates;
  readonly budget: Budget;
  readonly count: { steps: number; ends: number };
}

/** Replays the choices, and adds those of the way to the end. Returns the first broken rule. */
async function execute(execution: Execution, { choices, seen, budget, count }: Search): Promise<string | undefined> {
  const replayed = choices.length;
  let left = budget;
  for (let depth = 0; ; depth++) {
    const steps = execution.steps(left).filter(({ prices }) => isAffordable(left, prices));
    if (depth >= replayed) {
      if (depth > MOST_STEPS) return 'the processes go on without an end';
      const why = execution.violation() ?? (steps.length === 0 ? execution.end() : undefined);
      if (why !== undefined) return why;
      if (steps.length === 0) count.ends += 1;
      if (steps.length === 0 || seen.has(execution.key(), left)) return undefined;
      choices.push({ index: 0, labels: steps.map(({ label }) => label) });
      count.steps += 1;
    }
    const { index, labels } = choices[depth] as Choice;
    const step = steps[index] as Step;
    if (depth < replayed && step?.label !== labels[index]) {
      return `the replay offers "${step?.label}" in place of "${labels[index]}", so something outside of the check decides`;
    }
    left = spend(left, step.prices);
    await execution.take(step);
  }
}

/** Moves on to the next sequence of choices. Returns false after the last one. */
function advance(choices: Choice[]): boolean {
  for (let last = choices.at(-1); last !== undefined; last = choices.at(-1)) {
    last.index += 1;
    if (last.index < last.labels.length) return true;
    choices.pop();
  }
  return false;
}

/** States that were entered, with what was left to spend. */
class SeenStates {
  private readonly left = new Map<string, Budget[]>();

  /** True if the state was entered with at least this much. Otherwise remembers it. */
  has(key: string, left: Budget): boolean {
    const before = this.left.get(key) ?? [];
    if (before.some((one) => covers(one, left))) return true;
    this.left.set(key, [...before.filter((one) => !covers(left, one)), left]);
    return false;
  }
}

function covers(more: Budget, less: Budget): boolean {
  return (Object.keys(less) as Price[]).every((price) => more[price] >= less[price]);
}

function isAffordable(left: Budget, prices: readonly Price[]): boolean {
  return prices.every((price) => left[price] > 0);
}

function spend(left: Budget, prices: readonly Price[]): Budget {
  const rest = { ...left };
  for (const price of prices) rest[price] -= 1;
  return rest;
}
