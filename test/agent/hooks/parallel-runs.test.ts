import { Agent, type AgentLifecycle, defineTool, HookAction, type RunContext, textOf } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { settled } from '../../support/lifecycle/manual-clock.js';

interface Tenant {
  readonly tenant: number;
}

/** Waits a different number of event loop rounds in each run and hook, so that the runs interleave. */
async function dawdle(run: RunContext<Tenant>, salt: number): Promise<void> {
  for (let left = (run.context.tenant * 7 + salt * 3) % 5; left > 0; left -= 1) await settled();
}

/** One lifecycle for all runs. It stores the state of each run by its RunContext and checks that runs do not mix. */
class Notebook implements AgentLifecycle<Tenant> {
  readonly notes = new WeakMap<RunContext, string[]>();
  readonly runs = new Set<RunContext>();

  async beforeAgent(input: string, run: RunContext<Tenant>): Promise<string> {
    this.notes.set(run, []);
    this.runs.add(run);
    await dawdle(run, 1);
    this.note(run, 'beforeAgent');
    return `${input} from ${run.context.tenant}`;
  }

  async beforeModel(messages: readonly unknown[], run: RunContext<Tenant>): Promise<void> {
    await dawdle(run, 2);
    this.note(run, `beforeModel ${messages.length}`);
  }

  wrapModelCall: AgentLifecycle<Tenant>['wrapModelCall'] = async (request, next) => {
    await dawdle(request.run, 3);
    const response = await next(request);
    await dawdle(request.run, 4);
    this.note(request.run, 'wrapModelCall');
    return response;
  };

  wrapToolCall: AgentLifecycle<Tenant>['wrapToolCall'] = async (call, next) => {
    await dawdle(call.run, 5);
    this.note(call.run, `wrapToolCall ${JSON.stringify(call.input)}`);
    return next({ ...call, input: { n: call.run.context.tenant } });
  };

  async afterModel(_response: unknown, run: RunContext<Tenant>): Promise<HookAction> {
    await dawdle(run, 6);
    return run.context.tenant % 10 === 3 ? HookAction.reject(`no ${run.context.tenant}`) : HookAction.Approve;
  }

  async afterAgent(text: string, run: RunContext<Tenant>): Promise<string> {
    await dawdle(run, 7);
    return `${text} for ${run.context.tenant}`;
  }

  private note(run: RunContext, line: string): void {
    this.notes.get(run)?.push(line);
  }
}

const double = defineTool({
  name: 'double',
  description: 'Doubles a number.',
  input: z.object({ n: z.number() }),
  execute: async ({ n }, { context }) => {
    await settled();
    return `${n * 2} of ${(context as Tenant).tenant}`;
  },
});

describe('a hundred concurrent runs with one lifecycle', () => {
  // covers: S4-FR1.3, S4-TC2
  it('share no state: each run has its own context, messages, decisions and usage', async () => {
    const notebook = new Notebook();
    const model = scriptedModel(
      [calls('double', { n: 0 }), ({ messages }) => `got ${textOf(messages[2] ?? { role: 'user', content: '' })}`],
      { perRun: true },
    );
    const agent = new Agent<Tenant>({ model, tools: [double], lifecycle: [notebook] });
    const tenants = Array.from({ length: 100 }, (_, tenant) => tenant);

    const outcomes = await Promise.allSettled(tenants.map((tenant) => agent.run('Hello', { context: { tenant } })));

    expect(notebook.runs.size).toBe(100);
    for (const [tenant, outcome] of outcomes.entries()) {
      const asked = { role: 'user', content: `Hello from ${tenant}` };
      if (tenant % 10 === 3) {
        expect(outcome).toMatchObject({
          status: 'rejected',
          reason: { reason: `no ${tenant}`, messages: [asked, {}, {}] },
        });
        continue;
      }
      expect(outcome).toMatchObject({
        status: 'fulfilled',
        value: {
          text: `got ${tenant * 2} of ${tenant} for ${tenant}`,
          messages: [asked, {}, { role: 'tool', content: [{ content: `${tenant * 2} of ${tenant}` }] }, {}],
          usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
          decisions: [
            { type: 'modify', point: 'beforeAgent', after: `Hello from ${tenant}` },
            { type: 'approve', turn: 1 },
            { type: 'modify', point: 'wrapToolCall', before: { n: 0 }, after: { n: tenant } },
            { type: 'approve', turn: 2 },
            { type: 'modify', point: 'afterAgent' },
          ],
        },
      });
    }
    for (const run of notebook.runs) {
      const rejected = (run.context as Tenant).tenant % 10 === 3;
      const first = ['beforeAgent', 'beforeModel 1', 'wrapModelCall'];
      const rest = ['wrapToolCall {"n":0}', 'beforeModel 3', 'wrapModelCall'];
      expect(notebook.notes.get(run)).toEqual(rejected ? first : [...first, ...rest]);
    }
  });

  it('are not affected by a run that fails or is aborted', async () => {
    const controller = new AbortController();
    const gate: AgentLifecycle<Tenant> = {
      beforeModel: async (_, run) => {
        await dawdle(run, 1);
        if (run.context.tenant === 1) throw new TypeError('boom');
        if (run.context.tenant === 2) controller.abort('stop');
      },
    };
    const agent = new Agent<Tenant>({ model: scriptedModel('done'), lifecycle: [gate] });
    const runs = [0, 1, 2, 3].map((tenant) =>
      agent.run('Hello', { context: { tenant }, signal: tenant === 2 ? controller.signal : undefined }),
    );

    const outcomes = await Promise.allSettled(runs);

    expect(outcomes).toMatchObject([
      { value: { text: 'done' } },
      { reason: { code: 'ERR_LIFECYCLE_FAILED' } },
      { reason: { code: 'ERR_RUN_ABORTED' } },
      { value: { text: 'done' } },
    ]);
  });

  it('one lifecycle may serve several agents', async () => {
    const seen: string[] = [];
    const shared: AgentLifecycle = { beforeAgent: (_, run) => void seen.push(run.agent) };
    const agents = ['a', 'b'].map((name) => new Agent({ name, model: scriptedModel(['done']), lifecycle: [shared] }));

    await Promise.all(agents.map((agent) => agent.run('Hello')));

    expect(seen).toEqual(['a', 'b']);
  });
});
