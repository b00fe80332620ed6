import { textOf } from 'keelson';
import { type ExtensionInput, ExtensionRegistry, MemoryStateStore } from 'keelson/extension';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { echo } from '../../support/agent/sample-tools.js';
import { lab } from '../../support/extension/lab.js';
import { longConversations } from '../../support/state/long-conversations.js';

/** Counts the runs of a session in its state. */
function counter() {
  const counts: unknown[] = [];
  const extension: ExtensionInput = {
    id: 'counter',
    async onInputMessages(_messages, { getState, setState }) {
      const count = ((await getState('count')) as number | undefined) ?? 0;
      counts.push(count);
      await setState('count', count + 1);
    },
  };
  return { extension, counts };
}

describe.each(longConversations)('in a conversation that was %s', (_kind, make) => {
  test('S1-6.0, S1-6.4.3: the state has what every earlier run wrote, also on other branches', async () => {
    const state = new MemoryStateStore();
    const { extension, counts } = counter();
    const registry = new ExtensionRegistry({ state });
    registry.register(extension);
    const { store, runs } = await make({ loaders: [registry] });
    const { agent } = lab([extension], { registry: { state }, agent: { store } });
    const session = await agent.session({ id: 's1' });

    await session.run('next');
    await session.branch(null);
    await session.run('fresh');

    expect(counts).toEqual(Array.from({ length: runs + 2 }, (_, index) => index));
  });

  test('S1-6.2.1: a copy has a state of its own', async () => {
    const state = new MemoryStateStore();
    const { extension, counts } = counter();
    const { store } = await make();
    const { agent } = lab([extension], { registry: { state }, agent: { store } });
    const session = await agent.session({ id: 's1' });
    await session.run('next');
    await session.fork({ id: 'copy' });
    const copy = await agent.session({ id: 'copy' });

    await copy.run('there');
    await session.run('here');

    expect(counts).toEqual([0, 0, 1]);
  });

  test('S1-2.1.1: onInputMessages runs once a run, with the messages that the model reads', async () => {
    const { store, read } = await make();
    const seen: string[][] = [];
    const onInputMessages: ExtensionInput['onInputMessages'] = (messages) => void seen.push(messages.map(textOf));
    const script = [calls('echo', { text: 'a' }), says('done')];
    const { agent, model } = lab([{ id: 'x', onInputMessages }], { script, agent: { store, tools: [echo] } });

    await (await agent.session({ id: 's1' })).run('next');

    expect(seen).toEqual([[...read, 'next']]);
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([read.length + 1, read.length + 3]);
  });
});
