import fc from 'fast-check';
import { Agent, MemorySessionStore, type Session } from 'keelson';
import { compaction } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { advance } from '../../support/agent/background/lab.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { checkAccepted } from '../../support/agent/session-model.js';
import { until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { watchRows } from '../../support/state/remaining-rows.js';

/** How a work ends, and the moment: the number of model calls and tool calls before it. */
interface PlannedWork {
  readonly moment: number;
  readonly how: 'end' | 'fail' | 'never';
}

type Act = 'run' | 'work' | 'send' | 'elsewhere';

const works = fc.array(fc.record({ moment: fc.nat(20), how: fc.constantFrom('end' as const, 'fail', 'never') }), {
  minLength: 1,
  maxLength: 4,
});
const acts = fc.array(fc.constantFrom<Act>('run', 'work', 'send', 'elsewhere'), { minLength: 1, maxLength: 8 });
const ends = fc.record({ compacts: fc.boolean(), crashes: fc.boolean() });

/** Plays acts of a person in two processes, while works end. Then the first process is closed or crashes. */
class Play {
  private readonly clock = fakeClock();
  private readonly here = fakeClock();
  private readonly kept = watchRows(new MemorySessionStore({ clock: this.clock }));
  private readonly enders: { readonly moment: number; readonly end: () => void }[] = [];
  private readonly left: PlannedWork[];
  private moment = 0;
  private starts = 0;

  constructor(
    planned: readonly PlannedWork[],
    private readonly plan: { readonly compacts: boolean; readonly crashes: boolean },
  ) {
    this.left = [...planned];
  }

  get rows(): readonly string[] {
    return [...this.kept.rows];
  }

  /** Returns the conversation, and the number of works that have begun. */
  async run(acts: readonly Act[]): Promise<{ readonly session: Session; readonly starts: number }> {
    const agent = this.agentOn(this.here);
    const other = this.agentOn(this.clock);
    const session = await agent.session({ id: 's' });
    const there = await other.session({ id: 's' });
    for (const act of ['work' as const, ...acts]) {
      if (act === 'send') await session.send('Look here.');
      else await (act === 'elsewhere' ? there : session).run(act);
      await this.pass();
    }
    if (this.plan.crashes) this.clock.advance(60_000);
    else await this.close(agent);
    const last = await this.agentOn(this.clock).session({ id: 's' });
    await last.run('Are you done?');
    await last.run('And now?');
    return { session: last, starts: this.starts };
  }

  private async close(agent: Agent): Promise<void> {
    let isClosed = false;
    const closing = agent.close().then(() => {
      isClosed = true;
    });
    while (!isClosed) await advance(this.here, 1_000);
    await closing;
    expect(agent.status()).toMatchObject({ background: [], runs: 0 });
  }

  private agentOn(clock: typeof this.clock): Agent {
    const { compacts } = this.plan;
    const pass = () => this.pass();
    const tools = [
      toolOf('start', (_, { run }) => this.start((work) => run.background(work, { label: 'w' }))),
      toolOf('look', () => pass().then(() => 'seen')),
    ];
    return new Agent({
      model: {
        id: 'model',
        generate: async (request) => {
          checkAccepted(request.messages);
          await pass();
          const last = request.messages.at(-1);
          const wish = last?.role === 'user' ? last.content : '';
          const tool = new Map([
            ['work', 'start'],
            ['run', 'look'],
          ]).get(String(wish));
          return scriptedModel([tool === undefined ? 'Done.' : calls(tool)]).generate(request);
        },
      },
      ...{ store: this.kept.store, clock, tools, logger: keepingLogger() },
      lifecycle: compacts ? [compaction({ maxMessages: 6, keep: 2, summarize: () => 'So far.' })] : [],
    });
  }

  private start(begin: (work: Promise<unknown>) => Promise<string>): Promise<string> | string {
    const planned = this.left.shift();
    if (planned === undefined) return 'nothing to do';
    this.starts += 1;
    return begin(
      new Promise((resolve, reject) => {
        const end = () => (planned.how === 'end' ? resolve('built') : reject(new TypeError('broken')));
        if (planned.how !== 'never') this.enders.push({ moment: planned.moment, end });
      }),
    );
  }

  /** A moment, at which works end. */
  private async pass(): Promise<void> {
    const moment = this.moment++;
    for (const one of this.enders) if (one.moment === moment) one.end();
  }
}

test('the end of each work is told exactly once, whenever it ends, and the model accepts every list', async () => {
  await fc.assert(
    fc.asyncProperty(works, acts, ends, async (planned, done, plan) => {
      const play = new Play(planned, plan);
      const { session, starts } = await play.run(done);

      const entries = await session.history({ limit: 1_000 });
      const begun = entries.filter(({ body }) => body.type === 'background').map(({ id }) => id);
      const told = entries.flatMap(({ body }) => (body.type === 'message' ? (body.work ?? []) : []));
      expect(begun).toHaveLength(starts);
      expect([...told].sort()).toEqual([...begun].sort());
      await until(() => play.rows.length === 1);
    }),
    { numRuns: 60 },
  );
});
