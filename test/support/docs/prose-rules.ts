import { type Passage, splitSentences } from './prose.js';

/** One broken rule of the house style, ready to print: `file:line rule: sentence`. */
export type ProseProblem = string;

const opener = /^["'“(*_]*(What|Whether|Where|Those|Of one|By what)\b/;
const isNone =
  /(?<!\bthere )\b(is|are|was|were|be) no(?! longer| more| later| earlier| less| larger| smaller)\b|\b(is|are|was|were|be) none\b|\bthere is no such\b/i;
const maxWords = 30;

/** The problems of passages of comments and Markdown: openers, "is no …", long sentences, semicolons. */
export function checkProse(passages: readonly Passage[]): ProseProblem[] {
  return passages.flatMap(({ file, line, text }) =>
    splitSentences(text).flatMap((sentence) => {
      const found = wordingProblems(sentence);
      const words = sentence.split(/\s+/).filter((word) => /[A-Za-z0-9]/.test(word)).length;
      if (words > maxWords) found.push(`${words} words, at most ${maxWords}`);
      if ((sentence.match(/;/g)?.length ?? 0) > 1) found.push('more than one semicolon');
      return found.map((rule) => `${file}:${line} ${rule}: ${sentence}`);
    }),
  );
}

/** The problems of string literals: openers and "is no …". Questions are left alone, since they are data of tests. */
export function checkLiterals(passages: readonly Passage[]): ProseProblem[] {
  return passages.flatMap(({ file, line, text }) =>
    splitSentences(text)
      .filter((sentence) => !sentence.endsWith('?'))
      .flatMap((sentence) => wordingProblems(sentence).map((rule) => `${file}:${line} ${rule}: ${sentence}`)),
  );
}

function wordingProblems(sentence: string): string[] {
  const found: string[] = [];
  if (opener.test(sentence) && !sentence.endsWith('?')) found.push(`opens with "${opener.exec(sentence)?.[1]}"`);
  if (isNone.test(sentence)) found.push('"is no …" or "is none"');
  return found;
}
