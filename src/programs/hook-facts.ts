import { type Cell, known } from './cell.js';
import type { HookTable } from './hook-table.js';

/** The facts about the hooks of a program. Every unknown fact has its safe value. */
export type HookFacts = {
  readonly [Name in keyof HookTable]: HookTable[Name] extends Cell<infer Value> ? Value : never;
};

const SAFE: HookFacts = {
  files: { user: [], workspace: [] },
  form: { comments: true },
  entry: { types: ['command'], command: ['command'], timeout: ['timeout'] },
  timeUnit: 'milliseconds',
  defaultTimeout: false,
  events: {},
  matcher: 'pattern',
  matchesSources: false,
  tools: {},
  mcpTool: 'mcp__<server>__<tool>',
  // The name in Claude Code, because a guard that runs needlessly is safer than a guard that does not run.
  pluginTool: 'mcp__plugin_<plugin>_<server>__<tool>',
  answer: { fields: {}, refusal: { '*': 'cancel' } },
  unknownAnswerRefuses: true,
  refusingFailures: ['not-started', 'timed-out', 'signaled', 'exit-code', 'output-limit', 'malformed'],
  startsIn: 'workspace',
  variables: { workspace: [], package: [] },
  refusedAnswer: 'withheld',
  runsOnce: false,
  readsTranscripts: false,
  input: {},
};

export function factsOf(table: HookTable): HookFacts {
  const names = Object.keys(SAFE) as (keyof HookTable)[];
  return Object.fromEntries(
    names.map((name) => [name, known<unknown>(table[name], SAFE[name])]),
  ) as unknown as HookFacts;
}
