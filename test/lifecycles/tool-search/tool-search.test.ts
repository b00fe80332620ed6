import { Agent, type AgentLifecycle, createToolSet, defineTool, type Message, type Tool } from 'keelson';
import { approval, type ToolSearchOptions, toolSearch } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';

const VERBS = 'list create update delete archive restore export import copy move'.split(' ');
const NOUNS =
  'issue invoice customer order repository branch calendar message file channel product ticket payment page report webhook deployment secret label comment member team project task note contact campaign survey domain certificate'.split(
    ' ',
  );

/** Returns 300 tools: ten verbs for each of thirty nouns. */
function manyTools(origin?: (noun: string) => string): readonly Tool[] {
  return NOUNS.flatMap((noun) =>
    VERBS.map((verb) => ({
      name: `mcp__${noun}s__${verb}_${noun}`,
      description: `${verb} a ${noun} in the workspace of the current user, with the permissions of that user.`,
      inputSchema: {
        type: 'object' as const,
        properties: {
          [`${noun}_id`]: { type: 'string', description: `The id of the ${noun}.` },
          reason: { type: 'string' },
        },
        required: [`${noun}_id`],
      },
      check: (value: unknown) => ({ value }),
      execute: () => `${verb} ${noun}`,
      ...(origin && { origin: origin(noun) }),
    })),
  );
}

const tools = manyTools((noun) => `mcp:${noun}s`);
const clock = defineTool({
  name: 'clock',
  description: 'Tells the time.',
  input: { type: 'object', properties: {} },
  execute: () => 'noon',
});

async function runWith(
  script: Parameters<typeof scriptedModel>[0],
  options: ToolSearchOptions = {},
  more: { tools?: readonly Tool[]; lifecycle?: readonly AgentLifecycle[] } = {},
) {
  const model = scriptedModel(script);
  const agent = new Agent({
    model,
    tools: more.tools ?? tools,
    lifecycle: [toolSearch(options), ...(more.lifecycle ?? [])],
  });
  const result = await agent.run('Archive invoice 7.');
  return { model, result, offered: model.requests.map((request) => request.tools.map(({ name }) => name)) };
}

/** Returns the results of the tool calls. */
function resultsOf({ messages }: { readonly messages: readonly Message[] }) {
  const results = messages.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  return results.map(({ content, isError }) => ({ content: String(content), isError }));
}

