import type { ToolSpec } from 'keelson';
import { describe, expect, test } from 'vitest';
import { indexTools } from '../../../src/lifecycles/tool-search/index-tools.js';

function tool(name: string, description = '', inputSchema: ToolSpec['inputSchema'] = { type: 'object' }): ToolSpec {
  return { name, description, inputSchema };
}

const others = Array.from({ length: 40 }, (_, at) => tool(`alpha_${at}`, `Does alpha number ${at}.`));

/** Returns the names of the tools that a search finds, the best match first. */
async function found(query: string, ...tools: readonly ToolSpec[]): Promise<readonly string[]> {
  return (await indexTools([...others, ...tools]))(query);
}

describe('a search finds a word in a language without blanks:', () => {
  const tools = [
    tool('tickets', '查询12306余票信息。返回车次列表。'),
    tool('translate', '文章を翻訳するツール'),
    tool('weather', '날씨를 조회합니다'),
    tool('trains', 'ค้นหาตั๋วรถไฟ'),
  ];

  test.each([
    ...['余票', '查询', '查询余票', '车次', '12306'].map((query) => [query, 'tickets']),
    ...['翻訳', '文章', 'ツール', '文章を翻訳', '翻'].map((query) => [query, 'translate']),
    ...['날씨', '날씨를', '조회'].map((query) => [query, 'weather']),
    ...['รถไฟ', 'ตั๋ว'].map((query) => [query, 'trains']),
  ])('%s', async (query = '', name) => {
    expect(await found(query, ...tools)).toEqual([name]);
  });

  test('a word without a match finds nothing', async () => {
    expect(await found('地図', ...tools)).toEqual([]);
  });
});

describe('a search finds a tool by the name of an argument', () => {
  const gearbox = { type: 'object', properties: { gearbox: {} } };

  test.each<[string, ToolSpec['inputSchema']]>([
    ['behind anyOf', { properties: { filter: { anyOf: [gearbox, { type: 'null' }] } } }],
    ['behind a reference', { properties: { f: { $ref: '#/$defs/a~1b' } }, $defs: { 'a/b': gearbox } }],
    ['behind alternatives at the root', { oneOf: [{ allOf: [gearbox] }, { type: 'null' }] }],
    ['in the items of an array', { properties: { list: { items: { $ref: '#/properties/one' } }, one: gearbox } }],
    [
      'in a recursive schema',
      { properties: { again: { $ref: '#/$defs/a' } }, $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, gearbox] } } },
    ],
  ])('%s', async (_title, schema) => {
    expect(await found('gearbox', tool('get', 'Gets.', { type: 'object', ...schema }))).toEqual(['get']);
  });
});

describe('a search finds a tool of an MCP server by the name that the server gave it:', () => {
  test.each([
    ['mcp__few__3f2a1b', '翻訳', '翻訳'],
    ['mcp__few__gr_e_messen', 'größe_messen', 'größe_messen'],
    ['mcp__few__9d8c', 'createInvoice', 'invoice'],
  ])('%s', async (name, mcpTool, query) => {
    expect(await found(query, { ...tool(name), metadata: { mcpServer: 'few', mcpTool } } as ToolSpec)).toEqual([name]);
  });
});

describe('a search finds an English word in another number:', () => {
  const pairs: readonly (readonly [plural: string, singular: string])[] = [
    ...['company', 'query', 'policy', 'entry'].map((word) => [word.replace(/y$/, 'ies'), word] as const),
    ...['box', 'status', 'alias', 'match', 'address', 'hero'].map((word) => [`${word}es`, word] as const),
    ...['cache', 'database', 'issue', 'movie', 'api', 'analytic', 'invoice'].map((word) => [`${word}s`, word] as const),
    ['indices', 'index'],
  ];

  test.each(pairs)('%s and %s', async (plural, singular) => {
    expect(await found(plural, tool(`get_${singular}`))).toEqual([`get_${singular}`]);
    expect(await found(singular, tool(`list_${plural}`))).toEqual([`list_${plural}`]);
  });
});

describe('a search finds two words of a name that are written together:', () => {
  test.each([
    ['pullrequest', 'getPullRequest'],
    ['pullrequests', 'get_pull_request'],
    ['PULLREQUEST', 'list-pull-requests'],
    ['httpserver', 'startHTTPServer'],
    ['s3buckets', 'createS3Bucket'],
  ])('%s', async (query, name) => {
    expect(await found(query, tool(name), tool('mcp__s__other'))).toEqual([name]);
  });
});

describe('a search without a match allows more edits:', () => {
  test.each([
    ['waether', 'get_weather'],
    ['isue', 'create_issue'],
    ['translation', 'translate'],
  ])('%s', async (query, name) => {
    expect(await found(query, tool(name), tool('get_zebra'))).toEqual([name]);
  });

  test('and finds nothing that differs more', async () => {
    expect(await found('wahteer xyzzy', tool('get_weather'))).toEqual([]);
  });
});

test.each([' zebra', ',zebra', '\nzebra '])('a search ignores blanks and commas around words: %j', async (query) => {
  expect(await found(query, tool('zebra'))).toEqual(['zebra']);
});

test('a large index leaves the thread to other work', async () => {
  const word = (at: number) => (at * 7_919).toString(36);
  const text = (at: number) => Array.from({ length: 400 }, (_, index) => word(at * 400 + index)).join(' ');
  const large = Array.from({ length: 500 }, (_, at) => tool(`t${at}`, text(at)));
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  });
  const find = await indexTools(large);
  clearInterval(timer);

  expect(find(word(4_000))[0]).toBe('t10');
  expect(turns).toBeGreaterThan(10);
});
