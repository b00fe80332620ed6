import type { ExtensionContext } from 'keelson/extension';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { labOf, policy } from '../../support/extension/state-lab.js';

type StateLab = Awaited<ReturnType<typeof labOf>>;

interface Callback extends StateLab {
  /** The contexts of the extensions `a` and `b`. */
  readonly a: ExtensionContext;
  readonly b: ExtensionContext;
  readonly clock: ReturnType<typeof fakeClock>;
}

/** Calls `act` in a run. The store has the value 1 for the key `k` of the extension `a`. Returns what the store has then. */
async function duringRun(act: (callback: Callback) => Promise<unknown>) {
  const clock = fakeClock();
  const scope = { extension: 'a', session: 's' };
  const contexts: ExtensionContext[] = [];
  let acting: Promise<unknown> = Promise.reject(new RangeError('the callback was not called'));
  acting.catch(() => {});
  const onInputMessages = (_messages: unknown, context: ExtensionContext) => void contexts.push(context);
  const onLlmOutput = async () => {
    const [a, b] = contexts as [ExtensionContext, ExtensionContext];
    acting = act({ ...lab, a, b, clock });
    await acting;
  };
  const extensions = [
    { id: 'a', onInputMessages },
    { id: 'b', onInputMessages, onLlmOutput },
  ];
  const lab = await labOf(extensions, {}, { clock });
  await lab.files.set(scope, { key: 'k', value: '1' }, policy);
  await (await lab.agent.session({ id: 's' })).run('go');
  // A run goes on after an error of a callback.
  await acting;
  return { stored: await lab.files.get(scope, 'k', policy), warned: lab.messages('warn') };
}

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Makes the next call of a method of the store wait for `release`, before or after the store acts. */
function hold({ around }: StateLab, method: string, when: 'before' | 'after' = 'after') {
  const [reached, released] = [gate(), gate()];
  around.set(method, async (call) => {
    const answer = when === 'after' ? call() : undefined;
    await answer;
    reached.open();
    await released.opened;
    return answer ?? call();
  });
  return { reached: reached.opened, release: released.open };
}

/** Makes the next read of the session return sizes only, as for a session with large values. */
function readNoValues({ around }: StateLab): void {
  around.set('peek', async (call) => Object.assign((await call()) as object, { values: [], complete: [] }));
}

test('a value of a run without a session survives that another extension clears its state', async () => {
  const { agent } = await labOf([
    {
      id: 'a',
      onInputMessages: (_messages, { setState }) => setState('k', 1),
      onLlmOutput: async (_output, { getState }) => `${await getState('k')}`,
    },
    { id: 'b', onInputMessages: (_messages, { clearState }) => clearState() },
  ]);

  expect((await agent.run('go')).text).toBe('1');
});

test('a value that is cleared while the session is read does not come back', async () => {
  const { stored } = await duringRun(async ({ a, ...lab }) => {
    const peek = hold(lab, 'peek');
    const reading = a.getState('k');
    await peek.reached;
    await a.clearState('k');
    peek.release();

    expect([await reading, await a.getState('k')]).toEqual([undefined, undefined]);
  });

  expect(stored).toBeUndefined();
});

test.each([
  ['setState', (a: ExtensionContext) => a.setState('k', 2)],
  ['updateState', (a: ExtensionContext) => a.updateState<number>('k', (n = 0) => n + 1)],
])('a value that %s writes while the old one is read stays', async (_method, write) => {
  const { stored } = await duringRun(async ({ a, ...lab }) => {
    readNoValues(lab);
    const get = hold(lab, 'get');
    const reading = a.getState('k');
    await get.reached;
    await write(a);
    get.release();
    await reading;

    expect(await a.getState('k')).toBe(2);
  });

  expect(stored).toBe('2');
});

test('a value that updateState writes while the session is read again stays', async () => {
  await duringRun(async ({ a, b, ...lab }) => {
    await a.getState('k');
    const set = hold(lab, 'set', 'before');
    const updating = a.updateState<number>('k', (n = 0) => n + 1);
    await set.reached;
    await b.clearState();
    const peek = hold(lab, 'peek');
    const reading = a.getState('k');
    await peek.reached;
    set.release();
    await updating;
    peek.release();

    expect([await reading, await a.getState('k')]).toEqual([2, 2]);
  });
});

test('a write after a failed one is not taken for an overwritten change', async () => {
  const { stored, warned } = await duringRun(async ({ a, clock, failing }) => {
    await a.getState('k');
    await a.setState('k', 2);
    clock.advance(10_000);
    failing.add('apply');
    expect(await rejectionOf(a.getState('k'))).toMatchObject({ code: 'ERR_STATE_STORE' });
    failing.clear();
    await a.setState('k', 3);
  });

  expect([stored, warned]).toEqual(['3', []]);
});
