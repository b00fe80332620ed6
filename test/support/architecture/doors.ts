import ts from 'typescript';
import { descendants, parse, type SourceFile } from './source-file.js';

/** The folders of `test` whose files use the library only through its public entries. */
const THROUGH_THE_DOOR = [
  ...['agent', 'concepts', 'lifecycle', 'lifecycles', 'model', 'skills', 'tools'],
  ...['support/agent', 'support/concepts', 'support/lifecycle'],
];

/** The tests of an algorithm that no public entry shows, each with its name, and a check that changes the code. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  'agent/protocol/nested-faults.ts': 'faults that are planted in the code of nested runs',
  'agent/protocol/plant.ts': 'faults that are planted in the code of sessions and stores',
  'agent/protocol/planted-faults.ts': 'faults that are planted in the code of sessions and stores',
  'agent/protocol/rules/end-rules.ts': 'derivation of what waits from a record',
  'concepts/wiki-links.test.ts': 'scanner of links',
  'lifecycles/compaction/fit-to-window.test.ts':
    'size of the context window in an error, and cuts of results to fit it',
  'lifecycles/tool-search/index-tools.test.ts': 'text search over tools',
  'model/check-messages.test.ts': 'check of a list of messages',
  'model/denial.test.ts': 'texts of denials',
  'skills/file.test.ts': 'reader of SKILL.md',
  'skills/front-matter.test.ts': 'parser of front matter',
  'support/agent/trees/crash-play.ts': 'derivation of what waits from a record',
};

/** Reports files that import or read a file of `src` by its path. The paths of `files` are relative to `test`. */
export function doorViolations(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => THROUGH_THE_DOOR.some((folder) => path.startsWith(`${folder}/`)) && !(path in ALGORITHMS))
    .flatMap((file) =>
      descendants(parse(file))
        .filter(ts.isStringLiteralLike)
        .filter(({ text }) => /^(\.\.\/)+src(\/|$)/.test(text))
        .map(({ text }) => `test/${file.path} names ${text} instead of a public entry`),
    );
}
