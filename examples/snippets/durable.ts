// Fragments that docs/durable.md and docs/durable-adapter.md show. Run to see that they work.
import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, defineTool, MemorySessionStore } from 'keelson';
import { type BlobStore, durable, type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { type StepProgram, scriptedModel, stepContract } from 'keelson/testing';
import { z } from 'zod';

const model = scriptedModel(() => 'ok');
const lines: string[] = [];
const audit: AgentLifecycle = { name: 'audit', beforeAgent: (input) => void lines.push(input) };
const store = new MemorySessionStore();

async function withHooks(step: Step): Promise<string> {
  // #region durable-hooks
  const engine = durable({ step, hooks: ['audit'] });
  const agent = new Agent(engine.options({ model, lifecycle: [audit] }));
  // #endregion
  return (await agent.run('Hello.')).text;
}

async function withSession(step: Step): Promise<string> {
  // #region durable-session
  const agent = new Agent(durable({ step }).options({ model, store }));
  const session = await agent.session({ id: 'harbour' });
  const { text } = await session.run('Where are we?');
  // #endregion
  return text;
}

async function withAgentInside(step: Step): Promise<string> {
  const pay = defineTool({ name: 'pay', description: 'Pays.', input: z.object({}), execute: () => 'paid' });
  // #region durable-nested
  const buyer = new Agent({ name: 'buyer', model, tools: [pay], lifecycle: [approval({ tools: ['pay'] })] });
  const boss = new Agent(durable({ step }).options({ model, tools: [buyer.asTool({ description: 'Buys.' })] }));
  // #endregion
  return (await boss.run('Hello.')).text;
}

async function withContract(): Promise<number> {
  const running: Promise<void>[] = [];
  const test = (_name: string, run: () => Promise<void>) => void running.push(run());
  // #region step-contract
  const execute = async (id: string, program: StepProgram) => {
    const crash = () => Promise.reject(new RangeError('crash'));
    for (let journal: MemoryStep['journal'] = []; ; ) {
      const step = memoryStep({ id, journal });
      try {
        return await program({ step, crash });
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        journal = step.journal;
      }
    }
  };
  for (const { name, run } of stepContract({ execute })) test(name, run);
  // #endregion
  await Promise.all(running);
  return running.length;
}

async function withBlobs(step: Step): Promise<string> {
  const files = new Map<string, Uint8Array>();
  // #region durable-blobs
  const blobs: BlobStore = {
    put: async (key, bytes) => void files.set(key, bytes),
    get: async (key) => files.get(key),
  };
  const engine = durable({ step, blobs, maxInlineBytes: 10_000 });
  // #endregion
  return (await new Agent(engine.options({ model })).run('Hello.')).text;
}

for (const run of [withHooks, withSession, withAgentInside, withBlobs]) assert.equal(await run(memoryStep()), 'ok');
const first = memoryStep();
await withHooks(first);
await withHooks(memoryStep({ journal: first.journal }));
assert.equal(lines.length, 2);
assert.equal(await withContract(), 7);
console.log('The hooks ran once in each execution.');
