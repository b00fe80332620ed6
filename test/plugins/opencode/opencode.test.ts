import { fileURLToPath } from 'node:url';
import { Agent } from 'keelson';
import { plugins } from 'keelson/plugins';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { toolOf } from '../../support/agent/sample-tools.js';
import { unhandledDuring } from '../../support/agent/settle.js';
import { agentOf, agentWith, lastResult, moduleOf } from '../../support/plugins/plugin-folder.js';

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/opencode/${name}.mjs`, import.meta.url));
const work = toolOf('work', (input) => JSON.stringify(input));
const runOf = (name: string, setting: Parameters<typeof agentOf>[1] = {}) =>
  agentOf({ config: [{ path: fixture(name) }] }, { tools: [work], ...setting });

describe('a plugin for opencode', () => {
  test('S2-2.2a, S2-2.2b, S2-2.2c, S2-2.3: sees a tool call, and the tool gets its changes', async () => {
    const script = [
      calls({ id: 'toolu_1', name: 'work', input: { n: 1 } }, { id: 'toolu_2', name: 'work', input: { n: 2 } }),
      says('end'),
    ];
    const { agent, model } = runOf('env-guard', { script });
    const session = await agent.session({ id: 'harbour' });
    const { messages } = await session.run('go');

    const seen = (callID: string) => ({ tool: 'work', sessionID: 'harbour', callID });
    expect(lastResult(model).map(({ content }) => content)).toEqual([
      `${JSON.stringify({ n: 1, seen: seen('toolu_1') })} [work 1]`,
      `${JSON.stringify({ n: 2, seen: seen('toolu_2') })} [work 2]`,
    ]);
    // The messages keep the arguments that the model sent.
    expect(JSON.stringify(messages[1])).not.toContain('seen');
  });

  test('blocks a tool call if it throws', async () => {
    const { agent, model } = runOf('env-guard', { script: [calls('work', { path: '.env' }), says('end')] });
    await agent.run('go');

    expect(lastResult(model)).toEqual([
      { content: 'Tool "work" was blocked by plugin "env-guard/EnvGuard": .env files are private', isError: true },
    ]);
  });

  test.each([
    ['before', 'output.args', 'was blocked by'],
    ['after', 'output.output', 'result is withheld'],
  ])(
    'that removes the value of `tool.execute.%s` fails, and the error names that hook',
    async (when, member, content) => {
      const { agent, model, log } = agentWith(
        {
          'm.mjs': `export const A = async () => ({ 'tool.execute.${when}'(_input, output) { ${member} = undefined; } });`,
        },
        { tools: [work] },
      );
      await agent.run('go');

      expect(lastResult(model)).toEqual([{ content: expect.stringContaining(content), isError: true }]);
      expect(log).toMatchObject([
        { extra: { message: expect.stringMatching(`tool.execute.${when} must leave .* \`${member}\``) } },
      ]);
    },
  );

  test('logs through its client, and a warning names its unsupported hooks', async () => {
    const { agent, log } = runOf('env-guard');
    await agent.run('go');

    expect(log).toEqual([
      {
        level: 'warn',
        message: 'Plugin "env-guard/EnvGuard" has opencode hooks that Keelson never calls: chat.params.',
        extra: undefined,
      },
      { level: 'info', message: '[env-guard] work', extra: { directory: process.cwd() } },
    ]);
  });

  test('may log in the format of older releases of opencode', async () => {
    const { agent, log } = agentWith(
      {
        'm.mjs':
          "export const A = async ({ client }) => { await client.app.log({ level: 'warn', message: 'hey' }); return {}; };",
      },
      { script: [says('end')] },
    );
    await agent.run('go');

    expect(log).toEqual([{ level: 'warn', message: '[opencode] hey', extra: undefined }]);
  });

  test('adds tools, and is disposed of when the agent is closed', async () => {
    const disposed: string[] = [];
    Object.assign(globalThis, { opencodeDisposed: disposed });
    const script = [
      calls({ name: 'shout', input: { text: 'ho', times: 2 } }, { name: 'shout', input: {} }, { name: 'ask' }),
      says('end'),
    ];
    const { agent, model, status } = runOf('word-tools', { script });
    await agent.run('go');
    expect(disposed).toEqual([]);
    await agent.close();

    expect(status().plugins.map(({ name }) => name)).toEqual(['word-tools/Words']);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['work', 'shout', 'ask']);
    expect(model.requests[0]?.tools[1]?.inputSchema).toMatchObject({ required: ['text'] });
    expect(lastResult(model)).toEqual([
      { content: 'HOHO string false', isError: false },
      { content: expect.stringContaining('arguments of "shout"'), isError: true },
      { content: expect.stringContaining('`ask` is not available'), isError: true },
    ]);
    expect(disposed).toEqual(['words']);
  });

  test('is disposed of with its own object as `this`', async () => {
    const disposed: string[] = [];
    Object.assign(globalThis, { opencodeOwner: disposed });
    const text =
      'class Words { name = "w"; dispose() { globalThis.opencodeOwner.push(this.name); } }\nexport const A = async () => new Words();';
    const { agent } = agentWith({ 'm.mjs': text }, { script: [says('end')] });
    await agent.run('go');
    await agent.close();

    expect(disposed).toEqual(['w']);
  });

  test('gets a rejection that names the feature if it calls another feature of opencode', async () => {
    const errors: string[] = [];
    const tryAll = async (context: {
      client: { session: { prompt(): Promise<void> } };
      $: (text: TemplateStringsArray) => Promise<void>;
    }) => {
      // Awaiting a missing feature is not a call.
      await context.client.session;
      await context.client.session.prompt().catch((error) => errors.push(error.message));
      await context.$`ls`.catch((error: Error) => errors.push(error.message));
      return {};
    };
    const { agent } = agentWith(
      { 'a.mjs': moduleOf(tryAll).replace('export default', 'export const A =') },
      { script: [says('end')] },
    );
    await agent.run('go');

    expect(errors).toEqual([
      expect.stringContaining('`client.session.prompt` is not available'),
      expect.stringContaining('`$` is not available'),
    ]);
  });

  test('a call of a missing feature without await causes no unhandled rejection', async () => {
    const careless = (context: {
      client: { tui: { showToast(options: object): Promise<void> } };
      $: (text: TemplateStringsArray) => { quiet(): { text(): Promise<string> } };
      serverUrl: { toString(): unknown };
    }) => {
      void context.client.tui.showToast({ body: { message: 'hello' } });
      context.serverUrl.toString();
      JSON.stringify(context);
      return { dispose: () => context.$`ls`.quiet().text() };
    };
    const unhandled = await unhandledDuring(async () => {
      const { agent, log } = agentWith(
        { 'a.mjs': moduleOf(careless as never).replace('export default', 'export const A =') },
        { script: [says('end')] },
      );
      await agent.run('go');
      await agent.close();
      expect(log).toMatchObject([{ level: 'error', extra: { message: expect.stringContaining('`$` is not') } }]);
    });

    expect(unhandled).toEqual([]);
  });

  test.each([
    ['its default', 'export default async () => ({ event() {} });', { format: 'opencode' as const }],
    ['a server', 'export default { id: "x", server: async () => ({ event() {} }) };', {}],
    ['several functions', 'export const A = async () => ({}); export const B = () => ({}); export const n = 1;', {}],
  ])('may export %s', async (_title, text, entry) => {
    const { agent, status } = agentWith(
      { 'm.mjs': text },
      { script: [says('end')], options: { config: [{ path: 'm.mjs', ...entry }] } },
    );
    await agent.run('go');

    expect(status().failures).toEqual([]);
    expect(status().plugins.map(({ name }) => name.split('/')[0])).toContain('m');
  });

  test.each([
    ['that throws', "export const A = async () => { throw new Error('no server'); };", 'no server'],
    ['that returns a number', 'export const A = async () => 7;', 'number'],
    ['that returns null', 'export const A = async () => null;', 'must return hooks, got null'],
    [
      'with a hook that is not a function',
      "export const A = async () => ({ 'tool.execute.before': 1 });",
      'must be a function',
    ],
    [
      'with a tool that does nothing',
      "export const A = async () => ({ tool: { x: { description: 'x' } } });",
      'execute',
    ],
    ['with null as a tool', 'export const A = async () => ({ tool: { x: null } });', 'Tool "x".*execute'],
    [
      'with an invalid tool argument',
      "export const A = async () => ({ tool: { x: { description: 'x', args: { a: 1 }, execute() {} } } });",
      '`a` must be a schema of zod 4',
    ],
  ])('%s is refused, and the error names the file', async (_title, text, problem) => {
    const { agent, status, folder } = agentWith(
      { 'm.mjs': text, 'n.mjs': "export default { name: 'n' };" },
      { script: [says('end')] },
    );
    await agent.run('go');

    expect(status().plugins.map(({ name }) => name)).toEqual(['n']);
    expect(status().failures).toEqual([expect.stringMatching(new RegExp(`${folder}/m.mjs.*${problem}`))]);
  });
});

