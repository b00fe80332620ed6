import type { AgentLifecycle, Message, ResumeDecision } from 'keelson';
import { MemorySessionStore } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { approval } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { calls, type ScriptEntry } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { callsIn, cashier, PAY, type Pay } from '../../support/agent/approval.js';
import { rejectionOf, until } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';
import { storeOver } from '../../support/state/store-over.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const NOTE = 'The person changed the arguments to {"euro":30}.';
const afterJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const payment = (euro: number) => ({ name: 'pay', input: { euro } });
const bodiesOf = async (store: SessionStore) => ((await store.load('s'))?.entries ?? []).map(({ body }) => body);

async function suspended(store: SessionStore, script: readonly ScriptEntry[] = [PAY]) {
  const session = await cashier(script, { store }).agent.session({ id: 's' });
  await session.run('Pay.');
}

describe.each<[string, () => Promise<SessionStore>]>([
  ['memory', async () => new MemorySessionStore()],
  ['files', async () => new FileSessionStore({ folder: await temporaryFolder() })],
])('in a session in %s', (_name, open) => {
  test('both arguments are in the record, and the history tells of the change', async () => {
    const store = await open();
    await suspended(store);
    const { agent, model, paid } = cashier(['done', 'again'], { store });

    const session = await agent.session({ id: 's' });
    await session.run('', { resume: { call_1: { approve: { euro: 30 } } }, by: 'ada' });

    expect(paid).toEqual([{ euro: 30 }]);
    const bodies = await bodiesOf(store);
    expect(bodies).toContainEqual({ type: 'decision', call: 'call_1', decision: { approve: { euro: 30 } } });
    const asked = { role: 'assistant', content: [{ input: { euro: 40 } }] };
    expect(bodies[1]).toMatchObject({ type: 'message', message: asked });
    expect(JSON.stringify(bodies[1])).not.toContain('30');
    const reopened = await cashier([], { store }).agent.session({ id: 's' });
    expect(reopened.messages).toEqual(session.messages);
    expect(callsIn(reopened.messages)[0]).toMatchObject({ input: { euro: 40 }, editedInput: { euro: 30 } });
    await session.run('And?');
    expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: `${NOTE}\npaid 30` });
  });

  test('arguments that the tool refuses leave everything as it was', async () => {
    const store = await open();
    await suspended(store, [calls(payment(1), payment(2))]);
    const before = await bodiesOf(store);
    const { agent, model, paid } = cashier(['done'], { store });
    const session = await agent.session({ id: 's' });
    const decide = (decision: ResumeDecision) =>
      session.run('', { resume: { call_1: 'approve', call_2: decision } }) as Promise<unknown>;

    for (const [decision, words] of REFUSED) {
      const error = await rejectionOf(decide(decision));
      expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', calls: ['call_2'] });
      expect(String(error)).toContain(words);
    }

    expect([paid, model.requests]).toEqual([[], []]);
    expect(await bodiesOf(store)).toEqual(before);
    await decide({ approve: { euro: 30 } });
    expect(paid).toEqual([{ euro: 1 }, { euro: 30 }]);
  });
});

const REFUSED: [ResumeDecision, string][] = [
  [
    { approve: { euro: 'a lot' } },
    'The decision on "call_2" must have arguments that fit the schema of "pay": euro: Invalid input: expected number',
  ],
  [{ approve: { euro: 500 } }, 'euro: must be at most 100. Correct `approve`'],
  [{ approve: 'all' }, 'must have arguments that fit'],
  [{ approve: { euro: 1n } } as never, "must be 'approve', 'deny', { deny: reason }, { approve: input } or"],
  [{ approve: { euro: 1 }, deny: 'no' }, "must be 'approve', 'deny', { deny: reason }, { approve: input } or"],
];

test('an approval with the arguments of the call is an ordinary approval', async () => {
  const store = new MemorySessionStore();
  await suspended(store);
  const { agent, model } = cashier(['done'], { store });

  await (await agent.session({ id: 's' })).run('', { resume: { call_1: { approve: { euro: 40 } } } });

  expect(resultsIn(model.requests[0]?.messages ?? [])).toEqual({ call_1: 'paid 40' });
  expect(await bodiesOf(store)).toContainEqual({ type: 'decision', call: 'call_1', decision: 'approve' });
});

