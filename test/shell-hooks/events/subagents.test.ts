import { Agent, type AgentLifecycle, type Tool } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, delays, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, answers, hooksIn, recorded, records, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const prompt = { prompt: 'Look.' };

/** A hook of Claude Code that records its input in a process of its own. */
const note = (more = '') => command(`line=$(cat); printf '%s\\n' "$line" >> events.jsonl${more}`, { timeout: 30 });
const noted = ['SubagentStart', 'SubagentStop', 'PreToolUse', 'Stop'];
const everything = () => claudeHooks(lab, Object.fromEntries(noted.map((event) => [event, [note()]])));

interface HookInput {
  readonly hook_event_name: string;
  readonly session_id: string;
  readonly agent_id?: string;
  readonly agent_type?: string;
  readonly data: { readonly tool_use_id?: string };
}

const inputs = () => recorded(lab) as unknown as HookInput[];
const at = (name: string) => inputs().filter(({ hook_event_name: event }) => event === name);
const idsAt = (name: string) => at(name).map(({ agent_type, agent_id }) => [agent_type, agent_id]);

/** The ids of the runs of the agents, by the name of the agent. */
function seen(ids: Map<string, string[]>): AgentLifecycle {
  return { beforeAgent: (_input, { agent, id }) => void ids.set(agent, [...(ids.get(agent) ?? []), id]) };
}

interface Part {
  readonly script: readonly ScriptEntry[];
  readonly tools?: readonly Tool[];
  readonly ids: Map<string, string[]>;
}

/** An agent with hooks of its own, as a tool. */
function helper(name: string, { script, tools, ids }: Part): Tool {
  const model = scriptedModel(script, { perRun: true });
  const agent = new Agent({ name, model, tools, loaders: [everything()], lifecycle: [seen(ids)], logger: lab.logger });
  return agent.asTool({ description: 'Helps.' });
}

describe('SubagentStart and SubagentStop', () => {
  test('have the id of the nested run, one and two levels deep, as have the hooks inside of it', async () => {
    const ids = new Map<string, string[]>();
    const scout = helper('scout', { script: ['Two ships.'], ids });
    const pilot = helper('pilot', { script: [calls('scout', prompt), 'Done.'], tools: [scout], ids });
    const { agent } = agentWith(lab, everything(), {
      name: 'captain',
      script: [calls('pilot', prompt), 'Done.'],
      tools: [pilot],
      lifecycle: [seen(ids)],
    });
    await (await agent.session({ id: 'harbour' })).run('go');

    const [[captain], [pilotRun], [scoutRun]] = ['captain', 'pilot', 'scout'].map((name) => ids.get(name) ?? []) as [
      string[],
      string[],
      string[],
    ];
    expect(captain).toEqual(expect.any(String));
    expect(
      inputs().map(({ hook_event_name: event, session_id, agent_type, agent_id }) => [
        event,
        session_id,
        agent_type,
        agent_id,
      ]),
    ).toEqual([
      ['PreToolUse', 'harbour', undefined, undefined],
      ['SubagentStart', 'harbour', 'pilot', pilotRun],
      ['PreToolUse', pilotRun, 'pilot', pilotRun],
      ['SubagentStart', pilotRun, 'scout', scoutRun],
      ['Stop', scoutRun, 'scout', scoutRun],
      ['SubagentStop', pilotRun, 'scout', scoutRun],
      ['Stop', pilotRun, 'pilot', pilotRun],
      ['SubagentStop', 'harbour', 'pilot', pilotRun],
      ['Stop', 'harbour', undefined, undefined],
    ]);
  });

  test('tell runs apart that are inside of calls of one turn, and of later turns with the same call ids', async () => {
    const ids = new Map<string, string[]>();
    const scout = helper('scout', { script: [delays(1, 'Two ships.')], ids });
    const both = calls({ name: 'scout', id: 'a', input: prompt }, { name: 'scout', id: 'b', input: prompt });
    const { agent } = agentWith(lab, everything(), { script: [both, both, 'Done.'], tools: [scout] });
    await agent.run('go');

    const runs = ids.get('scout') ?? [];
    expect(new Set(runs).size).toBe(4);
    for (const event of ['SubagentStart', 'SubagentStop']) {
      expect(idsAt(event).sort()).toEqual(runs.map((id) => ['scout', id]).sort());
    }
    const calledBy = (event: string) =>
      Object.fromEntries(at(event).map(({ agent_id, data }) => [agent_id, data.tool_use_id]));
    expect(calledBy('SubagentStop')).toEqual(calledBy('SubagentStart'));
  });

  test('do not fire for a call that another lifecycle refuses', async () => {
    const scout = helper('scout', { script: ['Two ships.'], ids: new Map() });
    const lifecycle = [approval({ tools: ['scout'], ask: () => ({ deny: 'no' }) })];
    const script = [calls('scout', prompt), 'Done.'];
    const { agent } = agentWith(lab, everything(), { script, tools: [scout], lifecycle });
    await agent.run('go');

    expect(inputs().map(({ hook_event_name: event }) => event)).toEqual(['PreToolUse', 'Stop']);
  });

  test('at the start, `additionalContext` is a message to the sub-agent only', async () => {
    const output = { hookSpecificOutput: { hookEventName: 'SubagentStart', additionalContext: 'Fog ahead.' } };
    const hooks = claudeHooks(lab, {
      SubagentStart: [{ ...command(`cat > /dev/null; echo '${JSON.stringify(output)}'`), matcher: 'scout' }],
    });
    const [inner, other] = [scriptedModel('Two ships.'), scriptedModel('None.')];
    const tools = [
      new Agent({ name: 'scout', model: inner }).asTool({ description: 'Looks.' }),
      new Agent({ name: 'clerk', model: other }).asTool({ description: 'Writes.' }),
    ];
    const script = [calls({ name: 'scout', input: prompt }, { name: 'clerk', input: prompt }), 'Done.'];
    const { agent, model } = agentWith(lab, hooks, { script, tools });
    await agent.run('go');

    expect(inner.requests[0]?.messages).toMatchObject([
      { role: 'user', content: 'Look.' },
      { role: 'system', content: expect.stringContaining('Fog ahead.') },
    ]);
    expect(JSON.stringify([model.requests, other.requests])).not.toContain('Fog');
  });

  test('at the start, exit code 2 refuses nothing', async () => {
    const notices: string[] = [];
    const hooks = claudeHooks(
      lab,
      { SubagentStart: [command('echo no >&2; exit 2')] },
      { onNotice: ({ text }) => void notices.push(text) },
    );
    const tools = [new Agent({ name: 'scout', model: scriptedModel('Two ships.') }).asTool({ description: 'Looks.' })];
    const { agent, model } = agentWith(lab, hooks, { script: [calls('scout', prompt), 'Done.'], tools });
    await agent.run('go');

    expect(JSON.stringify(model.requests[1])).toContain('Two ships.');
    expect(notices).toEqual(['no']);
  });
});

