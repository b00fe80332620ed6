import { Agent, type AgentLifecycle, type Tool } from 'keelson';
import { anthropic } from 'keelson/anthropic';
import { approval, promptCache, type ToolSearchOptions, toolSearch } from 'keelson/lifecycles';
import { expect, test } from 'vitest';
import type { Message } from '../../../src/model/message.js';
import { startAnthropicServer, stream, text, toolUse } from '../../support/providers/anthropic-server.js';

const NOUNS = ['issue', 'invoice', 'calendar', 'branch'];
const VERBS = ['list', 'create', 'update', 'delete', 'archive', 'move', 'copy', 'export', 'import', 'close'];

function toolOf(name: string): Tool {
  return {
    ...{ name, description: `Does ${name}.`, origin: `mcp:${name.split('_')[1]}` },
    inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
    check: (value: unknown) => ({ value }),
    execute: () => `${name} done`,
  };
}

const tools = NOUNS.flatMap((noun) => VERBS.map((verb) => toolOf(`${verb}_${noun}`)));

const SEARCH = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };

/** The blocks of an answer that searches, in the form of Anthropic's documentation. */
function searched(...names: string[]) {
  return [
    text('I look for a tool.'),
    { type: 'server_tool_use', id: 'srvtoolu_1', name: SEARCH.name, input: { query: 'archive invoice', limit: 5 } },
    {
      type: 'tool_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: {
        type: 'tool_search_tool_search_result',
        tool_references: names.map((tool_name) => ({ type: 'tool_reference', tool_name })),
      },
    },
  ];
}

const SCRIPT = [
  stream({
    content: [...searched('archive_invoice', 'list_invoice'), toolUse('toolu_1', 'archive_invoice', { id: '7' })],
  }),
  stream({ content: [text('Archived.')] }),
];

interface Sent {
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly messages: readonly { readonly content: readonly Readonly<Record<string, unknown>>[] }[];
}

interface Setting {
  readonly script?: typeof SCRIPT;
  readonly search?: ToolSearchOptions;
  readonly tools?: readonly Tool[];
  readonly lifecycle?: readonly AgentLifecycle[];
  readonly messages?: readonly Message[];
  readonly findsTools?: boolean;
  readonly modelId?: string;
}

async function runWith(setting: Setting = {}) {
  await using server = await startAnthropicServer(setting.script ?? SCRIPT);
  const { findsTools = true, modelId = 'claude-sonnet-5' } = setting;
  const model = anthropic(modelId, { apiKey: 'k', baseURL: server.baseURL, findsTools });
  const lifecycle = [toolSearch(setting.search), ...(setting.lifecycle ?? [])];
  const agent = new Agent({ model, tools: setting.tools ?? tools, lifecycle });
  const result = await agent.run('Archive invoice 7.', { ...(setting.messages && { messages: setting.messages }) });
  return { result, sent: server.requests.map(({ body }) => body as unknown as Sent), model };
}

const namesOf = (body: Sent | undefined, isDeferred: boolean) =>
  (body?.tools ?? []).filter((tool) => (tool.defer_loading === true) === isDeferred).map(({ name }) => name);

/** The blocks of Anthropic's search in the messages of a request. */
const searchBlocks = (body: Sent | undefined) =>
  (body?.messages ?? []).flatMap(({ content }) =>
    content.filter(({ type }) => /^(server_tool_use|tool_search)/.test(String(type))),
  );

test('defers the tools of a request, and the loop calls the tool that the search of Anthropic has found', async () => {
  const { result, sent } = await runWith();

  expect(result.text).toBe('Archived.');
  expect(sent).toHaveLength(2);
  expect(sent[0]?.tools?.[0]).toEqual(SEARCH);
  expect(namesOf(sent[0], false)).toEqual([SEARCH.name]);
  expect(namesOf(sent[0], true)).toEqual(tools.map(({ name }) => name));
  // The list of tools stays the same, so the cache of the provider stays valid.
  expect(sent[1]?.tools).toEqual(sent[0]?.tools);
  expect(searchBlocks(sent[1])).toEqual(searched('archive_invoice', 'list_invoice').slice(1));
  expect(result.messages.find(({ role }) => role === 'tool')?.content).toMatchObject([
    { content: 'archive_invoice done' },
  ]);
});

test('keeps pinned tools and the application’s own tools outside of the search', async () => {
  const { origin: _origin, ...clock } = toolOf('clock');
  const search = { pinned: ['list_*'], pinnedServers: ['branch'] };
  const { sent } = await runWith({ search, tools: [clock, ...tools] });

  expect(namesOf(sent[0], false)).toEqual([
    ...[SEARCH.name, 'clock', 'list_issue', 'list_invoice', 'list_calendar'],
    ...VERBS.map((verb) => `${verb}_branch`),
  ]);
});

