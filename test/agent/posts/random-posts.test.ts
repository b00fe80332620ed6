import fc from 'fast-check';
import { Agent, MemorySessionStore, type Session } from 'keelson';
import { compaction } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { checkAccepted } from '../../support/agent/session-model.js';
import { storeOver } from '../../support/state/store-over.js';

/** A message that is sent at one moment of a run: the moments are counted. */
interface Arrival {
  readonly moment: number;
  readonly when: 'now' | 'after-turn' | 'after-answer';
  /** True if another process sends it, whose posts are not announced. */
  readonly isElsewhere: boolean;
}

const arrivals = fc.array(
  fc.record({
    moment: fc.nat(14),
    when: fc.constantFrom('now' as const, 'after-turn' as const, 'after-answer' as const),
    isElsewhere: fc.boolean(),
  }),
  { maxLength: 8 },
);

/** Plays a run with messages that arrive, an abort, and a compaction. Then runs until nothing waits. */
class Play {
  private moment = 0;
  /** The messages that were sent, by the time at which they want to join. */
  private readonly sent: Arrival['when'][] = [];
  private turns: number;
  private session: Session | undefined = undefined;
  private elsewhere: Session | undefined = undefined;
  private readonly stop = new AbortController();

  constructor(
    private readonly given: readonly Arrival[],
    private readonly plan: { readonly turns: number; readonly abortAt: number | undefined; readonly compacts: boolean },
  ) {
    this.turns = plan.turns;
  }

  async run(): Promise<Session> {
    const store: SessionStore = new MemorySessionStore();
    const idle = new Agent({ model: scriptedModel([]), store: storeOver(store, {}) });
    const agent = this.agentOn(store);
    this.session = await agent.session({ id: 's' });
    this.elsewhere = await idle.session({ id: 's' });
    await this.session.run('Go.', { signal: this.stop.signal }).catch(() => {});
    for (let runs = 0; runs < 10 && (await this.waits()); runs += 1) await this.session.run('');
    expect(await this.waits()).toBe(false);
    return this.session;
  }

  get ids(): readonly string[] {
    return this.sent.map((_, index) => `post-${index}`);
  }

  whenOf(id: string): Arrival['when'] | undefined {
    return this.sent[Number(id.slice('post-'.length))];
  }

  private agentOn(store: SessionStore): Agent {
    const pass = () => this.pass();
    return new Agent({
      model: {
        id: 'model',
        generate: async ({ messages }) => {
          checkAccepted(messages);
          await pass();
          this.turns -= 1;
          const entry = this.turns > 0 ? calls('look') : 'Done.';
          return scriptedModel([entry]).generate({ messages, tools: [] } as never);
        },
      },
      store,
      tools: [toolOf('look', () => pass().then(() => 'seen'))],
      lifecycle: [
        { beforeModel: () => pass() },
        ...(this.plan.compacts ? [compaction({ maxMessages: 5, keep: 2, summarize: () => 'So far.' })] : []),
      ],
    });
  }

  /** A moment of the run, at which messages arrive. */
  private async pass(): Promise<void> {
    const moment = this.moment++;
    // The run ends at once, and its hook goes on alone.
    if (moment === this.plan.abortAt) return this.stop.abort();
    for (const { when, isElsewhere } of this.given.filter((one) => one.moment === moment)) {
      const id = `post-${this.sent.push(when) - 1}`;
      await (isElsewhere ? this.elsewhere : this.session)?.send(id, { id, when });
    }
  }

  private async waits(): Promise<boolean> {
    const states = await Promise.all(this.ids.map(async (id) => (await this.session?.send(id, { id }))?.state()));
    return states.some((state) => state?.type === 'waiting');
  }
}

const plans = fc.record({
  turns: fc.integer({ min: 1, max: 4 }),
  abortAt: fc.option(fc.nat(10), { nil: undefined }),
  compacts: fc.boolean(),
});

test('messages that arrive at any time join once and in order, and the model accepts every list', async () => {
  await fc.assert(
    fc.asyncProperty(arrivals, plans, async (given, plan) => {
      const play = new Play(given, plan);
      const session = await play.run();

      const joined = session.entries.flatMap(({ body }) => (body.type === 'message' ? (body.post ?? []) : []));
      expect([...joined].sort()).toEqual([...play.ids].sort());
      const prompt = joined.filter((id) => play.whenOf(id) !== 'after-answer');
      expect(prompt).toEqual(play.ids.filter((id) => play.whenOf(id) !== 'after-answer'));
    }),
    { numRuns: 60 },
  );
});
