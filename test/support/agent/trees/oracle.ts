import { callerOf, depthOf, type Plan, type PlannedAgent, type PlannedCall } from './plan.js';

/** Decisions on a call or an answer. */
export type Told = 'approve' | 'edit' | 'deny' | 'result';

/** The ids that wait, and the calls whose tool has run, by their labels. */
interface Seen {
  readonly waiting: string[];
  readonly ran: string[];
}

/** Says what must have happened, from the plan and the decisions. */
export class Oracle {
  private decided = new Map<string, Told>();
  /** The calls that were denied while an agent inside waited. */
  private readonly givenUp = new Set<string>();

  constructor(private readonly plan: Plan) {}

  decide(label: string, told: Told): void {
    // A call that asks again when it is repeated keeps the arguments that it had.
    if (told === 'approve') this.repeat(label);
    else this.decided.set(label, told);
  }

  /** Approves a call that runs again, with the arguments that it had. */
  repeat(label: string): void {
    this.decided.set(label, this.told(label) ?? 'approve');
  }

  giveUp(label: string): void {
    this.givenUp.add(label);
  }

  /** Goes back to the decisions on record, because a process has stopped. */
  restore(decided: ReadonlyMap<string, Told>): void {
    this.decided = new Map(decided);
    this.givenUp.clear();
  }

  told(label: string): Told | undefined {
    return this.decided.get(label);
  }

  /** True if the call, or one that leads to it, was denied. */
  isDenied(label: string): boolean {
    for (let depth = 1; depth <= depthOf(label); depth++) {
      const call = callerOf(label, depth);
      if (this.told(call) === 'deny' || this.givenUp.has(call)) return true;
    }
    return false;
  }

  get now(): Seen {
    const seen: Seen = { waiting: [], ran: [] };
    this.follow(this.plan.root, 'r', seen);
    return { waiting: seen.waiting.sort(), ran: seen.ran.sort() };
  }

  private follow(agent: PlannedAgent, label: string, seen: Seen): void {
    const before = seen.waiting.length;
    for (const [turn, { calls, isHeld }] of agent.turns.entries()) {
      for (const [index, call] of calls.entries()) {
        this.followCall(call, { label: `${label}.${turn}.${index}`, isHeld }, seen);
      }
      if (seen.waiting.length > before) return;
    }
    const answer = answerOf(label);
    if (agent.isAnswerHeld && this.told(answer) === undefined) seen.waiting.push(answer);
  }

  private followCall({ kind, agent }: PlannedCall, { label, isHeld }: { label: string; isHeld: boolean }, seen: Seen) {
    const told = this.told(label);
    if (told === 'deny') return;
    if ((isHeld || kind === 'ask' || kind === 'caller') && told === undefined) seen.waiting.push(label);
    else if (agent !== undefined) this.follow(agent, label, this.givenUp.has(label) ? { ...seen, waiting: [] } : seen);
    else if (kind !== 'caller') seen.ran.push(label);
  }
}

/** The label of the answer of an agent. */
export function answerOf(label: string): string {
  return `${label} answer`;
}