test('the body of a request with few tools does not change', async () => {
  const few = tools.slice(0, 30);
  const bodies = [];
  for (const findsTools of [true, false]) {
    const { sent } = await runWith({ findsTools, tools: few, script: [stream({ content: [text('Done.')] })] });
    bodies.push(JSON.stringify(sent));
  }

  expect(bodies[0]).toBe(bodies[1]);
  expect(bodies[0]).not.toContain('defer_loading');
});

test('a tool that `beforeToolSelection` removes is not sent, and references to the tool are removed', async () => {
  const guard: AgentLifecycle = {
    name: 'guard',
    beforeToolSelection: (all, run) => (run.turn > 0 ? all.filter(({ name }) => name !== 'list_invoice') : all),
  };
  const { sent } = await runWith({ lifecycle: [guard] });

  expect(namesOf(sent[1], true)).not.toContain('list_invoice');
  expect(searchBlocks(sent[1])).toEqual(searched('archive_invoice').slice(1));
});

test('a found tool needs the approval of the lifecycle `approval`, and the search does not', async () => {
  const { result } = await runWith({ lifecycle: [approval()] });

  expect(result).toMatchObject({ status: 'suspended', pending: [{ name: 'archive_invoice' }] });
});

test('a later run with few tools sends no earlier search, because the API refuses one without a search tool', async () => {
  const { result } = await runWith();
  const { sent } = await runWith({
    messages: result.history,
    tools: tools.slice(0, 20),
    script: [stream({ content: [text('Done.')] })],
  });

  expect(searchBlocks(sent[0])).toEqual([]);
  expect(sent[0]?.messages[1]?.content).toEqual([
    text('I look for a tool.'),
    toolUse('toolu_1', 'archive_invoice', { id: '7' }),
  ]);
});

test('a failed search is an error result in the messages, and is sent back', async () => {
  const failed = {
    type: 'tool_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: { type: 'tool_search_tool_result_error', error_code: 'unavailable' },
  };
  const [said, use] = searched();
  const script = [
    stream({ content: [said, use, failed, toolUse('toolu_1', 'list_issue', {})] as never }),
    stream({ content: [text('Done.')] }),
  ];
  const { result, sent } = await runWith({ script });

  const parts = result.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : [...content]));
  expect(parts).toContainEqual(expect.objectContaining({ type: 'tool-result', isError: true, name: SEARCH.name }));
  expect(searchBlocks(sent[1])).toEqual([use, failed]);
});

test('cache marks are set on a tool that is not deferred', async () => {
  const { sent } = await runWith({ lifecycle: [promptCache()], search: { pinned: ['list_issue'] } });

  const marked = sent[0]?.tools?.filter((tool) => tool.cache_control !== undefined).map(({ name }) => name);
  expect(marked).toEqual(['list_issue']);
});

test('the search tool of the application is used instead', async () => {
  const own = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };
  const lifecycle: AgentLifecycle = {
    name: 'regex',
    wrapModelCall: (request, next) =>
      next({ ...request, settings: { providerOptions: { anthropic: { tools: [own] } } } }),
  };
  const { sent } = await runWith({ lifecycle: [lifecycle] });

  expect(namesOf(sent[0], false)).toEqual([own.name]);
});

test('the search of Keelson is used with `provider: false`, and for a model without a search', async () => {
  const script = [stream({ content: [text('Done.')] })];
  const bodies = [await runWith({ search: { provider: false }, script }), await runWith({ findsTools: false, script })];

  for (const { sent } of bodies) expect(namesOf(sent[0], false)).toEqual(['search_tools']);
});

test.each([
  ['claude-sonnet-5', {}, true],
  ['claude-opus-4-5-20251101', {}, true],
  ['claude-sonnet-4-20250514', {}, undefined],
  ['claude-haiku-4-5', {}, undefined],
  ['claude-sonnet-5', { baseURL: 'https://llm.example.com' }, undefined],
  ['claude-sonnet-5', { client: { messages: { create: () => expect.unreachable() } } }, undefined],
  [
    'claude-sonnet-5',
    { client: { baseURL: 'https://api.anthropic.com', messages: { create: () => expect.unreachable() } } },
    true,
  ],
  ['MiniMax-M2', { findsTools: true }, true],
  ['claude-sonnet-5', { findsTools: false }, undefined],
])('model %s with options %j: findsTools is %j', (modelId, options, expected) => {
  expect(anthropic(modelId, options).findsTools).toBe(expected);
});
