import { Agent } from 'keelson';
import { calls, fails, recorder, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { add, keepingLogger } from '../../support/lifecycle/sample-agent.js';

/** Three recorded lifecycles a, b and c. The second has the highest priority, so the order is b, a, c. */
function threeParts() {
  const record = recorder();
  const lifecycle = [record.lifecycle('a'), record.lifecycle('b', { priority: 60 }), record.lifecycle('c')];
  return { record, lifecycle };
}

const each = (hook: string) => ['b', 'a', 'c'].map((name) => `${name}.${hook}`);
const around = (hook: string, inner: readonly string[] = []) => [
  ...each(hook).map((line) => `${line}>`),
  ...inner,
  ...each(hook)
    .map((line) => `<${line}`)
    .reverse(),
];

test('S4-FR4.AC1, S4-FR4.AC2: an agent with three lifecycles calls every hook and emits every event in order', async () => {
  const { record, lifecycle } = threeParts();
  const model = scriptedModel([calls({ name: 'add', input: { a: 1, b: 2 } }, { name: 'add', input: {} }), 'done']);
  const agent = new Agent({ model, tools: [add], lifecycle, parallelToolCalls: false });
  record.listenTo(agent);

  const session = await agent.session({ id: 's' });
  const { text } = await session.run('Hello');
  await session.close();
  await agent.close();

  const toModel = [
    ...['turn-start', ...each('beforeModel'), ...each('beforeToolSelection'), 'model-start'],
    ...[...around('wrapModelCall'), ...each('afterModel'), 'model-end'],
  ];
  const toTool = ['tool-start', ...around('wrapToolCall'), 'tool-end'];
  expect(text).toBe('done');
  expect(record.log).toEqual([
    ...each('onInit'),
    ...each('onSessionStart'),
    ...['run-start', ...each('beforeAgent')],
    ...[...toModel, ...toTool, ...toTool, 'turn-end'],
    ...[...toModel, 'turn-end'],
    ...[...each('afterAgent'), 'run-end'],
    ...each('onSessionEnd'),
    ...each('onShutdown').reverse(),
  ]);
});

test('S4-FR4.AC1: a failed run ends with onError of all lifecycles, in order', async () => {
  const { record, lifecycle } = threeParts();
  const agent = new Agent({ model: scriptedModel([fails()]), lifecycle, logger: keepingLogger() });
  record.listenTo(agent);

  await expect(agent.run('Hello')).rejects.toMatchObject({ code: 'ERR_MODEL_FAILED' });

  expect(record.log).toEqual([
    ...each('onInit'),
    ...['run-start', ...each('beforeAgent')],
    ...['turn-start', ...each('beforeModel'), ...each('beforeToolSelection'), 'model-start'],
    ...each('wrapModelCall').map((line) => `${line}>`),
    ...each('wrapModelCall')
      .map((line) => `<${line} threw`)
      .reverse(),
    ...['model-end', 'turn-end', ...each('onError'), 'run-error', 'run-end'],
  ]);
});
