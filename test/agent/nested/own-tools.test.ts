import { Agent, MemorySessionStore, type ToolContext } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { payChain } from '../../support/agent/nested/pay-chain.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { until } from '../../support/agent/settle.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';
import { storeOver } from '../../support/state/store-over.js';

test('a tool that starts a run of its own is interrupted by a crash, although the run inside was suspended', async () => {
  const clock = manualClock();
  const store = new MemorySessionStore({ clock });
  const begun: number[] = [];
  const bossOf = (
    script: string[] | ReturnType<typeof calls>[],
    run: (context: ToolContext) => unknown,
    own = clock,
  ) => {
    const tool = toolOf('own', (_input, context) => {
      begun.push(context.attempt);
      return run(context);
    });
    return new Agent({ model: scriptedModel(script), tools: [tool], store: storeOver(store, {}), clock: own });
  };
  let isSuspended = false;
  const first = bossOf(
    [calls('own')],
    async ({ run: parent }) => {
      const { status } = await payChain().clerk.run('Pay.', { parent });
      isSuspended = status === 'suspended';
      return new Promise(() => {});
      // Its own clock stands still, so that it does not renew its claim.
    },
    manualClock(),
  );
  void (await first.session({ id: 's' })).run('Go.').catch(() => {});
  await until(() => isSuspended);
  await clock.advance(10 * 30_000 + 1);

  const session = await bossOf(['Done.'], () => 'paid').session({ id: 's' });
  const result = await session.run('', { resume: { call_1: 'approve' } });

  expect(result.text).toBe('Done.');
  expect(begun).toEqual([1, 2]);
});
