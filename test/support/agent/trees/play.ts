import type { Agent, AgentEvent, RunResult, RunStream } from 'keelson';
import { pairingProblem } from '../pairing.js';
import { eventProblem, openIn, recordProblem, usageProblem } from './checks.js';
import { answerOf, Oracle } from './oracle.js';
import { Dice, labelOf, Person } from './person.js';
import type { Place } from './places.js';
import { isExact, type Plan } from './plan.js';
import { answerText, troupe } from './troupe.js';
import { Stage, World } from './world.js';

/** More resumes than calls in any plan. */
const MOST_RESUMES = 200;

/** Plays a plan to its end, with random decisions, each step in another process. */
export class TreePlay {
  readonly oracle: Oracle;
  readonly world: World;
  private readonly isExact: boolean;
  private readonly person: Person;

  constructor(
    private readonly plan: Plan,
    rolls: readonly number[],
    private readonly places: readonly Place[],
  ) {
    this.oracle = new Oracle(plan);
    this.world = new World(this.oracle);
    this.isExact = isExact(plan);
    this.person = new Person(new Dice(rolls), this.oracle);
  }

  /** Returns the first broken rule. */
  async run(): Promise<string | undefined> {
    const { oracle, world, plan } = this;
    let place = this.places[0] as Place;
    let result = await this.step(place, (boss) => place.start(boss, 'r'));
    for (let resumes = 0; result?.status === 'suspended'; resumes++) {
      if (resumes > MOST_RESUMES) return 'the run never ends';
      const { pending } = result;
      const suspended = result;
      const resume = this.person.decide(pending);
      place = this.places[this.person.dice.roll(this.places.length)] as Place;
      result = await this.step(place, (boss) => place.resume(boss, suspended, resume));
      if (world.faults.length > 0) break;
    }
    const answer = answerText('r', oracle.told(answerOf('r')) === 'deny');
    if (this.isExact && result?.text !== answer) world.fail(`the answer is "${result?.text}"`);
    if (result !== undefined && JSON.stringify(result.history).includes('"inside"')) world.fail('a run inside is left');
    if (this.isExact && world.faults.length === 0) {
      const ran = world.acts.map(({ label }) => label).sort();
      if (ran.join() !== oracle.now.ran.join()) world.fail(`${oracle.now.ran} should have run, but ${ran} did`);
    }
    const session = await place.session(troupe(plan, new Stage(world), place.options()));
    await session?.history();
    const problem = session && recordProblem(session.entries);
    if (problem !== undefined) world.fail(problem);
    return world.faults[0];
  }

  /** Runs until the run ends or is suspended again. Undefined if a limit ended it. */
  private async step(place: Place, start: (boss: Agent) => Promise<RunStream>): Promise<RunResult | undefined> {
    const { world, plan } = this;
    const stage = new Stage(world);
    const boss = troupe(plan, stage, place.options());
    const calls = world.modelCalls;
    const events: AgentEvent[] = [];
    try {
      const stream = await start(boss);
      stage.cancel = (path) => stream.cancel(path);
      for await (const event of stream) events.push(event);
      const result = await stream.result;
      this.check(result, events, world.modelCalls - calls);
      return result;
    } catch (error) {
      const { history = [], code } = error as { history?: readonly never[]; code?: string };
      if (plan.limit === undefined) world.fail(`the run fails: ${error}`);
      const problem = pairingProblem(history);
      if (problem !== undefined) world.fail(`after ${code}: ${problem}`);
      return undefined;
    } finally {
      await boss.close();
    }
  }

  private check(result: RunResult, events: readonly AgentEvent[], modelCalls: number): void {
    const { world, oracle } = this;
    const ids = result.pending.map(({ id }) => id);
    const open = openIn(result.history);
    if (new Set(ids).size < ids.length) world.fail(`two that wait have one id: ${ids}`);
    if ([...ids].sort().join() !== [...open].sort().join()) world.fail(`${open} are open, and ${ids} wait`);
    const wrongPath = result.pending.find(({ id, path = [] }) => id.split('/').slice(0, -1).join() !== path.join());
    if (wrongPath !== undefined) world.fail(`${wrongPath.id} has the path ${wrongPath.path}`);
    const waiting = result.pending.map(labelOf).sort();
    if (this.isExact && waiting.join() !== oracle.now.waiting.join()) {
      world.fail(`${oracle.now.waiting} should wait, but ${waiting} do`);
    }
    const problems = [
      pairingProblem(result.history, true),
      eventProblem(events, this.isExact),
      this.isExact ? usageProblem(result, events) : undefined,
      result.usage.totalTokens === 15 * modelCalls || !this.isExact ? undefined : 'the usage misses model calls',
    ];
    for (const problem of problems) if (problem !== undefined) world.fail(problem);
  }
}
