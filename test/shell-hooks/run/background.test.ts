import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { type FakeClock, fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, isGone, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Returns an agent whose run is over, while its hook still runs. */
async function withHook(hook: object, clock?: FakeClock) {
  const machine = { logger: lab.logger, clock };
  const hooks = claudeHooks(lab, { PreToolUse: [hook] }, { machine });
  const script = [calls('look', {}), says('Done.')];
  const { agent } = agentWith(lab, hooks, { script, tools: [countingTool('look').tool] });
  await agent.run('go');
  await until(() => lab.has('pid') && lab.read('pid') !== '');
  return agent;
}

describe('`agent.close()`', () => {
  const line = '{"async": true}';

  test.each([
    ['a hook in the background', command('echo $$ > pid; sleep 61', { async: true, timeout: 60 })],
    ['a hook that needs no wait', command(`echo $$ > pid; echo '${line}'; sleep 61`, { timeout: 60 })],
  ])('ends %s after two seconds', async (_which, hook) => {
    const clock = fakeClock();
    const agent = await withHook(hook, clock);
    let isClosed = false;
    const closing = agent.close().then(() => {
      isClosed = true;
    });
    await until(() => isClosed || clock.delays.includes(2_000));
    const wasGone = isGone(Number(lab.read('pid')));
    clock.advance(2_000);
    await until(() => clock.advance(1) === undefined && isClosed);
    await closing;

    expect([wasGone, isGone(Number(lab.read('pid'))), lab.logged('error')]).toEqual([false, true, []]);
  });

  test('waits for a hook in the background that soon ends', async () => {
    const hook = command('echo $$ > pid; sleep 0.4; touch done', { async: true });
    await (await withHook(hook)).close();

    expect(lab.has('done')).toBe(true);
  });
});
