import type { TrustItem } from 'keelson/trust';
import { expect, test } from 'vitest';
import { readCommandLine } from '../../../src/trust/fingerprint/command-line.js';
import { growth } from '../../support/growth.js';

const item = { kind: 'hook', scope: 'workspace', name: 'lint' } as const;
const read = (more: Partial<TrustItem>, variables = {}) => {
  const { words, isPlain } = readCommandLine({ ...item, ...more }, variables);
  return { words: [...words].filter((word) => word !== ''), isPlain };
};
const line = (command: string, variables = {}) => read({ shell: true, command }, variables);

test.each([
  'sh hooks/lint.sh --fast',
  '  sh  hooks/lint.sh  --fast\n',
  `"sh" 'hooks/lint.sh' --f'a's"t"`,
  'sh\thooks/lint.sh\\\n --fast',
])('isPlain is true without shell syntax: %j', (command) => {
  expect(line(command)).toEqual({ words: ['sh', 'hooks/lint.sh', '--fast'], isPlain: true });
});

test.each([
  'cd hooks && sh lint.sh',
  'a; b',
  'a\nb',
  'a | b',
  'a &',
  '(a)',
  'a > b',
  'a < b',
  'A=b a',
  'A+=b a',
  'NODE_OPTIONS=--import=./x.mjs node y',
  'a $B',
  'a "$B"',
  'a $(b)',
  'a "`b`"',
  'a *.sh',
  'a ?.sh',
  'a [b].sh',
  'a {b,c}.sh',
  'a ~/b',
  '! a',
  'a # b',
  "a $'\\x62'",
  `sh -c 'a; b'`,
  `sh -c "sh -c 'a; b'"`,
  'sh -c a\\;b',
])('isPlain is false with shell syntax: %j', (command) => {
  expect(line(command).isPlain).toBe(false);
});

test('a program path may contain =', () => {
  expect(line('./a=b c')).toEqual({ words: ['./a=b', 'c'], isPlain: true });
});

test('the value of an option is a word of its own', () => {
  expect(line('lint --rules=hooks/rules.js -c=x').words).toEqual([
    ...['lint', '--rules=hooks/rules.js', 'hooks/rules.js', '-c=x', 'x'],
  ]);
});

test('a command line has at most 131,072 characters, arguments included', () => {
  const args = ['x'.repeat(65_536), 'y'.repeat(65_535)];

  expect(read({ command: 'z', args }).isPlain).toBe(true);
  expect(() => read({ command: 'zz', args })).toThrow(
    expect.objectContaining({
      problem: 'too-large',
      message: 'The command line must have at most 131072 characters.',
    }),
  );
});

test('files that output is redirected to are left out, and files opened for reading are not', () => {
  expect(line('a > b >> c >| "d e" &> f < g <> h').words).toEqual(['a', 'g', 'h']);
});

test('isPlain is true for shell syntax in quotes or after a backslash', () => {
  expect(line(`a 'b;$c' "d;e" f\\;g "h\\$i"`)).toEqual({ words: ['a', 'b;$c', 'd;e', 'f;g', 'h$i'], isPlain: true });
});

test('a line break in quotes is kept, and is removed after a backslash', () => {
  expect(line(`a "b\nc" 'd\\\ne' "f\\\ng" h\\\ni`)).toEqual({
    words: ['a', 'b\nc', 'd\\\ne', 'fg', 'hi', 'b', 'c', 'de'],
    isPlain: false,
  });
});

test('the words of a line with shell syntax are found', () => {
  expect(line('cd a&&sh b|c;d<e').words).toEqual(['cd', 'a', 'sh', 'b', 'c', 'd', 'e']);
});

test.each(['cat >log', 'cat >> "log"', 'cat 2>|log', 'cat &>log', 'cat >\tlog x', 'cat >log; x'])(
  'a file that output is redirected to is left out: %j',
  (command) => {
    const { words, isPlain } = line(command);

    expect([words.includes('cat'), words.includes('log'), isPlain]).toEqual([true, false, false]);
    expect(words.includes('x')).toBe(command.endsWith('x'));
  },
);

test('a known variable is replaced before the line is split', () => {
  const variables = { ROOT: `/a b/"$(c)'` };

  expect(line('"$ROOT"/x', variables)).toEqual({ words: [`/a b/"$(c)'/x`], isPlain: true });
  expect(line(`\${ROOT}/x \${ROOT:-.}/y $ROOTS`, variables)).toEqual({
    words: [`/a b/"$(c)'/x`, `/a b/"$(c)'/y`, '$ROOTS'],
    isPlain: false,
  });
  expect(line('$constructor/x', variables).words).toEqual(['$constructor/x']);
});

test('an argument is split only if it contains white space or follows -c', () => {
  expect(read({ command: 'x', args: ['a;b', '-c', 'd;e', 'f g'] }).words.sort()).toEqual([
    ...['-c', 'a;b', 'd', 'd;e', 'e', 'f', 'f g', 'g', 'x'],
  ]);
  expect(read({ command: 'x', args: ['https://y/?a=1&b=*', '$(id)'] }).isPlain).toBe(true);
  expect(read({ command: 'x', args: ['-color', 'a;b', '-C', 'c;d'] }).isPlain).toBe(true);
});

test('a program without a shell is one word, also with white space and shell characters in its path', () => {
  expect(read({ command: '/opt/a (b)/x' })).toEqual({ words: ['/opt/a (b)/x'], isPlain: true });
});

test('in an MCP server entry a variable becomes its value', () => {
  const args = [`\${TOKEN}`, `--in=\${DIR:-src}/x`, `\${workspaceFolder}/y`, '-c', `sh \${TOKEN}`];
  const { words, isPlain } = read({ kind: 'mcp-server', command: 'x', args }, { workspaceFolder: '/ws' });

  expect(isPlain).toBe(true);
  expect(words).toEqual(expect.arrayContaining(['src/x', '/ws/y', 'sh']));
});

test.each(['"', "'", '\\', '$(', '`', '${', '${A:-', ' "', " '", '>', '< ', '"\'', '\\"', "-c '"])(
  'a line designed to be slow is split in linear time: %j',
  async (piece) => {
    const split = (size: number) => {
      const text = piece.repeat(size / piece.length);
      return () => {
        line(text, { A: 'b' });
        read({ kind: 'mcp-server', args: [text] }, { A: 'b' });
      };
    };

    expect(await growth(4_096, split)).toBeLessThan(100);
  },
);