/** Converts a schema to the form of another zod release. */
function ofOldZod(schema: z.ZodType, notes: object): unknown {
  return { ...schema, _zod: { ...schema._zod, processJSONSchema: undefined }, meta: () => notes };
}

/** Returns the tools that an agent offers, and its model, with a plugin that has this one tool. */
async function runTool(tool: object, input: object) {
  const text = moduleOf((() => ({ tool: { probe: tool } })) as never);
  const { agent, model, status } = agentWith(
    { 'm.mjs': text.replace('export default', 'export const A =') },
    { script: [calls('probe', input), says('end')] },
  );
  await agent.run('go');
  const results = model.requests[1]?.messages.findLast(({ role }) => role === 'tool')?.content;
  return { schema: model.requests[0]?.tools[0]?.inputSchema, results, failures: status().failures };
}

describe('the arguments of its tools', () => {
  const execute = async (args: unknown) => JSON.stringify(args);
  const of = (content: unknown) => [expect.objectContaining({ content })];

  test('may use another release of zod than Keelson', async () => {
    const inner = z.object({ n: ofOldZod(z.number().min(2), { description: 'how many' }) as z.ZodType });
    const args = { inner: ofOldZod(inner, { title: 'Inner', id: 'inner' }), times: z.number().default(3) };
    const { schema, results } = await runTool({ description: 'Probes.', args, execute }, { inner: { n: 2 } });

    expect(schema).toMatchObject({
      properties: {
        inner: { type: 'object', title: 'Inner', properties: { n: { minimum: 2, description: 'how many' } } },
        times: { default: 3 },
      },
      required: ['inner'],
    });
    expect(schema).not.toHaveProperty('properties.inner.id');
    expect(results).toEqual(of('{"inner":{"n":2},"times":3}'));
  });

  test('may be plain JSON Schemas, and are then all required', async () => {
    const args = { path: { type: 'string', description: 'Where.' } };
    const { schema, results } = await runTool({ description: 'Probes.', args, execute }, {});

    expect(schema).toEqual({ type: 'object', properties: args, required: ['path'] });
    expect(results).toEqual(of(expect.stringContaining('arguments of "probe"')));
  });

  test.each([
    ['strings', { a: 'string' }, '`a` must be a schema of zod 4 or a JSON Schema'],
    ['schemas of zod 3', { a: z3.string() }, '`a` must be a schema of zod 4 or a JSON Schema'],
    [
      'a mix of zod and JSON Schema',
      { a: z.string(), b: { type: 'string' } },
      '`b` must be a schema of zod 4, like the other arguments',
    ],
    [
      'of a type that JSON does not have',
      { a: z.date() },
      'Tool "probe" is not valid: its arguments have no JSON Schema',
    ],
  ])('refuse the plugin if they are %s', async (_title, args, problem) => {
    const { failures } = await runTool({ description: 'Probes.', args, execute }, {});

    expect(failures).toEqual([expect.stringContaining(problem)]);
  });
});

