import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Expansion, strangersIn, variablesIn } from '../../src/mcp/expansion.js';
import { idAtEnds, LineReader } from '../../src/mcp/line-reader.js';
import { mcpServers } from '../../src/mcp/mcp.js';
import { plainText } from '../../src/mcp/plain-text.js';
import { Refresher } from '../../src/mcp/refresher.js';
import { toolFilter } from '../../src/mcp/tool-patterns.js';
import { fakeClock } from '../agent/support/fake-clock.js';
import { until } from '../agent/support/settle.js';
import { connected, isGone, raw, readLog, temporaryFolder, variable } from './support/lab.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsx = import.meta.resolve('tsx');

test('a list that changes whenever it is read is read less and less often, and soon again where it has kept still', async () => {
  const clock = fakeClock();
  let changes = true;
  let reads = 0;
  const refresher = new Refresher(clock, async () => {
    reads += 1;
    if (changes) refresher.request();
  });
  const read = async () => {
    const before = reads;
    clock.advanceToNext();
    await until(() => reads > before);
    await new Promise((resolve) => setImmediate(resolve));
  };

  refresher.request();
  for (let at = 0; at < 7; at++) await read();
  changes = false;
  await read();
  expect(clock.delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  expect(clock.pending()).toBe(0);

  clock.advance(5_000);
  refresher.request();
  refresher.request();
  expect(clock.delays.slice(8)).toEqual([100]);
});

describe('variables', () => {
  test('are put in once, with defaults, and named where they are missing', () => {
    const expansion = new Expansion({ A: variable('B'), B: 'b', EMPTY: '' });
    const expand = (...names: string[]) => names.map((name) => expansion.text(variable(name)));

    expect(expand('A', 'B', 'EMPTY', 'EMPTY:-d', 'NONE:-', 'NONE:-x y')).toEqual([
      variable('B'),
      'b',
      '',
      'd',
      '',
      'x y',
    ]);
    expect([...expansion.missing]).toEqual([]);
    expect(expand('NONE', 'toString', '__proto__')).toEqual(['', '', '']);
    expect([...expansion.missing]).toEqual(['NONE', 'toString', '__proto__']);
    expect(expansion.text('$B {B} $(B) $$ ${')).toBe('$B {B} $(B) $$ ${');
  });

  test('are named, each once', () => {
    expect(variablesIn([variable('B'), `x${variable('A:-1')}${variable('B')}`, '$C'])).toEqual(['A', 'B']);
    expect(variablesIn([variable('env:TOKEN')])).toEqual(['TOKEN']);
    expect(new Expansion({ TOKEN: 't' }).text(variable('env:TOKEN'))).toBe('t');
  });

  test('are looked for in no time where very many begin and none ends', () => {
    const text = `${variable('A:-1')}${'${A:-'.repeat(200_000)}`;

    expect(variablesIn([text])).toEqual(['A']);
    expect(strangersIn([text]).every((found) => found.startsWith('${A:-') && found.length < 100)).toBe(true);
    expect(new Expansion({}).text(text)).toBe(`1${text.slice(variable('A:-1').length)}`);
  });

  test('are told from what only looks like one', () => {
    const nested = variable(`A:-${variable('B')}`);
    const texts = ['input:key', 'A:=x', 'A-x', '', '1A'].map(variable);

    expect(strangersIn([variable('A'), variable('A:-x'), variable('env:A'), '$A', ...texts, 'open ${'])).toEqual([
      ...texts,
      '${',
    ]);
    expect(strangersIn([nested])).toEqual([variable('B')]);
  });
});

describe('lines', () => {
  test('come out as they went in, however they are cut', () => {
    const line = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replace(/[\r\n]/g, ' '));
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 1, max: 50 }), (lines, size) => {
        const seen: string[] = [];
        const reader = new LineReader(1_000, {
          line: (text) => void seen.push(text),
          tooLong: () => expect.fail('too long'),
        });
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
        const whole = Buffer.from(lines.join('\n')).toString().split('\n');
        expect(seen).toEqual(whole.filter((text) => text.trim() !== ''));
      }),
    );
  });

  test('that are too long leave their two ends, and the next one is whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: 101, max: 5_000 }), fc.integer({ min: 1, max: 700 }), (length, size) => {
        const seen: string[] = [];
        const reader = new LineReader(100, {
          line: (text) => void seen.push(text),
          tooLong: (head, tail) => void seen.push(`${head.slice(0, 3)}…${tail.slice(-3)}`),
        });
        const bytes = Buffer.from(`abc${'x'.repeat(length - 6)}xyz\nnext\n`);
        for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
        expect(seen).toEqual(['abc…xyz', 'next']);
      }),
    );
  });

  test.each([
    ['{"jsonrpc":"2.0","id":7,"result":{', '', 7],
    ['{"id":7,"jsonrpc":"2.0","result":{', '', 7],
    ['{"result":{', '}},"jsonrpc":"2.0","id":12}', 12],
    ['{"result":{', '}},"id":12,"jsonrpc":"2.0"}', 12],
    ['{"result":{', '"x":{"id":12}}', undefined],
    ['{"result":{"id":3,', '"text"}]}}', undefined],
    ['{"jsonrpc":"2.0","method":"x"', '"id":"a"}', undefined],
  ])('the id of %s … %s', (head, tail, id) => {
    expect(idAtEnds(head, tail)).toBe(id);
  });
});

