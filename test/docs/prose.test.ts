import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { OptionInvalidError } from '../../src/errors.js';
import { messages } from '../support/docs/collect-option-errors.js';
import { root } from '../support/docs/doc-files.js';
import { isHelpfulOptionMessage } from '../support/docs/option-messages.js';
import { type Passage, readComments, readLiterals, readMarkdown } from '../support/docs/prose.js';
import { checkLiterals, checkProse } from '../support/docs/prose-rules.js';

const folders = ['src', 'test', 'docs', 'examples', 'bench', 'scripts'];
const pages = ['README.md', 'AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
/** Files that must keep their words, or that quote bad examples. At most ten with `allowedMessages`. */
const allowed = ['test/support/base-suite.ts', 'test/docs/prose.test.ts', 'test/support/docs/prose-rules.ts'];
/** A message that test/support/base-suite.ts asserts. */
const allowedMessages = ['" are no JSON:'];

function filesIn(folder: string): string[] {
  return readdirSync(root + folder, { recursive: true })
    .map((path) => `${folder}/${path}`.replaceAll('\\', '/'))
    .filter((path) => !/^docs\/api\/|\/fixtures\/|\/node_modules\//.test(path));
}

function filesOf(kind: RegExp): { file: string; text: string }[] {
  return [...folders.flatMap(filesIn), ...pages]
    .filter((file) => kind.test(file) && !allowed.includes(file))
    .map((file) => ({ file, text: readFileSync(root + file, 'utf8') }));
}

describe('the words of the house', () => {
  let code: readonly { readonly comments: Passage[]; readonly literals: Passage[] }[] = [];

  beforeAll(() => {
    code = filesOf(/\.(ts|mjs)$/).map(({ file, text }) => ({
      comments: readComments(file, text),
      literals: readLiterals(file, text),
    }));
  }, 120_000);

  test('the list of exceptions is short', () => {
    expect(allowed.length + allowedMessages.length).toBeLessThanOrEqual(10);
  });

  test('comments follow the rules', () => {
    expect(checkProse(code.flatMap(({ comments }) => comments))).toEqual([]);
  });

  test('messages and test titles follow the rules', () => {
    const problems = checkLiterals(code.flatMap(({ literals }) => literals));

    expect(problems.filter((problem) => !allowedMessages.some((text) => problem.includes(text)))).toEqual([]);
  });

  test('documents follow the rules', () => {
    expect(checkProse(filesOf(/\.md$/).flatMap(({ file, text }) => readMarkdown(file, text)))).toEqual([]);
  });
});

describe('the checks', () => {
  const comment = (text: string) => checkProse(readComments('a.ts', text));
  const long = `It ${'very '.repeat(30)}long.`;

  test.each([
    ['an opener', '/** Whether it is open. */', 'opens with "Whether"'],
    ['an opener after another sentence', '// Closes it.\n// What is left goes.', 'opens with "What"'],
    ['"is no"', '/** The name is no string. */', 'is no'],
    ['"is none"', '/** A tool that is none. */', 'is none'],
    ['"there is none"', '/** Returns undefined if there is none. */', 'is none'],
    ['a long sentence', `/** ${long} */`, '32 words'],
    ['two semicolons', '/** Opens; reads; closes. */', 'semicolon'],
  ])('find %s in a comment', (_what, source, problem) => {
    expect(comment(source)).toEqual([expect.stringContaining(problem)]);
  });

  test('find an opener in a literal and in a page', () => {
    expect(checkLiterals(readLiterals('a.ts', "f('What it has is lost');"))).toHaveLength(1);
    expect(checkLiterals(readLiterals('a.ts', 'f(`$' + '{name} is no file`);'))).toHaveLength(1);
    expect(checkProse(readMarkdown('a.md', '# What it has not\n\nText.\n'))).toHaveLength(1);
    expect(checkProse(readMarkdown('a.md', '| a | Whether it is open |\n'))).toHaveLength(1);
  });

  test('leave questions, code and ordinary sentences alone', () => {
    expect(checkLiterals(readLiterals('a.ts', "run('What is the weather?');"))).toEqual([]);
    expect(
      checkProse(readMarkdown('a.md', '```ts\n// What is this\n```\n\nIf there is no session, it opens one.\n')),
    ).toEqual([]);
    expect(comment('/**\n * Adds.\n * @example\n * What is(this);\n */')).toEqual([]);
  });

  test('see every option error that a test file makes', () => {
    const message = '`probe` must be a string, got 1';
    expect(new OptionInvalidError('probe', message).message).toBe(message);

    expect(messages).toContain(message);
  });

  test('find an option error that lacks the option, the expectation or the value', () => {
    expect(isHelpfulOptionMessage('`maxTurns` must be a positive integer, got 0')).toBe(true);
    expect(isHelpfulOptionMessage('unknown option `maxSteps`; use `maxTurns`')).toBe(true);
    expect(isHelpfulOptionMessage('maxTurns must be a positive integer, got 0')).toBe(false);
    expect(isHelpfulOptionMessage('`maxTurns` must be a positive integer')).toBe(false);
    expect(isHelpfulOptionMessage('`maxTurns` is wrong, got 0')).toBe(false);
  });
});
