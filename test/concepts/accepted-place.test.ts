import { fileURLToPath } from 'node:url';
import { Agent, defineTool } from 'keelson';
import { type ConceptOptions, conceptAugmentation, conceptModule } from 'keelson/concepts';
import { plugins } from 'keelson/plugins';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { block, keptLog, known } from '../support/concepts/augmented-run.js';

const fixture = fileURLToPath(new URL('../fixtures/opencode/concepts.mjs', import.meta.url));
const about = '_maenifold_context';
const note = z.object({ note: z.string() });

interface Case {
  readonly title: string;
  readonly input: z.ZodType;
  readonly given: Readonly<Record<string, unknown>>;
  readonly options?: ConceptOptions;
  readonly readOnly?: boolean;
  readonly received: unknown;
  readonly log: string;
}

const augmented = 'Augmented work with 1 concept(s) in 0ms';
const skipped = 'Skipping augmentation for work';

const cases: readonly Case[] = [
  {
    title: 'a schema that removes unknown properties',
    input: note,
    given: { note: '[[x]]' },
    received: { note: '[[x]]', [about]: 'about x' },
    log: augmented,
  },
  {
    title: 'a strict schema',
    input: z.strictObject(note.shape),
    given: { note: '[[x]]' },
    received: { note: '[[x]]' },
    log: skipped,
  },
  {
    title: 'a schema that keeps unknown properties',
    input: z.looseObject(note.shape),
    given: { note: '[[x]]' },
    received: { note: '[[x]]', [about]: 'about x' },
    log: augmented,
  },
  {
    title: 'a property that the model sent and the schema removes',
    input: note,
    given: { note: '[[x]]', [about]: 'made up' },
    received: { note: '[[x]]', [about]: 'about x' },
    log: augmented,
  },
  {
    title: 'a text field that the schema removes',
    input: note,
    given: { text: 'see', note: '[[x]]' },
    received: { note: '[[x]]', [about]: 'about x' },
    log: augmented,
  },
  {
    title: 'a text field that the schema removes, before a text field that the schema keeps',
    input: z.object({ text: z.string() }),
    given: { content: 'see', text: '[[x]]' },
    received: { text: `${block('about x')}\n\n[[x]]` },
    log: augmented,
  },
  {
    title: 'a text field that refuses the longer string, before another text field',
    input: z.object({ command: z.enum(['start', 'stop']), query: z.string() }),
    given: { command: 'stop', query: '[[x]]' },
    received: { command: 'stop', query: `${block('about x')}\n\n[[x]]` },
    log: augmented,
  },
  {
    title: 'text fields that all refuse the longer string',
    input: z.object({ command: z.enum(['start', 'stop']), query: z.string().max(9) }),
    given: { command: 'stop', query: '[[x]]' },
    received: { command: 'stop', query: '[[x]]' },
    log: 'Augmentation failed for work: ToolInvalidError: Tool "work" is not valid: `command` does not accept the context',
  },
  {
    title: 'a read-only tool in the profile `safe`',
    input: z.object({ command: z.string(), query: z.string() }),
    given: { command: 'ls', query: '[[x]]' },
    options: { profile: 'safe' },
    readOnly: true,
    received: { command: 'ls', query: `${block('about x')}\n\n[[x]]` },
    log: augmented,
  },
  ...['café', '日本語', 'Überblick 2', 'नमस्ते'].map((name) => ({
    title: `[[${name}]] in the profile \`safe\``,
    input: note,
    given: { note: `[[${name}]]` },
    options: { profile: 'safe' as const },
    received: { note: `[[${name}]]`, [about]: `about ${name}` },
    log: augmented,
  })),
];

const forms = ['lifecycle', 'opencode module'] as const;

/** Runs one tool call. Returns the arguments that the tool received and the last log record of the augmentation. */
async function outcomeOf(form: (typeof forms)[number], { input, given, options, readOnly }: Case) {
  const received: unknown[] = [];
  const { lines, logger } = keptLog();
  const execute = (got: unknown) => {
    received.push(got);
    return 'done';
  };
  const annotations = readOnly ? { readOnly } : {};
  const work = defineTool({ name: 'work', description: 'Works.', input, annotations, execute });
  const settings: ConceptOptions = {
    buildContext: known,
    clock: { now: () => 0, setTimeout: () => 0, clearTimeout() {} },
    ...options,
  };
  const client = { app: { log: ({ body }: { body: { message: string } }) => logger.info(body.message) } };
  const module = conceptModule(settings);
  Object.assign(globalThis, { testedConceptModule: () => module({ client }) });
  const part =
    form === 'lifecycle'
      ? { lifecycle: [conceptAugmentation(settings)] }
      : { loaders: [plugins({ config: [{ path: fixture }] })] };
  const model = scriptedModel([calls('work', given), says('end')]);
  await new Agent({ model, tools: [work], logger, ...part }).run('go');
  const [last] = lines.filter(({ message }) => /^(Augment|Skipping)/.test(message)).slice(-1);
  return { received, log: last?.message };
}

test.each(forms.flatMap((form) => cases.map((one) => [form, one.title, one] as const)))(
  'the %s places the context alike: %s',
  async (form, _title, one) => {
    expect(await outcomeOf(form, one)).toEqual({
      received: [one.received],
      log: expect.stringContaining(one.log),
    });
  },
);