describe('patterns of tools', () => {
  test.each([
    [undefined, [], 'a', true],
    [[], [], 'a', false],
    [['a*c'], [], 'abc', true],
    [['a*c'], [], 'ac', true],
    [['a*a'], [], 'a', false],
    [['*b*'], [], 'abc', true],
    [['a.c'], [], 'abc', false],
    [['*'], ['ab*'], 'abc', false],
    [['a*b*c'], [], 'a-b-b-c', true],
  ] as const)('%j without %j and %s', (...[include, exclude, name, expected]) => {
    expect(toolFilter(include, exclude)(name)).toBe(expected);
  });

  test('of many stars keep nobody waiting', () => {
    expect(toolFilter([`${'*a'.repeat(5_000)}b`], [])('a'.repeat(20_000))).toBe(false);
  });
});

test('what steers a terminal, turns the text around or cannot be seen is taken out of it', () => {
  expect(plainText('a\u001b[31mb\u001b]0;title\u0007c\u0000\u202ed\r\n\te', 100)).toBe('abcd\n\te');
  expect(plainText('re\u200bad \u{e0069}\u{e0067}\u{e006e}\u2060a\ufeff \u0645\u06cc\u200c\u062e', 100)).toBe(
    'read a \u0645\u06cc\u200c\u062e',
  );
  expect(plainText('x'.repeat(5), 3)).toBe('xxx… (5 characters)');
  expect(plainText('🚢🚢', 3)).toBe('🚢… (4 characters)');
});

test('the servers are told the version of the package', async () => {
  const log = join(temporaryFolder(), 'log');
  await connected({ servers: { raw: raw({ log }) } });

  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const [first] = readLog(log).flatMap(({ received }) => received ?? []);
  expect(first?.params).toMatchObject({ clientInfo: { name: 'keelson', version } });
});

test('without the SDK a server is unavailable, and its error says what to install', async () => {
  const folder = temporaryFolder();
  const hook = join(folder, 'hook.mjs');
  writeFileSync(
    hook,
    `export const resolve = (specifier, context, next) => {
      if (specifier.startsWith('@modelcontextprotocol/')) throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(specifier, context);
    };`,
  );
  const script = join(folder, 'main.mts');
  writeFileSync(
    script,
    `import { register } from 'node:module';
    register(${JSON.stringify(`file://${hook}`)});
    const { mcpServers } = await import(${JSON.stringify(`${root}src/mcp/mcp.ts`)});
    const events = [];
    const mcp = mcpServers({ servers: { a: { command: 'node' } }, system: { logger: { error: (text, { code }) => console.log(code, text) } } });
    await mcp.connect();
    console.log(mcp.status()[0].state);`,
  );

  const { stdout } = await promisify(execFile)(process.execPath, ['--import', tsx, script]);

  expect(stdout.trim().split('\n')).toEqual([
    'ERR_PACKAGE_MISSING MCP server "a": The package `@modelcontextprotocol/sdk` could not be loaded. Install it beside keelson: npm install @modelcontextprotocol/sdk',
    'unavailable',
  ]);
});

test('a logger that throws changes nothing about a server', async () => {
  const write = () => {
    throw new Error('full disk');
  };
  const logger = { debug: write, info: write, warn: write, error: write };
  const mcp = mcpServers({ servers: { gone: { command: 'no-such-program' } }, system: { logger } });

  await mcp.connect();

  expect(mcp.status()).toMatchObject([{ state: 'unavailable' }]);
});

test.each(['exit', 'SIGTERM', 'SIGINT'] as const)(
  'no server outlives its host: %s',
  async (way) => {
    const folder = temporaryFolder();
    const log = join(folder, 'log');
    mkdirSync(join(folder, 'host'));
    const script = join(folder, 'host', 'main.mts');
    const config = raw({ log, trap: true, stay: true });
    writeFileSync(
      script,
      `const { mcpServers } = await import(${JSON.stringify(`${root}src/mcp/mcp.ts`)});
    const mcp = mcpServers({ servers: { a: ${JSON.stringify(config)} } });
    await mcp.connect();
    console.log('ready');
    if (${JSON.stringify(way)} === 'exit') process.exit(0);
    setInterval(() => {}, 1000);`,
    );
    const host = spawn(process.execPath, ['--import', tsx, script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(host.stdout, 'data');
    if (way !== 'exit') host.kill(way);

    await once(host, 'exit');

    const [{ pid = 0 } = {}] = readLog(log);
    await until(() => isGone(pid));
  },
  20_000,
);
