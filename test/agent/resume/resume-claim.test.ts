import {
  Agent,
  type Clock,
  HookAction,
  MemorySessionStore,
  type SessionStore,
  type Timeouts,
  type ToolContext,
} from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, pause, rejectionOf, until } from '../../support/agent/settle.js';
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
    const second = await rejectionOf(resumed(cashier(storeOver(store, {}), pay), resume));
    held.open();

    expect(second).toMatchObject({ code: 'ERR_RESUME_CLAIMED', session: 's' });
    expect(await first).toMatchObject({ status: 'completed', text: 'Paid.' });
    expect(paid).toHaveLength(1);
  });

  test('is refused as claimed if another process resumes between the load and the claim', async () => {
    const store = new MemorySessionStore();
    const resume = await suspended(store);
    let paid = 0;
    const pay: Pay = () => {
      paid += 1;
      return 'paid';
    };
    const late = storeOver(store, {
      claim: async (...given) => {
        await resumed(cashier(store, pay), resume);
        return store.claim(...given);
      },
    });

    expect(await rejectionOf(resumed(cashier(late, pay), resume))).toMatchObject({ code: 'ERR_RESUME_CLAIMED' });
    expect(paid).toBe(1);
  });

  test('is told of a second attempt, with the same idempotency key, after the first process died', async () => {
    const clock = fakeClock();
    const store = new MemorySessionStore({ clock });
    const resume = await suspended(store);
    const seen: unknown[] = [];
    const died = storeOver(store, { renew: () => true });
    const note: Pay = ({ run, idempotencyKey }) => {
      seen.push([run.attempt, run.idempotencyKey, idempotencyKey]);
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
    expect([one, two]).toEqual([1, 2]);
    expect([sameKey, sameCallKey]).toEqual([key, callKey]);
    expect(callKey).not.toBe(key);
    begun.open();
    expect(await first).toMatchObject({ code: 'ERR_SESSION_CONFLICT' });
  });

  test('holds its claim while the tool runs: renews it every third of its time, until the run is saved', async () => {
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
    const second = await rejectionOf(resumed(cashier(storeOver(store, {}), slow, { clock }), resume));
    held.open();
    await first;
    clock.advance(1_000);

    expect(second).toMatchObject({ code: 'ERR_RESUME_CLAIMED' });
    expect(renewed).toEqual([100, 200, 300, 400, 500, 600, 700]);
  });

  test('aborts the tool and saves nothing after another process has taken over', async () => {
    const store = new MemorySessionStore();
    const resume = await suspended(store);
    const before = await store.load('s');
    const aborted: unknown[] = [];
    const slow: Pay = ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(signal.reason);
          reject(signal.reason);
        });
        store.release('s', token);
        store.claim('s', { token: 'other', revision: before?.revision ?? 0, ttlMs: 60_000 });
      });
    let token = '';
    const watched = storeOver(store, {
      claim: (id, claim) => {
        token = claim.token;
        return store.claim(id, claim);
      },
    });

    const lost = await rejectionOf(resumed(cashier(watched, slow, { claimMs: 10 }), resume));

    expect(lost).toMatchObject({ code: 'ERR_RESUME_CLAIMED' });
    expect(aborted).toEqual([lost]);
    expect(await store.load('s')).toEqual(before);
  });

  test('does not claim if the decisions are not valid, so that the next attempt is the first', async () => {
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
