import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, type AgentEvent, type AgentLifecycle, type Message, type RunResult } from 'keelson';
import { approval, compaction, fallbackModels, limits, retryModelCalls, truncateToolResults } from 'keelson/lifecycles';
import { shellHooks } from 'keelson/shell-hooks';
import { calls, fails, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { afterAll, expect, test } from 'vitest';
import { fastClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { pause } from '../support/agent/settle.js';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { resultsIn, transcript } from '../support/agent/transcript.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-lifecycles-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const busy = () => fails(Object.assign(new Error('busy'), { status: 503 }));
const down = () => fails(Object.assign(new Error('down'), { status: 404 }));
const call = (id: string, name: string, input: unknown = {}) => ({ id, name, input });

/** All ready-made lifecycles, in an order that differs from their priorities. */
const all = (more: { readonly fallback: ReturnType<typeof scriptedModel> }): AgentLifecycle[] => [
  approval({ tools: ['pay'] }),
  compaction({ maxMessages: 6, keep: 2, summarize: (messages) => `${messages.length} messages` }),
  limits({ modelCalls: 12, perTool: { pay: 1 } }),
  retryModelCalls({ maxRetries: 1 }),
  fallbackModels([more.fallback]),
  truncateToolResults({ maxChars: 20 }),
];

const tools = () => [
  toolOf('pay', () => 'paid'),
  toolOf('look', async () => {
    await pause();
    return 'sea '.repeat(20);
  }),
];

const SCRIPT: readonly ScriptEntry[] = [
  busy(),
  calls(call('a', 'look'), call('b', 'look')),
  down(),
  calls(call('e', 'look')),
  calls(call('f', 'pay'), call('g', 'look'), call('h', 'pay')),
  'Paid and seen.',
];

/** Runs and resumes until completion, with the history copied through JSON each time. Collects the messages. */
async function runThrough(stream: boolean) {
  const fallback = scriptedModel([calls(call('c', 'look'), call('d', 'look'))]);
  const model = scriptedModel(SCRIPT);
  const make = () =>
    new Agent({ model, tools: tools(), lifecycle: all({ fallback }), clock: fastClock(), logger: keepingLogger() });
  const attempt = async (input: string, options: object): Promise<RunResult> => {
    if (!stream) return make().run(input, options);
    const running = make().stream(input, options);
    const events: AgentEvent[] = [];
    for await (const event of running) events.push(event);
    expect(events.filter(({ type }) => type === 'tool-start')).toHaveLength(
      events.filter(({ type }) => type === 'tool-end').length,
    );
    return running.result;
  };
  const first = await attempt('Pay, and look.', {});
  expect(first.pending.map(({ id, name }) => [id, name])).toEqual([['f', 'pay']]);
  const messages = JSON.parse(JSON.stringify(first.history)) as Message[];
  const second = await attempt('', { messages, resume: { f: 'approve' } });
  model.assertDone();
  fallback.assertDone();
  return { first, second };
}

test('all ready-made lifecycles work in one agent: fallback, limits, compaction, suspension and resume', async () => {
  const { first, second } = await runThrough(false);

  expect(transcript(first.history).slice(0, 2)).toEqual([
    'user: Pay, and look.',
    'user: [Summary of the conversation so far]\n5 messages',
  ]);
  expect(second).toMatchObject({ status: 'completed', text: 'Paid and seen.' });
  const results = resultsIn(second.history);
  expect(results.f).toBe('paid');
  expect(results.g).toBe('sea sea se\n[… 60 characters left out …]\na sea sea ');
  expect(results.h).toMatch(/^!The call w\n\[… \d+ characters left out …\]\n.*\.$/s);
});

test('a stream gives the same result', async () => {
  const [run, streamed] = [await runThrough(false), await runThrough(true)];
  expect(streamed.second.history).toEqual(run.second.history);
});

test('concurrent runs can share the same lifecycle instances', async () => {
  const fallback = scriptedModel(() => calls(call('c', 'look'), call('d', 'look')));
  const lifecycle = all({ fallback });
  const results = await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const agent = new Agent({
        ...{ model: scriptedModel(SCRIPT), tools: tools(), lifecycle },
        ...{ clock: fastClock(), logger: keepingLogger() },
      });
      const { history } = await agent.run(`Run <${at}>.`);
      return agent.run('', { messages: history, resume: { f: 'approve' } });
    }),
  );

  expect(new Set(results.map(({ text }) => text))).toEqual(new Set(['Paid and seen.']));
  for (const [at, { history }] of results.entries()) {
    expect(JSON.stringify(history).match(/<\d+>/g)).toEqual([`<${at}>`]);
  }
});

test('a shell hook gate runs before approval asks, and after_tool sees the result before it is shortened', async () => {
  const file = (name: string) => join(folder, name);
  writeFileSync(
    file('gate'),
    'grep -q \'"no"\' && { echo \'{"continue": false, "reason": "Never."}\'; exit 0; }; echo \'{}\'',
  );
  const asked: string[] = [];
  const ask = ({ id }: { id: string }) => {
    asked.push(id);
    return 'approve' as const;
  };
  const agent = new Agent({
    model: scriptedModel([calls(call('a', 'look', { is: 'no' }), call('b', 'look', { is: 'yes' })), 'Done.']),
    tools: tools(),
    lifecycle: [approval({ ask }), truncateToolResults({ maxChars: 20 })],
    loaders: [
      shellHooks({
        workspaceDir: folder,
        hooks: {
          before_tool: [{ name: 'gate', command: 'sh', args: [file('gate')] }],
          after_tool: [{ name: 'log', command: 'sh', args: ['-c', `cat >> '${file('seen')}'`] }],
        },
      }),
    ],
    logger: keepingLogger(),
  });

  const { history } = await agent.run('Go.');
  await agent.close();

  expect(asked).toEqual(['b']);
  expect(resultsIn(history).b).toContain('characters left out');
  expect(readFileSync(file('seen'), 'utf8')).toContain('sea '.repeat(20).trim());
}, 30_000);
