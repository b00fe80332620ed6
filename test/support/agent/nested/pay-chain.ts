import { Agent, type AgentOptions, defineTool, MemorySessionStore, type ToolContext } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

/** A payment, as the tool `pay` has seen it. */
export interface Payment {
  readonly euro: number;
  readonly key: string;
  readonly attempt: number;
}

interface ChainOptions extends Partial<Pick<AgentOptions, 'store' | 'clock' | 'logger'>> {
  /** Called when the tool runs, after the payment was noted. */
  readonly pay?: ((context: ToolContext) => unknown) | undefined;
  readonly paid?: Payment[] | undefined;
  readonly clerk?: Partial<AgentOptions> | undefined;
}

const SCRIPTS: Readonly<Record<'boss' | 'desk' | 'clerk', readonly ScriptEntry[]>> = {
  boss: [calls('desk', { prompt: 'Go.' }), 'All done.'],
  desk: [calls('clerk', { prompt: 'Pay it.' }), 'The desk is done.'],
  clerk: [calls('pay', { euro: 40 }), 'The clerk paid.'],
};

/** A boss that uses a desk, which uses a clerk, whose payments need approval. */
export function payChain(scripts: Partial<typeof SCRIPTS> = {}, options: ChainOptions = {}) {
  const { paid = [], pay, clerk: ofClerk, store = new MemorySessionStore(), ...others } = options;
  const tool = defineTool({
    name: 'pay',
    description: 'Pays an amount.',
    input: z.object({ euro: z.number().max(100) }),
    execute: async ({ euro }, context) => {
      paid.push({ euro, key: context.idempotencyKey, attempt: context.attempt });
      await pay?.(context);
      return `paid ${euro}`;
    },
  });
  const all = { ...SCRIPTS, ...scripts };
  const models = { boss: scriptedModel(all.boss), desk: scriptedModel(all.desk), clerk: scriptedModel(all.clerk) };
  const guarded = { lifecycle: [approval({ tools: ['pay'] })], tools: [tool], ...others, ...ofClerk };
  const clerk = new Agent({ name: 'clerk', model: models.clerk, ...guarded });
  const tools = (inner: Agent) => [inner.asTool({ description: 'Works.' })];
  const desk = new Agent({ name: 'desk', model: models.desk, tools: tools(clerk), ...others });
  const boss = new Agent({ name: 'boss', model: models.boss, tools: tools(desk), store, ...others });
  const asked = () => Object.values(models).map(({ requests }) => requests.length);
  return { boss, desk, clerk, paid, models, asked, store };
}