test('a native hook at `before_subagent` reads the arguments, and can keep the sub-agent from starting', async () => {
  const stop = answers('before_subagent', { continue: false, reason: 'Too late.' }, { name: 'curfew' });
  const hooks = hooksIn(lab, { hooks: [records('before_subagent'), stop, records('after_subagent')] });
  const inner = scriptedModel('Two ships.');
  const tools = [new Agent({ name: 'scout', model: inner }).asTool({ description: 'Looks.' })];
  const { agent, model } = agentWith(lab, hooks, { script: [calls('scout', prompt), 'Done.'], tools });
  await agent.run('go');

  expect(recorded(lab)).toMatchObject([
    { event: 'before_subagent', data: { agent: 'scout', args: prompt, tool_use_id: 'call_1' } },
  ]);
  expect(inner.requests).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('blocked by hook \\"curfew\\": Too late.');
});

test.each(['in a session', 'without a session'])(
  'SubagentStart and SubagentStop come once, with one id, for an agent that waits for an approval %s',
  async (how) => {
    const echo = toolOf('echo', () => 'said');
    const model = scriptedModel([calls('echo'), 'Done.']);
    const scout = new Agent({ name: 'scout', model, tools: [echo], lifecycle: [approval({ tools: ['echo'] })] });
    const { agent } = agentWith(lab, everything(), {
      script: [calls('scout', prompt), 'Done.'],
      tools: [scout.asTool({ description: 'Looks.' })],
    });
    const session = how === 'in a session' ? await agent.session() : undefined;

    const { history, pending } = await (session === undefined ? agent.run('go') : session.run('go'));
    expect([idsAt('SubagentStart').length, idsAt('SubagentStop').length]).toEqual([1, 0]);
    const resume = Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));
    await (session === undefined ? agent.run('', { messages: history, resume }) : session.run('', { resume }));

    expect(idsAt('SubagentStart')).toHaveLength(1);
    expect(idsAt('SubagentStop')).toEqual(idsAt('SubagentStart'));
  },
);