describe('toolSearch', () => {
  test('lets a model find and call one of 300 tools in two extra turns, with a tenth of the bytes', async () => {
    const { model, offered, result } = await runWith([
      calls('search_tools', { query: 'archive an invoice' }),
      calls('mcp__invoices__archive_invoice', { invoice_id: '7' }),
      says('done'),
    ]);
    const bytesOf = (sent: unknown) => JSON.stringify(sent).length;
    const all = bytesOf(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })));

    expect(result.messages.at(-2)?.content).toMatchObject([{ content: 'archive invoice' }]);
    expect(offered[0]).toEqual(['search_tools']);
    expect(offered[1]).toContain('mcp__invoices__archive_invoice');
    for (const request of model.requests) expect(bytesOf(request.tools)).toBeLessThan(all / 10);
  });

  test.each([
    ['archive invoice', 'mcp__invoices__archive_invoice'],
    ['deleting certificates', 'mcp__certificates__delete_certificate'],
    ['webhook_id', 'mcp__webhooks__'],
    ['mcp__teams__move_team', 'mcp__teams__move_team'],
    ['copy repositry', 'mcp__repositorys__copy_repository'],
  ])('finds by %j', async (query, name) => {
    const { offered } = await runWith([calls('search_tools', { query }), says('done')]);

    expect(offered[1]?.some((offer) => offer.startsWith(name))).toBe(true);
  });

  test('does not change a request with few tools', async () => {
    const few = tools.slice(0, 30);
    const plain = scriptedModel(['done']);
    await new Agent({ model: plain, tools: few }).run('Archive invoice 7.');

    const { model } = await runWith(['done'], {}, { tools: few });

    const sent = ({ requests }: typeof model) => JSON.stringify(requests.map(({ signal, ...request }) => request));
    expect(sent(model)).toBe(sent(plain));
  });

  test('keeps the application’s own tools, pinned tools and pinned servers', async () => {
    const { offered } = await runWith(
      ['done'],
      { pinned: ['*__list_team'], pinnedServers: ['notes'] },
      { tools: [clock, ...tools] },
    );

    expect(offered[0]).toHaveLength(1 + 1 + 10 + 1);
    expect(offered[0]).toContain('clock');
    expect(offered[0]).toContain('mcp__teams__list_team');
    expect(offered[0]).toContain('mcp__notes__copy_note');
  });

  test('searches the application’s own tools if they are many', async () => {
    const { offered } = await runWith(['done'], {}, { tools: manyTools() });

    expect(offered[0]).toEqual(['search_tools']);
  });

  test.each([
    ['session', true],
    ['run', false],
  ] as const)('with `keep: %j`, offers a found tool in a later run of the conversation: %j', async (keep, isKept) => {
    const { result } = await runWith([calls('search_tools', { query: 'archive invoice' }), 'done']);
    const model = scriptedModel(['done']);
    const agent = new Agent({ model, tools, lifecycle: [toolSearch({ keep })] });

    await agent.run('Go on.', { messages: result.history });

    expect(model.requests[0]?.tools.some(({ name }) => name === 'mcp__invoices__archive_invoice')).toBe(isKept);
  });

  test('does not find a tool that `beforeToolSelection` removes', async () => {
    const guard: AgentLifecycle = {
      name: 'guard',
      beforeToolSelection: (all) => all.filter(({ name }) => !name.includes('archive')),
    };
    const { offered, result } = await runWith(
      [calls('search_tools', { query: 'archive invoice' }), says('done')],
      {},
      { lifecycle: [guard] },
    );

    expect(offered[1]?.filter((name) => name.includes('archive'))).toEqual([]);
    expect(JSON.stringify(result.messages)).not.toContain('archive_invoice');
  });

  test('a found tool needs the approval of the lifecycle `approval`, and the search does not', async () => {
    const { result } = await runWith(
      [
        calls('search_tools', { query: 'archive invoice' }),
        calls('mcp__invoices__archive_invoice', { invoice_id: '7' }),
        says('done'),
      ],
      {},
      { lifecycle: [approval()] },
    );

    expect(result).toMatchObject({ status: 'suspended', pending: [{ name: 'mcp__invoices__archive_invoice' }] });
  });

  test('answers a search without a match or without words', async () => {
    const { result } = await runWith([
      calls('search_tools', { query: 'zzzz' }),
      calls('search_tools', {}),
      says('done'),
    ]);

    const results = result.messages
      .filter(({ role }) => role === 'tool')
      .flatMap(({ content }) => content as readonly object[]);
    expect(results).toMatchObject([
      { content: expect.stringContaining('No tool matches "zzzz"') },
      { isError: true, content: expect.stringContaining('`query` must be a string') },
    ]);
  });

  test.each([
    ['one long word', 'a'.repeat(100_000)],
    ['many words', 'issue invoice customer order '.repeat(4_000)],
    ['many different words', Array.from({ length: 20_000 }, (_, at) => `word${at.toString(36)}`).join(' ')],
    ['many characters of a language without blanks', '查询余票信息'.repeat(20_000)],
  ])('reads only the beginning of a query of %s', async (_title, words) => {
    const { result } = await runWith([calls('search_tools', { query: `archive invoice ${words}` }), says('done')]);
    const [answer] = resultsOf(result);

    expect(answer?.isError).toBe(undefined);
    expect(answer?.content).toContain('Only the first 500 characters of `query` were read.');
    expect(answer?.content).toContain('mcp__invoices__archive_invoice');
    expect(answer?.content.length).toBeLessThan(5_000);
  });

  test.each([
    ['found', {}],
    ['pinned', { pinned: ['*archive_invoice'] }],
    ['pinned with its server', { pinnedServers: ['invoices'] }],
  ])('says that a tool is offered already if it is %s', async (_title, options) => {
    const query = 'mcp__invoices__archive_invoice';
    const { result } = await runWith(
      [calls('search_tools', { query }), calls('search_tools', { query }), says('done')],
      options,
    );
    const [, second] = resultsOf(result);

    expect(second?.content).toContain(`You have these tools already: ${query}`);
    expect(second?.content).not.toContain('No tool matches');
    expect(second?.content).not.toContain(`- ${query}:`);
  });

  test('searches the arguments that a tool has now', async () => {
    const withArgument = (name: string) => ({ ...clock, inputSchema: { type: 'object', properties: { [name]: {} } } });
    const set = createToolSet([...manyTools(), withArgument('zone')]);
    const model = scriptedModel(
      ['zone', 'zone', 'gearbox'].flatMap((query) => [calls('search_tools', { query }), 'done']),
    );
    const agent = new Agent({ model, tools: set, lifecycle: [toolSearch({ keep: 'run' })] });
    const first = await agent.run('Hi');
    set.remove('clock');
    set.add(withArgument('gearbox'));
    const later = [await agent.run('Hi'), await agent.run('Hi')];

    const contents = [first, ...later].map((result) => resultsOf(result)[0]?.content.includes('clock'));
    expect(contents).toEqual([true, false, true]);
  });

  test.each([
    ['a search', false],
    ['the search of the provider', true],
  ])('names at most the nearest tool if the model calls an unknown tool: with %s', async (_title, findsTools) => {
    const script = [calls('archive_invoce'), calls('archive_invoice'), calls('zzz'), says('done')];
    const model = { ...scriptedModel(script), findsTools };
    const result = await new Agent({ model, tools, lifecycle: [toolSearch()] }).run('Hi');
    const [typo, short, unknown] = resultsOf(result).map(({ content }) => content);

    expect(typo).toContain('There is no tool "archive_invoce".');
    expect(short).toContain('There is no tool "archive_invoice". Did you mean "mcp__invoices__archive_invoice"?');
    expect(unknown).toContain('There is no tool "zzz".');
    expect(unknown?.length).toBeLessThan(100);
    expect(unknown?.includes('search_tools')).toBe(!findsTools);
  });

  test.each([10, 100])(
    'offers the search tool first, and the latest of very many found tools: %i results',
    async (results) => {
      const search = (query: string) => ({ name: 'search_tools', input: { query } });
      const { offered } = await runWith(
        [calls(search('list'), ...NOUNS.map(search)), calls(search('ticket')), says('done')],
        {
          results,
        },
      );

      for (const names of offered.slice(1)) {
        expect(names[0]).toBe('search_tools');
        expect(names.length).toBeLessThan(128);
        expect(names.filter((name) => name.includes('certificates__'))).toHaveLength(10);
        expect(names.filter((name) => name.includes('issues__'))).toHaveLength(0);
      }
      expect(offered[2]?.filter((name) => name.includes('tickets__'))).toHaveLength(10);
    },
  );

  test.each([
    [{ over: -1 }, '`over`'],
    [{ keep: 'turn' }, '`keep`'],
    [{ name: 'a b' }, '`name`'],
    [{ pin: [] }, '`pin`'],
  ])('refuses the options %j', (options, message) => {
    expect(() => toolSearch(options as never)).toThrow(message);
  });
});