describe('a process that stops during a changed call', () => {
  async function crashed() {
    const clock = manualClock();
    const store = new MemorySessionStore({ clock });
    await suspended(store);
    let begun = false;
    const pay = () => {
      begun = true;
      return new Promise<string>(() => {});
    };
    // The clock of the process that dies stands still, so that it renews nothing.
    const dying = await cashier([], { store, pay, clock: manualClock() }).agent.session({ id: 's' });
    void dying.run('', { resume: { call_1: { approve: { euro: 30 } } } }).catch(() => {});
    await until(() => begun);
    await clock.advance(30_001);
    // Another process does not wait in the queue of this one.
    return storeOver(store, {});
  }

  test('runs it again with the arguments of the person', async () => {
    const store = await crashed();
    const pay: Pay = ({ euro }, { attempt }) => `paid ${euro} at attempt ${attempt}`;
    const { agent, model } = cashier(['done'], { store, pay });
    const session = await agent.session({ id: 's' });
    expect(callsIn(session.messages)).toMatchObject([{ editedInput: { euro: 30 } }]);

    await session.run('', { resume: { call_1: 'approve' } });

    expect(resultsIn(model.requests[0]?.messages ?? [])).toEqual({ call_1: `${NOTE}\npaid 30 at attempt 2` });
    expect((await bodiesOf(store)).filter(({ type }) => type === 'decision')).toMatchObject([
      { decision: { approve: { euro: 30 } } },
      { decision: 'again' },
    ]);
  });

  test('takes no third arguments, because the key stands for those of the first attempt', async () => {
    const store = await crashed();
    const before = await bodiesOf(store);
    const session = await cashier([], { store }).agent.session({ id: 's' });

    const error = await rejectionOf(session.run('', { resume: { call_1: { approve: { euro: 40 } } } }));

    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', message: expect.stringContaining('the call has begun') });
    expect(await bodiesOf(store)).toEqual(before);
  });

  test('tells the model with which arguments it may have happened', async () => {
    const store = await crashed();
    const { agent, model } = cashier(['I see.'], { store });

    await (await agent.session({ id: 's' })).run('And?');

    expect(resultsIn(model.requests[0]?.messages ?? []).call_1).toBe(
      `!${NOTE}\nThe process stopped during this call; it may have happened.`,
    );
  });
});

describe('a changed call that is suspended again', () => {
  /** A second lifecycle that asks about an approved call once more. */
  const twice = (): AgentLifecycle => {
    let asked = 0;
    return {
      name: 'twice',
      wrapToolCall: async (call, next) =>
        call.approved && asked++ === 0 ? { type: 'suspend', reason: 'Sure?' } : next(),
    };
  };

  test.each([true, false])('waits with the arguments that an approval runs (session: %s)', async (hasSession) => {
    const { agent, paid } = cashier([PAY, 'done'], { lifecycle: [twice(), approval()] });
    const session = await agent.session({ id: 's' });
    let history: readonly Message[] = [];
    const run = async (input: string, resume?: Record<string, ResumeDecision>) => {
      const options = resume && { resume };
      const running = hasSession ? session.run(input, options) : agent.run(input, { messages: history, ...options });
      const result = await running;
      history = afterJson(result.history);
      return result;
    };
    await run('Pay.');

    const { pending } = await run('', { call_1: { approve: { euro: 30 } } });
    const ended = await run('', { call_1: 'approve' });

    expect(pending).toMatchObject([{ id: 'call_1', input: { euro: 30 }, reason: 'Sure?' }]);
    expect(paid).toEqual([{ euro: 30 }]);
    expect(resultsIn(ended.messages)).toEqual({ call_1: `${NOTE}\npaid 30` });
  });

  test('can get the arguments of the model back', async () => {
    const { agent, paid } = cashier([PAY, 'done'], { lifecycle: [twice(), approval()] });
    const session = await agent.session({ id: 's' });
    await session.run('Pay.');
    await session.run('', { resume: { call_1: { approve: { euro: 30 } } } });

    const { messages } = await session.run('', { resume: { call_1: { approve: { euro: 40 } } } });

    expect(paid).toEqual([{ euro: 40 }]);
    expect(resultsIn(messages)).toEqual({ call_1: 'paid 40' });
    expect(callsIn(session.messages)[0]).not.toHaveProperty('editedInput');
  });
});