test('attachments of its tools are added to their text', async () => {
  const attachments = [
    { type: 'file', mime: 'image/png', url: 'data:image/png;base64,AAAA' },
    { type: 'file', mime: 'text/csv', url: 'data:text/csv;base64,AAAA' },
  ];
  const execute = async () => ({ title: 'Shot', output: 'Here.', metadata: {}, attachments });
  const { results } = await runTool({ description: 'Shoots.', execute }, {});

  expect(results).toEqual([
    expect.objectContaining({
      content: [
        { type: 'text', text: 'Here.' },
        { type: 'image', image: 'data:image/png;base64,AAAA', mediaType: 'image/png' },
        { type: 'file', data: 'data:text/csv;base64,AAAA', mediaType: 'text/csv' },
      ],
    }),
  ]);
});

test('`opencodeClient` replaces the default client', async () => {
  const records: unknown[] = [];
  const opencodeClient = { app: { log: async (record: unknown) => void records.push(record) } };
  const agent = new Agent({
    model: scriptedModel([calls('work', { n: 1 }), says('end')]),
    tools: [work],
    loaders: [plugins({ config: [{ path: fixture('env-guard') }], opencodeClient })],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  await agent.run('go');

  expect(records).toEqual([
    { body: { service: 'env-guard', level: 'info', message: 'work', extra: { directory: process.cwd() } } },
  ]);
});
