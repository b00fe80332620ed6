import { Agent, type AgentLifecycle } from 'keelson';
import { plugins } from 'keelson/plugins';
import { says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { unhandledDuring } from '../../support/agent/settle.js';
import { keptLog } from '../../support/concepts/augmented-run.js';
import { folderWith, noteBoard } from '../../support/plugins/plugin-folder.js';

/** Creates an agent with one opencode module, whose hooks may call `note`. */
function agentFor(hooks: string, script = [says('end')], lifecycle: readonly AgentLifecycle[] = []) {
  const { key, notes } = noteBoard();
  const workspaceDir = folderWith({
    'm.mjs': `const notes = globalThis.${key}; export const A = async ({ client }) => ({ ${hooks} });`,
  });
  const { lines, logger } = keptLog();
  const model = scriptedModel(script);
  const agent = new Agent({
    model,
    name: 'harbour',
    instructions: 'Be brief.',
    loaders: [plugins({ config: [{ path: 'm.mjs' }], workspaceDir })],
    logger,
    lifecycle,
  });
  return { agent, model, notes, log: lines, workspaceDir };
}

describe('the events that an opencode plugin receives', () => {
  const noting = 'event: async ({ event }) => { notes.push(event); }';

  test('include a new session and each answer', async () => {
    const { agent, notes, log, workspaceDir } = agentFor(noting, [says('one'), says('two')]);
    const session = await agent.session({ id: 's' });
    await session.run('go');
    await session.run('go');

    const idle = { type: 'session.idle', properties: { sessionID: 's' } };
    const info = { id: 's', projectID: 'global', directory: workspaceDir, title: '' };
    expect(notes).toEqual([{ type: 'session.created', properties: { info } }, idle, idle]);
    expect(log).toEqual([]);
  });

  test('include a failed run', async () => {
    const { agent, notes } = agentFor(noting, []);
    await agent.run('go').catch(() => {});

    expect(notes).toMatchObject([
      { type: 'session.error', properties: { error: { data: { message: expect.stringContaining('script') } } } },
      { type: 'session.idle' },
    ]);
  });

  test.each(["async event() { throw new Error('no sound'); }", "event() { throw new Error('no sound'); }"])(
    'do not fail the run if the handler fails: %s',
    async (hooks) => {
      const { agent, log } = agentFor(hooks);
      const unhandled = await unhandledDuring(async () => {
        expect(await agent.run('go')).toMatchObject({ text: 'end' });
      });

      expect(unhandled).toEqual([]);
      expect(log).toMatchObject([{ level: 'error', message: 'event of plugin "m/A" failed.' }]);
    },
  );

  test('do not delay the run', async () => {
    const { agent } = agentFor('event: () => new Promise(() => {})');

    expect(await agent.run('go')).toMatchObject({ text: 'end' });
  });
});

describe('`chat.message`', () => {
  const asked = (model: ReturnType<typeof scriptedModel>) => model.requests[0]?.messages.slice(1);

  test('receives the message, and the text parts that it leaves are sent', async () => {
    const { agent, model, notes } = agentFor(`'chat.message': async (input, output) => {
      notes.push(input, output.message.role, output.parts.length);
      output.parts[0].text = output.parts[0].text.toUpperCase();
      output.parts.push({ type: 'text', text: 'and more', synthetic: true }, { type: 'text', text: 'no', ignored: true }, { type: 'file' });
    }`);
    await agent.run('go');

    expect(asked(model)).toEqual([{ role: 'user', content: 'GO\nand more' }]);
    expect(notes).toEqual([expect.objectContaining({ agent: 'harbour', sessionID: expect.any(String) }), 'user', 1]);
  });

  test('ends the run if it throws', async () => {
    const { agent, model } = agentFor("'chat.message'() { throw new Error('not on a Sunday'); }");

    await expect(agent.run('go')).rejects.toThrow('not on a Sunday');
    expect(model.requests).toEqual([]);
  });

  test('that uses a feature of opencode leaves the message unchanged', async () => {
    const { agent, model, log } = agentFor(`'chat.message': async (_input, output) => {
      output.parts.length = 0;
      await client.session.get({});
    }`);
    await agent.run('go');

    expect(asked(model)).toEqual([{ role: 'user', content: 'go' }]);
    expect(log).toMatchObject([{ level: 'error', message: 'chat.message of plugin "m/A" failed.' }]);
  });
});

describe('`experimental.chat.system.transform`', () => {
  const hook = (text: string) => `'experimental.chat.system.transform': ${text}`;

  test.each([
    ['adds to the instructions', '(_input, { system }) => void system.push("Be kind.")', 'Be brief.\nBe kind.'],
    ['replaces the instructions', '(_input, output) => { output.system = ["Be kind.", ""]; }', 'Be kind.'],
    [
      'leaves the instructions unchanged if it removes all of them',
      'async (_input, { system }) => { system.length = 0; }',
      'Be brief.',
    ],
    [
      'leaves them where it throws',
      '(_input, { system }) => { system.push("x"); throw new Error("no"); }',
      'Be brief.',
    ],
  ])('%s', async (_title, text, content) => {
    const { agent, model, log } = agentFor(hook(text));
    await agent.run('go');

    expect(model.requests[0]?.messages).toEqual([
      { role: 'system', content },
      { role: 'user', content: 'go' },
    ]);
    expect(log).toHaveLength(text.includes('throw') ? 1 : 0);
  });

  test('that changes nothing keeps several system messages separate', async () => {
    const other: AgentLifecycle = {
      name: 'other',
      wrapModelCall: (request, next) =>
        next({ ...request, messages: [{ role: 'system', content: 'First.' }, ...request.messages] }),
    };
    const { agent, model } = agentFor(hook('() => {}'), [says('end')], [other]);
    await agent.run('go');

    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['First.', 'Be brief.', 'go']);
  });

  test('receives the session id and the model', async () => {
    const { agent, model, notes } = agentFor(hook('(input) => { notes.push(input); }'));
    await (await agent.session({ id: 's' })).run('go');

    expect(notes).toEqual([
      { sessionID: 's', model: { id: model.id, modelID: model.id, providerID: expect.any(String) } },
    ]);
  });
});
