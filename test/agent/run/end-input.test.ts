import { expect, test } from 'vitest';
import { Agent, HookAction } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing/testing.js';
import { rejectionOf } from '../../support/agent/settle.js';

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['an action of an unknown type', { type: 'stop' }],
  ['a suspension', HookAction.suspend('later')],
  ['an approval', HookAction.Approve],
  ['a response without text', { type: 'respond' }],
  ['a response whose text is a number', HookAction.respond(5 as unknown as string)],
  ['a rejection without reason', { type: 'reject' }],
])('run.end refuses %s, and the error names the hook', async (_title, action) => {
  const model = scriptedModel([]);
  const agent = new Agent({
    model,
    lifecycle: [{ name: 'hasty', beforeAgent: (_input, run) => run.end(action as never) }],
  });

  const error = await rejectionOf(agent.run('go'));

  expect(error).toMatchObject({ code: 'ERR_LIFECYCLE_FAILED', lifecycle: 'hasty', point: 'beforeAgent' });
  expect(error).toMatchObject({ cause: { code: 'ERR_HOOK_RESULT_INVALID' } });
  expect(model.requests).toEqual([]);
});

test('run.end also refuses an invalid action after the run was ended', async () => {
  const refused: unknown[] = [];
  const agent = new Agent({
    model: scriptedModel([]),
    lifecycle: [
      {
        beforeAgent(_input, run) {
          run.end(HookAction.respond('done'));
          try {
            run.end({ type: 'respond' } as never);
          } catch (error) {
            refused.push((error as { code: unknown }).code);
          }
        },
      },
    ],
  });

  expect((await agent.run('go')).text).toBe('done');
  expect(refused).toEqual(['ERR_HOOK_RESULT_INVALID']);
});
