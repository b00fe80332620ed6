// A harbour desk books a berth. Something goes wrong two agents down. To keep the trace, which leads to it, name a folder:
//   npx tsx examples/19-see-what-a-run-did.ts traces
//   npx keelson explain traces    (or `trace`, which prints the address of a page)
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, type AgentLifecycle, defineTool, toolResult } from 'keelson';
import { retryModelCalls } from 'keelson/lifecycles';
import { calls, delays, fails, type ScriptEntry, says, scriptedModel } from 'keelson/testing';
import { explain, readTrace, trace } from 'keelson/trace';
import { z } from 'zod';

const [folder = await mkdtemp(join(tmpdir(), 'keelson-traces-'))] = process.argv.slice(2);

const berths = defineTool({
  name: 'free_berths',
  description: 'Lists the free berths of a day.',
  input: z.object({ day: z.string() }),
  execute: ({ day }) => JSON.stringify({ day, free: ['A4', 'B2', 'C7'], note: 'Depths are in metres. '.repeat(60) }),
});

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  input: z.object({ euro: z.number() }),
  execute: ({ euro }) => `paid back ${euro} euro`,
});

const pay = defineTool({
  name: 'charge_card',
  description: 'Charges the card of a ship.',
  input: z.object({ euro: z.number() }),
  execute: () => {
    throw new RangeError('The card ending in 4412 has expired.');
  },
});

/** Replaces card numbers before the model reads them. */
const redactCards: AgentLifecycle = {
  name: 'redact-cards',
  beforeAgent: (input) => input.replace(/\d{4} \d{4} \d{4} \d{4}/, '[card]'),
};

const noRefunds: AgentLifecycle = {
  name: 'no-refunds',
  wrapToolCall: ({ name }, next) =>
    name === 'refund' ? toolResult({ content: 'Refunds need the harbour master.', isError: true }) : next(),
};

/** This model plays a script, so the program runs without a key. */
const script = (id: string, ...steps: readonly ScriptEntry[]) =>
  scriptedModel(
    steps.map((step, index) => delays(40 + 25 * index, step)),
    { id, usage: { inputTokens: 1_840, outputTokens: 96 } },
  );
const overloaded = Object.assign(new Error('Overloaded'), { status: 529, retryable: true, retryAfterMs: 60 });

const cashier = new Agent({
  name: 'cashier',
  model: script('small-1', calls('charge_card', { euro: 140 }), 'The card was refused.'),
  tools: [pay],
});
const purser = new Agent({
  name: 'purser',
  model: script('small-1', calls('cashier', { prompt: 'Charge 140 euro.' }), 'The payment did not go through.'),
  tools: [cashier.asTool({ description: 'Charges cards.' })],
});
// The trace tells of the retry, so the log does not.
const logger = { debug() {}, info() {}, warn() {}, error: console.error };
const desk = new Agent({
  name: 'harbour-desk',
  logger,
  instructions: 'You book berths for ships.',
  model: script(
    'large-2',
    fails(overloaded),
    says('I look for a free berth first.', { calls: [{ name: 'free_berths', input: { day: 'Friday' } }] }),
    calls('purser', { prompt: 'Take 140 euro for berth B2.' }),
    calls('refund', { euro: 140 }),
    'Berth B2 is free on Friday, but I could not take the fee. Please give me another card.',
  ),
  tools: [berths, refund, purser.asTool({ description: 'Takes payments.' })],
  lifecycle: [
    trace({ to: folder, prices: { 'large-2': { input: 3, output: 15 }, 'small-1': { input: 0.5, output: 2 } } }),
    redactCards,
    retryModelCalls({ initialDelayMs: 1 }),
    noRefunds,
  ],
});

const { text } = await desk.run('Book a berth for the Aurora on Friday. The card is 4000 1234 5678 4412.');
await desk.close();
console.log(`${text}\n`);

const [file = ''] = (await readdir(folder)).sort().reverse();
const findings = explain(readTrace(await readFile(join(folder, file), 'utf8')));
for (const finding of findings) console.log(`${finding.kind}: ${finding.text}`);
assert.deepEqual(
  findings.slice(0, 2).map(({ by }) => by?.name),
  ['charge_card', 'no-refunds'],
);
if (process.argv[2] === undefined) await rm(folder, { recursive: true });
