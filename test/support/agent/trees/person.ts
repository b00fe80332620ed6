import type { ResumeDecision } from 'keelson';
import { answerOf, type Oracle, type Told } from './oracle.js';
import { callerOf } from './plan.js';
import { answerText } from './troupe.js';

/** A call or an answer that waits. */
export interface Pending {
  readonly id: string;
  readonly type: 'tool-call' | 'answer';
  readonly path?: readonly string[] | undefined;
  readonly input?: unknown;
  readonly text?: string | undefined;
  readonly needs?: 'result' | undefined;
}

/** Numbers that decide, one after the other. */
export class Dice {
  private at = 0;

  constructor(private readonly rolls: readonly number[]) {}

  /** Returns a number from 0 to `sides` - 1. */
  roll(sides: number): number {
    const { rolls } = this;
    return (rolls[this.at++ % rolls.length] as number) % sides;
  }
}

/** A person who decides on calls. */
export class Person {
  constructor(
    readonly dice: Dice,
    private readonly oracle: Oracle,
  ) {}

  /** Decides on at least one of those that wait. */
  decide(pending: readonly Pending[]): Record<string, ResumeDecision> {
    const sure = this.dice.roll(pending.length);
    const decisions: Record<string, ResumeDecision> = {};
    const givenUp: string[] = [];
    for (const [index, one] of pending.entries()) {
      const { id, path = [] } = one;
      if (index !== sure && this.dice.roll(2) === 0) continue;
      if (givenUp.some((call) => id.startsWith(`${call}/`))) continue;
      const isTaken = (call: string) => Object.keys(decisions).some((key) => key.startsWith(`${call}/`));
      const outer = path.slice(0, 1 + this.dice.roll(Math.max(1, path.length)));
      if (path.length > 0 && this.dice.roll(8) === 7 && !isTaken(outer.join('/'))) {
        givenUp.push(outer.join('/'));
        decisions[outer.join('/')] = { deny: 'stop it' };
        this.oracle.giveUp(callerOf(labelOf(one), outer.length));
        continue;
      }
      decisions[id] = this.decideOn(one);
    }
    return decisions;
  }

  private decideOn(one: Pending): ResumeDecision {
    const label = labelOf(one);
    const [told, decision] = this.choose(one, label);
    this.oracle.decide(label, told);
    return decision;
  }

  private choose(one: Pending, label: string): readonly [Told, ResumeDecision] {
    const roll = this.dice.roll(6);
    if (roll === 0) return ['deny', 'deny'];
    if (roll === 1) return ['deny', { deny: 'not this' }];
    if (one.type === 'answer') return ['approve', 'approve'];
    if (one.needs === 'result') return ['result', { result: `given ${label}` }];
    return roll === 2 ? ['edit', { approve: { label, note: 'edited' } }] : ['approve', 'approve'];
  }
}

/** The label of the call or the answer that waits. */
export function labelOf({ input, text = '' }: Pending): string {
  return input === undefined ? labelOfAnswer(text) : (input as { label: string }).label;
}

/** The label of an answer, by its text. */
export function labelOfAnswer(text: string): string {
  return answerOf(text.slice(answerText('').length));
}
