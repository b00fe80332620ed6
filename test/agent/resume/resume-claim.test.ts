import {
  Agent,
  type Clock,
  HookAction,
  MemorySessionStore,
  messagesOf,
  type Timeouts,
  type ToolContext,
} from 'keelson';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, pause, rejectionOf, until } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { storeOver } from '../../support/state/store-over.js';

type Pay = (context: ToolContext) => unknown;

/** An agent that asks before each payment, as one of several processes on one store. */
function cashier(store: SessionStore, pay: Pay, { clock, ...timeouts }: Timeouts & { clock?: Clock } = {}): Agent {
  return new Agent({
    model: scriptedModel(({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Paid.' : calls('pay'))),
    store,
    timeouts,
    clock,
    tools: [toolOf('pay', (_input, context) => pay(context))],
    lifecycle: [
      { wrapToolCall: (call, next) => (call.approved ? next() : HookAction.suspend('A person must decide.')) },
    ],
  });
}

async function suspended(store: SessionStore) {
  const session = await cashier(store, () => 'never').session({ id: 's' });
  const { pending } = await session.run('Pay the bill.');
  return Object.fromEntries(pending.map(({ id }) => [id, 'approve'] as const));
}

const resumed = async (agent: Agent, resume: Record<string, 'approve'>) =>
  (await agent.session({ id: 's' })).run('', { resume });

describe('an approval in a session', () => {
  test('runs the tool once if two processes resume at the same time', async () => {
    const store = new MemorySessionStore();
    const resume = await suspended(store);
    const held = gate();
    const paid: string[] = [];
    const pay: Pay = async ({ callId }) => {
      paid.push(callId);
      await held.pass();
      return 'paid';
    };

    const first = resumed(cashier(store, pay), resume);
    const second = rejectionOf(resumed(cashier(storeOver(store, {}), pay), resume));
    await until(() => held.arrived === 1);
    held.open();

    expect(await second).toMatchObject({ code: 'ERR_RESUME_INVALID', calls: Object.keys(resume) });
    expect(await first).toMatchObject({ status: 'completed', text: 'Paid.' });
    expect(paid).toHaveLength(1);
  });

  test('is told of a second attempt, with the same idempotency key, after the first process died', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore({ clock });
    const resume = await suspended(store);
    const seen: unknown[] = [];
    // The first process does not notice that its time has passed.
    const died = storeOver(store, { renew: () => true });
    const note: Pay = ({ run, attempt, idempotencyKey }) => {
      seen.push([[run.attempt, attempt], run.idempotencyKey, idempotencyKey]);
      return 'paid';
    };
    const begun = gate();
    const payAndHang: Pay = (context) => {
      note(context);
      return begun.pass();
    };
    const first = rejectionOf(resumed(cashier(died, payAndHang, { claimMs: 5, clock }), resume));
    await until(() => begun.arrived === 1);
    clock.advance(6);

    expect((await resumed(cashier(store, note, { clock }), resume)).status).toBe('completed');

    const [[one, key, callKey], [two, sameKey, sameCallKey]] = seen as [unknown[], unknown[]];
    expect([one, two]).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect([sameKey, sameCallKey]).toEqual([key, callKey]);
    expect(callKey).not.toBe(key);
    begun.open();
    expect(await first).toMatchObject({ code: 'ERR_SESSION_LOST' });
  });

  test('says that an earlier attempt may have happened, if the second attempt is aborted', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore({ clock });
    const resume = await suspended(store);
    const begun = gate();
    const died = storeOver(store, { renew: () => true });
    const first = rejectionOf(
      resumed(
        cashier(died, () => begun.pass(), { claimMs: 5, clock }),
        resume,
      ),
    );
    await until(() => begun.arrived === 1);
    clock.advance(6);
    const again = cashier(store, () => begun.pass(), { clock });

    const second = rejectionOf(resumed(again, resume));
    await until(() => begun.arrived === 2);
    await again.close();

    expect(await second).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    const results = Object.values(resultsIn(messagesOf((await store.load('s'))?.entries ?? [])));
    expect(results).toEqual([
      expect.stringMatching(/^!The call was aborted\. .*An earlier attempt may have happened\.$/),
    ]);
    begun.open();
    await first;
  });

  test('holds its claim while the tool runs: renews it every third of its time, until its last append', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore({ clock });
    const resume = await suspended(store);
    const renewed: number[] = [];
    const watched = storeOver(store, {
      renew: (...given) => {
        renewed.push(clock.now());
        return store.renew(...given);
      },
    });
    const held = gate();
    const slow: Pay = async () => {
      await held.pass();
      return 'paid';
    };
    const first = resumed(cashier(watched, slow, { claimMs: 300, clock }), resume);
    await until(() => held.arrived === 1);
    for (let third = 0; third < 7; third += 1) {
      clock.advance(100);
      await pause();
    }
    const second = await rejectionOf(resumed(cashier(storeOver(store, {}), slow, { queueMs: 1 }), resume));
    held.open();
    await first;
    clock.advance(1_000);

    expect(second).toMatchObject({ code: 'ERR_SESSION_BUSY' });
    expect(renewed).toEqual([100, 200, 300, 400, 500, 600, 700]);
  });

  test('aborts the tool and adds nothing after another process has taken over', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore({ clock });
    const resume = await suspended(store);
    const aborted: unknown[] = [];
    const slow: Pay = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(signal.reason);
          reject(signal.reason);
        });
        clock.advance(60_000);
        store.claim('s', { token: 'other', run: 'other', ttlMs: 60_000 });
      });

    const lost = await rejectionOf(resumed(cashier(store, slow, { claimMs: 10 }), resume));

    expect(lost).toMatchObject({ code: 'ERR_SESSION_LOST' });
    expect(aborted).toEqual([lost]);
    const { entries = [] } = store.load('s') ?? {};
    expect(entries.map(({ body }) => body.type)).toEqual(['message', 'message', 'suspended', 'decision']);
  });

  test('does not run the tool if its claim has run out on the way, and another process has taken over', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore({ clock });
    const resume = await suspended(store);
    const takenOver = { token: 'other', run: 'other', ttlMs: 10_000 };
    const slow = storeOver(store, {
      async claim(...given) {
        const answer = store.claim(...given);
        clock.advance(10_000);
        return answer;
      },
      async append(id, append) {
        const answer = store.append(id, append);
        store.claim(id, takenOver);
        return answer;
      },
    });
    const paid: string[] = [];
    const agent = cashier(slow, ({ callId }) => paid.push(callId), { clock, claimMs: 10_000 });

    expect(await rejectionOf(resumed(agent, resume))).toMatchObject({ code: 'ERR_SESSION_LOST' });
    expect(paid).toEqual([]);
  });

  test('with decisions that are not valid leaves the calls open, so that the next attempt is the first', async () => {
    const store = new MemorySessionStore();
    const resume = await suspended(store);
    const attempts: number[] = [];
    const agent = cashier(store, ({ run }) => {
      attempts.push(run.attempt);
      return 'paid';
    });

    expect(await rejectionOf(resumed(agent, { unknown: 'approve' }))).toMatchObject({ code: 'ERR_RESUME_INVALID' });
    await resumed(agent, resume);

    expect(attempts).toEqual([1]);
  });
});
