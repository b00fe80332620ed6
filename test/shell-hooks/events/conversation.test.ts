import { textOf } from 'keelson';
import { HOOK_EVENTS, type HookEvent } from 'keelson/shell-hooks';
import { calls, type ScriptedModel, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { agentWith, answers, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Returns the hook messages of each model request, in order. */
function heard(model: ScriptedModel): string[][] {
  return model.requests.map(({ messages }) =>
    messages.flatMap((message) => {
      const found = /^<hook-message source="hook:(.*)">\n(.*)\n<\/hook-message>$/s.exec(textOf(message));
      return found ? [`${found[1]}: ${found[2]}`] : [];
    }),
  );
}

/** Runs a session twice, the first time with a tool call. Two hooks send messages at one event. */
async function twoRuns(event: HookEvent, more: object = {}) {
  const says1 = (text: string) => ({ systemMessage: text, ...more });
  const hooks = hooksIn(lab, {
    hooks: [answers(event, says1('one'), { name: 'a' }), answers(event, says1('two'), { name: 'b' })],
  });
  const { tool } = countingTool('look');
  const script = [calls('look', {}), says('seen'), says('again'), says('more')];
  const { agent, model } = agentWith(lab, hooks, { script, tools: [tool] });
  const session = await agent.session({ id: 's' });
  await session.run('first').catch(() => {});
  await session.run('second').catch(() => {});
  await session.close();
  return heard(model);
}

const both = ['a: one', 'b: two'];
const next: Record<string, string[][]> = {
  session_start: [both, both, both],
  before_agent: [both, both, [...both, ...both]],
  after_model: [[], both, [...both, ...both]],
  before_tool: [[], both, both],
  after_tool: [[], both, both],
  before_model: [both, both, both],
  before_tool_selection: [both, both, both],
  after_agent: [[], [], both],
  session_end: [[], [], []],
};

/** The events of a run and its session. The others are in moment-hooks.test.ts. */
const RUN_EVENTS = HOOK_EVENTS.slice(0, 9);

test.each(RUN_EVENTS)('S0-13.1: hook messages of %s are added to the conversation once, in order', async (event) => {
  expect(await twoRuns(event)).toEqual(next[event]);
});

test('S0-13.1: hook messages of before_model and before_tool_selection are in the same request', async () => {
  const hooks = hooksIn(lab, {
    hooks: [
      answers('before_model', { systemMessage: 'one' }, { name: 'a' }),
      answers('before_tool_selection', { systemMessage: 'two' }, { name: 'b' }),
    ],
  });
  const { agent, model } = agentWith(lab, hooks, { script: [says('seen')] });
  await agent.run('go');

  expect(heard(model)).toEqual([both]);
});

test('S0-13.1: hook messages of session_end are logged', async () => {
  await twoRuns('session_end');

  expect(lab.logged('info').map(({ message }) => message)).toEqual(
    expect.arrayContaining(['Hook "a" said at session_end: one', 'Hook "b" said at session_end: two']),
  );
});

test('a hook message after the final answer does not cause another turn', async () => {
  const hooks = hooksIn(lab, { hooks: [answers('after_model', { systemMessage: 'well said' })] });
  const { agent, model } = agentWith(lab, hooks, { script: [says('seen')] });

  expect((await agent.run('go')).text).toBe('seen');
  expect(model.requests).toHaveLength(1);
});

/** Returns the hook messages of the next request after a hook has cancelled the first run. */
async function afterCancel(event: HookEvent) {
  const text = `cat >/dev/null; test -e once && exit 0; touch once; echo '{"continue":false,"systemMessage":"one"}'`;
  const hooks = hooksIn(lab, { hooks: [{ event, name: 'a', command: 'sh', args: ['-c', text] }] });
  const { tool } = countingTool('look');
  const script = [calls('look', {}), says('seen'), says('again')];
  const { agent, model } = agentWith(lab, hooks, { script, tools: [tool] });
  const opened = await agent.session({ id: 's' }).catch(() => undefined);
  const session = opened ?? (await agent.session({ id: 's' }));
  const first = await session.run('first').catch(() => undefined);
  const before = model.requests.length;
  if (first === undefined) await session.run('second');
  return heard(model).slice(first === undefined ? before : 1)[0];
}

test.each(RUN_EVENTS.filter((event) => !['session_start', 'session_end'].includes(event)))(
  "S0-13.1, B15: the message of a hook that cancels %s is in the session's next request",
  async (event) => {
    expect(await afterCancel(event)).toEqual(['a: one']);
  },
);

test('S0-13.1: the message of a hook that cancelled session_start is in the first request after the session opens', async () => {
  const text = `test -e once && exit 0; touch once; echo '{"continue":false,"systemMessage":"one"}'`;
  const hook = { event: 'session_start', name: 'a', command: 'sh', args: ['-c', text] } as const;
  const { agent, model } = agentWith(lab, hooksIn(lab, { hooks: [hook] }), { script: [says('seen')] });
  await expect(agent.session({ id: 's' })).rejects.toThrow();
  await (await agent.session({ id: 's' })).run('go');

  expect(heard(model)).toEqual([['a: one']]);
});

test('passes hook messages for the user to onNotice', async () => {
  const notices: unknown[] = [];
  const hooks = hooksIn(lab, {
    hooks: [answers('before_agent', { systemMessage: 'mind\u001b[31m the gap' })],
    onNotice: (notice) => notices.push(notice),
  });
  const { agent } = agentWith(lab, hooks, { script: [says('ok')] });
  await agent.run('go');

  expect(notices).toEqual([{ hook: 'before_agent-hook', event: 'before_agent', text: 'mind the gap' }]);
});

test('a hook message does not appear in another session', async () => {
  const hooks = hooksIn(lab, { hooks: [answers('after_agent', { systemMessage: 'one' })] });
  const { agent, model } = agentWith(lab, hooks, { script: says('ok') as never });
  const [a, b] = [await agent.session({ id: 'a' }), await agent.session({ id: 'b' })];
  await a.run('go');
  await b.run('go');
  await a.run('more');

  expect(heard(model)).toEqual([[], [], ['after_agent-hook: one']]);
});
