import { Agent, type AgentLifecycle } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { explain, readTrace, type TraceOptions, trace } from 'keelson/trace';
import { expect, test } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { FAILING_RUNS } from '../support/trace/failing-runs.js';

test.each(FAILING_RUNS.map((failing) => [failing.title, failing] as const))('blames %s', async (_title, failing) => {
  const lines: string[] = [];
  await failing.run(trace({ to: (line) => lines.push(line) }));

  const [first] = explain(readTrace(lines.join('\n')));

  expect(first).toMatchObject({
    kind: failing.says.kind,
    by: failing.says.by,
    text: expect.stringMatching(failing.says.text),
  });
});

/** Returns the findings of a run. */
async function findingsOf(run: (trace: AgentLifecycle) => Promise<unknown>, options: Partial<TraceOptions> = {}) {
  const lines: string[] = [];
  await run(trace({ to: (line) => lines.push(line), ...options }));
  return explain(readTrace(lines.join('\n')));
}

/** Runs an agent with an expensive model, whose sub-agent uses more tokens of a cheap model. */
async function boss(lifecycle: AgentLifecycle): Promise<void> {
  const usage = (tokens: number) => ({ usage: { inputTokens: tokens, outputTokens: 0 } });
  const clerk = new Agent({ name: 'clerk', model: scriptedModel(['Done.'], { id: 'cheap', ...usage(900) }) });
  const model = scriptedModel([calls({ name: 'clerk', input: { prompt: 'Go.' } }), 'Done.'], {
    id: 'dear',
    ...usage(100),
  });
  await new Agent({
    name: 'boss',
    model,
    tools: [clerk.asTool({ description: 'Works.' })],
    lifecycle: [lifecycle],
  }).run('Go.');
}

test('names the agent that used most tokens, or that cost most', async () => {
  const prices = { dear: { input: 1_000, output: 0 }, cheap: { input: 1, output: 0 } };

  expect((await findingsOf(boss)).at(-1)).toMatchObject({
    ...{ kind: 'tokens', by: { kind: 'agent', name: 'clerk' }, text: 'Agent "clerk" used 900 of the 1100 tokens.' },
  });
  expect((await findingsOf(boss, { prices })).at(-1)).toMatchObject({
    ...{ kind: 'tokens', by: { kind: 'agent', name: 'boss' } },
    text: 'Agent "boss" used 200 of the 1100 tokens, and cost $0.20 of $0.20.',
  });
  // Money that is known only in part would blame the wrong agent.
  expect((await findingsOf(boss, { prices: { dear: prices.dear } })).at(-1)).toMatchObject({ by: { name: 'clerk' } });
});

test('names the tool that filled the context, and the part that took the time of the slowest turn', async () => {
  const clock = fakeClock();
  const dump = toolOf('dump', async () => {
    clock.advance(500);
    return 'x'.repeat(5_000);
  });
  const model = scriptedModel([calls('dump'), 'Done.']);

  const findings = await findingsOf((lifecycle) =>
    new Agent({ name: 'clerk', model, tools: [dump], lifecycle: [lifecycle], clock }).run('Dump.'),
  );

  expect(findings).toMatchObject([
    { kind: 'context', by: { kind: 'tool', name: 'dump' } },
    { kind: 'slow-turn', by: { kind: 'tool', name: 'dump' }, turn: 1 },
  ]);
  expect(findings[0]?.text).toMatch(
    /^Results of tool "dump" are 50\d\d of the \d+ characters that agent "clerk" read\. At first, it read \d\d\.$/,
  );
});
