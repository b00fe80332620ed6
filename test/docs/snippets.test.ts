import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Block, blocksOf, readPages, root } from '../support/docs/doc-files.js';

const snippets = readdirSync(`${root}examples/snippets`).map((name) => `examples/snippets/${name}`);
const examples = ['', 'plugins/'].flatMap((folder) =>
  readdirSync(`${root}examples/${folder}`)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => folder + name),
);

interface Region {
  readonly name: string;
  readonly code: string;
}

/** Returns the code between each `// #region name` and `// #endregion`, without common indentation. */
function regionsOf(path: string, text: string): Region[] {
  const found = text.matchAll(/^ *\/\/ #region (\S+)\n([\s\S]*?)^ *\/\/ #endregion$/gm);
  return [...found].map(([, name = '', code = '']) => ({ name: `${path}#${name}`, code: withoutIndent(code) }));
}

function withoutIndent(code: string): string {
  const lines = code.split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const indent = Math.min(...indents);
  return lines
    .map((line) => line.slice(indent))
    .join('\n')
    .trim();
}

const regions = [...snippets, ...examples.map((name) => `examples/${name}`)].flatMap((path) =>
  regionsOf(path, readFileSync(root + path, 'utf8')),
);
const programs = readdirSync(`${root}examples/pages`).map((name) => ({
  name: `examples/pages/${name}`,
  code: readFileSync(`${root}examples/pages/${name}`, 'utf8').trim(),
}));
const blocks = readPages().flatMap(blocksOf);

/** The programs of `npm run embed`, in the languages of other libraries. */
const embedded = readdirSync(`${root}test/embed`, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(js|cjs|mjs|jsonc)$/.test(name))
  .map((name) => readFileSync(`${root}test/embed/${name}`, 'utf8').trim());

function strayBlocks(given: readonly Block[], known: readonly Region[]): string[] {
  const code = new Set(known.map((region) => region.code));
  return (
    given
      // `typescript` marks the code of other libraries. A test of the handler runs `nginx`.
      .filter(
        (block) => !['sh', 'text', 'json', 'typescript', 'nginx'].includes(block.language) && !code.has(block.code),
      )
      .map(({ path, line, code: text }) => `${path}:${line} is not a region of an example: ${text.split('\n')[0]}`)
  );
}

describe('S4-NFR3.2, S4-FR3.AC: code in the docs is cut from files that compile and run', () => {
  test('each block is a region of such a file', () => {
    expect(strayBlocks(blocks, [...regions, ...programs])).toEqual([]);
  });

  test('each region of an example is used in the docs', () => {
    const shown = new Set(blocks.map(({ code }) => code));

    expect([...regions, ...programs].filter(({ code }) => !shown.has(code)).map(({ name }) => name)).toEqual([]);
  });

  test('each server of another framework is a file that `npm run embed` starts', () => {
    const shown = blocks.filter(({ path, language }) => path === 'docs/in-your-framework.md' && language !== 'ts');

    expect(shown.length).toBeGreaterThan(10);
    expect(shown.filter(({ code }) => !embedded.includes(code)).map(({ line }) => line)).toEqual([]);
  });

  test('a changed code block and a block in another language are found', () => {
    const known = regionsOf('a.ts', '{\n  // #region x\n  const a = {\n    b,\n  };\n  // #endregion\n}\n');
    const page = (code: string, language = 'ts') =>
      blocksOf({ path: 'a.md', text: `\`\`\`${language}\n${code}\n\`\`\`\n` });

    expect(strayBlocks(page('const a = {\n  b,\n};'), known)).toEqual([]);
    expect(strayBlocks(page('const a = {};'), known)).toEqual(['a.md:1 is not a region of an example: const a = {};']);
    expect(strayBlocks(page('let a;', 'js'), known)).toHaveLength(1);
    expect(strayBlocks(page('npm test', 'sh'), known)).toEqual([]);
  });

  // test/examples runs the other examples, each as its own program.
  test.each(snippets)(
    '%s runs',
    async (path) => {
      await import(root + path);
    },
    60_000,
  );
});
