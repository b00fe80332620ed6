import { type Entry, MemorySessionStore, type RunResult, type Session, textOf, toolCallsOf } from 'keelson';
import type { SessionStore } from 'keelson/store';
import { recordOf, waitingOf } from '../../../../src/state/record/session-record.js';
import { storeOver } from '../../state/store-over.js';
import { type FakeClock, fakeClock } from '../fake-clock.js';
import { recordProblem } from './checks.js';
import { Oracle, type Told } from './oracle.js';
import { Dice, labelOfAnswer, type Pending, Person } from './person.js';
import type { Plan } from './plan.js';
import { troupe } from './troupe.js';
import { Stage, World } from './world.js';

/** The claim of a process that has stopped has run out then. */
const LATE_MS = 10 * 30_000 + 1;
const MOST_PROCESSES = 100;
const INPUT = { id: 'question', nested: true } as const;

/** The append at which a process stops, and whether the store still takes it. */
export interface Crash {
  readonly append: number;
  readonly isStored: boolean;
}

/** Plays a plan in processes that stop in the middle. The last ones live to the end. */
export class CrashPlay {
  private readonly clock: FakeClock = fakeClock();
  private readonly store = new MemorySessionStore({ clock: this.clock });
  private readonly oracle: Oracle;
  readonly world: World;
  private readonly person: Person;

  constructor(
    private readonly plan: Plan,
    rolls: readonly number[],
    private readonly crashes: readonly Crash[],
  ) {
    this.oracle = new Oracle(plan);
    this.world = new World(this.oracle);
    this.person = new Person(new Dice(rolls), this.oracle);
  }

  /** Returns the first broken rule. */
  async run(): Promise<string | undefined> {
    const { world, crashes } = this;
    let isDone = false;
    for (let number = 0; !isDone && world.faults.length === 0; number++) {
      if (number > MOST_PROCESSES) return 'the run never ends';
      const result = await this.process(crashes[number]);
      isDone = result?.status === 'completed';
    }
    const problem = recordProblem(this.entries);
    if (problem !== undefined) world.fail(problem);
    return world.faults[0];
  }

  private get entries(): readonly Entry[] {
    return this.store.load('s')?.entries ?? [];
  }

  /** Lets a process take the next step. Returns undefined if it stops. */
  private async process(crash: Crash | undefined): Promise<RunResult | undefined> {
    const { world, plan, clock } = this;
    this.oracle.restore(decisionsIn(this.entries));
    const stage = new Stage(world);
    const boss = troupe(plan, stage, { store: mortal(this.store, stage, crash), clock });
    const session = await boss.session({ id: 's' });
    const result = await Promise.race([stage.death, this.step(session, stage)]);
    if (stage.isDead) clock.advance(LATE_MS);
    else await boss.close();
    return result;
  }

  private async step(session: Session, stage: Stage): Promise<RunResult | undefined> {
    try {
      const stream = await this.next(session);
      stage.cancel = (path) => stream.cancel(path);
      for await (const _event of stream);
      return await stream.result;
    } catch (error) {
      this.world.fail(`the run fails: ${error}`);
      return undefined;
    }
  }

  /** Decides on what waits, repeats what was interrupted, says something new, or asks again. */
  private async next(session: Session) {
    const { person, entries } = this;
    const record = recordOf(entries);
    const { openTurn } = record;
    const waiting = waitingOf(record);
    const pending = waiting.map(({ id, callers, call, text, question }): Pending => {
      const path = callers.map((caller) => caller.id);
      return { id, path, type: call ? 'tool-call' : 'answer', input: call?.input, text, needs: question?.needs };
    });
    const waits = (id: string) => waiting.some((one) => (one.callers[0]?.id ?? one.id) === id);
    const interrupted = openTurn?.open.filter(({ id }) => !waits(id) && person.dice.roll(3) > 0) ?? [];
    const decided = pending.length > 0 ? person.decide(pending) : {};
    // Who repeats a call of the outermost run approves it, too.
    for (const { input } of interrupted) this.oracle.repeat((input as { label: string }).label);
    const resume = { ...decided, ...Object.fromEntries(interrupted.map(({ id }) => [id, 'approve'])) };
    if (Object.keys(resume).length > 0) return session.stream('', { nested: true, resume });
    return entries.length === 0 || person.dice.roll(2) === 0
      ? session.stream('r', INPUT)
      : session.stream('And now?', { nested: true });
  }
}

/** Returns the store of a process that stops at one of its appends. */
function mortal(store: SessionStore, stage: Stage, crash: Crash | undefined): SessionStore {
  let appends = 0;
  const alive = <Given extends unknown[], Answer>(method: (...given: Given) => Answer) =>
    (async (...given: Given) => {
      await stage.alive();
      return method(...given);
    }) as (...given: Given) => Promise<Awaited<Answer>>;
  return storeOver(store, {
    claim: alive((...given) => store.claim(...given)),
    renew: alive((...given) => store.renew(...given)),
    load: alive((...given) => store.load(...given)),
    append: alive(async (...given) => {
      if (appends++ !== crash?.append) return store.append(...given);
      if (crash.isStored) await store.append(...given);
      stage.die();
      return new Promise<never>(() => {});
    }),
  });
}

/** Returns the decisions on record, by the labels of the calls and answers. */
function decisionsIn(entries: readonly Entry[]): ReadonlyMap<string, Told> {
  const told = new Map<string, Told>();
  for (const { body, parent, path } of entries) {
    const asked = entries.find(({ id }) => id === parent)?.body;
    if (body.type !== 'decision' || asked?.type !== 'message') continue;
    const { decision } = body;
    if (decision === 'again' && path !== undefined) continue;
    const call = toolCallsOf(asked.message).find(({ id }) => id === body.call);
    const { label } = (call?.input ?? { label: labelOfAnswer(textOf(asked.message)) }) as { label: string };
    const isApproval = decision === 'approve' || decision === 'again';
    // New arguments stay if the call is approved once more.
    if (isApproval) told.set(label, told.get(label) ?? 'approve');
    else if (typeof decision === 'object' && 'approve' in decision) told.set(label, 'edit');
    else told.set(label, typeof decision === 'object' && 'deny' in decision ? 'deny' : 'result');
  }
  return told;
}
