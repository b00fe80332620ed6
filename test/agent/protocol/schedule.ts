import { settled } from '../../support/lifecycle/manual-clock.js';
import type { Budget, Execution, Step } from './explorer.js';
import { type Arrival, type Gate, Process } from './process.js';
import { endFault, stateFault } from './rules/end-rules.js';
import type { World } from './world.js';

/** After so many steps of nothing but time, the world counts as stuck. */
const MOST_WAITS = 12;

/** Drives one execution: finds what can happen next, and lets it happen. */
export class Schedule implements Execution {
  private current: Process | undefined = undefined;
  private waits = 0;
  /** The shared state after the last step. */
  private shared: string;
  /** True if the last step changed something that is left when its process crashes. */
  private hasChanged = false;

  constructor(private readonly world: World) {
    this.shared = world.shared();
  }

  steps(left: Budget): readonly Step[] {
    const { current, world } = this;
    const local = this.localStep();
    if (local !== undefined) return [local, ...this.crashOf(current)];
    const own = current === undefined ? [] : this.stepsOf(current, left);
    const others = world.processes.flatMap((one) => (one === current ? [] : this.stepsOf(one, left)));
    const isSwitch = own.length > 0;
    const steps = [...own, ...others.map((step) => (isSwitch ? at('switch', step) : step))];
    return [...steps, ...this.crashOf(current), ...this.timeSteps(steps.length === 0)];
  }

  async take(step: Step): Promise<void> {
    const { world } = this;
    step.act();
    do await settled();
    while (world.processes.some((one) => one.isOpening));
    world.look();
    const shared = world.shared();
    this.hasChanged = shared !== this.shared;
    this.shared = shared;
  }

  key(): string {
    const states = this.world.processes.map(({ state }) => state);
    return `${this.shared} ${states} ${this.current?.label} ${this.world.jumps}`;
  }

  violation(): string | undefined {
    return this.world.fault ?? stateFault(this.world);
  }

  end(): string | undefined {
    return endFault(this.world);
  }

  /** The step that nobody else notices. It is taken before all others, since its order among them makes no difference. */
  private localStep(): Step | undefined {
    for (const process of this.world.processes) {
      const gate = process.gates.find((one) => one.local);
      if (gate !== undefined) return this.gateStep(process, gate, 'at once');
    }
    return undefined;
  }

  /** The steps of a process, the oldest first. Another order of its own steps counts as a switch. */
  private stepsOf(process: Process, { lost, late }: Budget): readonly Step[] {
    if (process.isSettled) return [];
    const gates = process.gates.filter((gate) => gate.when());
    const timers = process.clock.due.map((timer): Step => {
      const act = () => process.wake(timer);
      return this.stepOf(process, { label: `wakes up after ${timer.ms} ms`, prices: [], act });
    });
    const [first, ...more] = [...gates.map((gate) => this.gateStep(process, gate, 'at once')), ...timers];
    if (first === undefined) return [];
    const faults = gates.flatMap((gate) => [
      ...(gate.losable && lost > 0 ? [this.gateStep(process, gate, 'lost')] : []),
      ...(gate.losable && late > 0 ? [this.gateStep(process, gate, 'late')] : []),
    ]);
    return [first, ...more.map((step) => at('switch', step)), ...faults];
  }

  private gateStep(process: Process, gate: Gate, arrival: Arrival): Step {
    const act = () => gate.open(arrival);
    if (arrival === 'at once') return this.stepOf(process, { label: gate.label, prices: [], act });
    return this.stepOf(process, { label: `${gate.label} — the answer is ${arrival}`, prices: [arrival], act });
  }

  private stepOf(process: Process, step: Step): Step {
    const act = () => {
      this.current = process;
      this.waits = 0;
      step.act();
    };
    return { ...step, label: `${process.label}: ${step.label}`, act };
  }

  /** A crash right behind a step that changed something. Any later or earlier moment makes no difference to others. */
  private crashOf(process: Process | undefined): Step[] {
    if (process === undefined || process.isSettled || !this.hasChanged) return [];
    const { world } = this;
    const { name, number, label } = process;
    const act = () => {
      process.crash();
      if (world.restarts(name)) world.processes.push(new Process(world, name, number + 1));
    };
    return [{ label: `${label} crashes`, prices: ['crash'], act }];
  }

  /** The time of the claim passes: as a fault, or because nothing else can happen. */
  private timeSteps(isForced: boolean): Step[] {
    const { world } = this;
    if (isForced) return this.forcedWait();
    const holding = world.holding();
    if (holding === undefined || world.isFree()) return [];
    if (!world.processes.some((one) => one.isTimed && !one.owns(holding.run))) return [];
    const act = () => world.jumpTo(holding.until);
    return [{ label: `the claim of ${holding.run} runs out`, prices: ['jump'], act }];
  }

  /** The claim that others wait for runs out, or the next timer fires. */
  private forcedWait(): Step[] {
    const { world } = this;
    const end = this.waits < MOST_WAITS ? world.nextTime() : undefined;
    if (end === undefined) return [];
    const act = () => {
      this.waits += 1;
      world.jumpTo(end);
    };
    return [{ label: 'time passes', prices: [], act }];
  }
}

function at(price: 'switch', step: Step): Step {
  return { ...step, prices: [price, ...step.prices] };
}
