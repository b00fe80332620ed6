import { context, trace } from '@opentelemetry/api';
import { Agent, type AgentLifecycle, defineTool, type RunContext, type Tool } from 'keelson';
import { openTelemetry } from 'keelson/otel';
import { calls, delays, says, scriptedModel } from 'keelson/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Telemetry } from '../../support/telemetry/telemetry.js';

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry().register();
});

afterEach(() => telemetry.close());

const anything = z.looseObject({});
const moment = (ms = 1) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs work inside a span of the application, as an instrumented client does. */
function inOwnSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
  return trace.getTracer('own').startActiveSpan(name, (span) => work().finally(() => span.end()));
}

const fetching = defineTool({
  ...{ name: 'fetching', description: 'Fetches.', input: anything },
  execute: () => inOwnSpan('GET /', () => moment().then(() => 'Fetched.')),
});

function createAgent(
  name: string,
  script: Parameters<typeof scriptedModel>[0],
  tools: readonly Tool[] = [fetching],
): Agent {
  const model = scriptedModel(script, { id: 'm', perRun: true });
  return new Agent({ name, model, tools, lifecycle: [openTelemetry()] });
}

describe('spans nest', () => {
  test("the caller's span is the parent of the run, and spans of the application are children of the active span", async () => {
    const around: AgentLifecycle = { wrapModelCall: (_request, next) => inOwnSpan('guard', () => next()) };
    const agent = createAgent('a', [calls('fetching', {}), says('Done.')]).withLifecycle(around);

    await inOwnSpan('request', () => agent.run('Hello'));

    expect(telemetry.tree()).toEqual([
      ...['request', '  invoke_agent a', '    chat m', '      guard'],
      ...['    execute_tool fetching', '      GET /', '    chat m', '      guard'],
    ]);
  });

  test("each run of a session is a child of its caller's span", async () => {
    const session = await createAgent('a', ['One.', 'Two.']).session();

    await Promise.all([
      inOwnSpan('first', () => session.run('Hello')),
      inOwnSpan('second', () => session.run('Hello again')),
    ]);

    expect(telemetry.tree()).toEqual([
      ...['first', '  invoke_agent a', '    chat m', 'second', '  invoke_agent a', '    chat m'],
    ]);
  });

  test('a stream started in a span is a child of this span', async () => {
    const stream = await inOwnSpan('request', async () => {
      const begun = createAgent('a', ['Hello.']).stream('Hello');
      await begun.result;
      return begun;
    });
    await stream.result;

    expect(telemetry.tree()).toEqual(['request', '  invoke_agent a', '    chat m']);
  });
});

describe('a run inside a tool', () => {
  const nested = ['invoke_agent outer', '  chat m', '  execute_tool inner', '    invoke_agent inner', '      chat m'];

  test('is a child of the tool call', async () => {
    const inner = createAgent('inner', 'Inside.').asTool({ description: 'Looks inside.' });
    const script = [calls('inner', { prompt: 'Look.' }), says('Done.')];

    await createAgent('outer', script, [inner]).run('Hello');

    expect(telemetry.tree()).toEqual([...nested, '  chat m']);
  });

  test('is a child of its own tool call while several calls run', async () => {
    const inner = createAgent('inner', [calls('fetching', {}), says('Inside.')]).asTool({ description: 'Looks.' });
    const twice = calls({ name: 'inner', input: { prompt: '1' } }, { name: 'inner', input: { prompt: '2' } });

    await createAgent('outer', [twice, says('Done.')], [inner]).run('Hello');

    const call = ['  execute_tool inner', '    invoke_agent inner', '      chat m'];
    const whole = [...call, '      execute_tool fetching', '        GET /', '      chat m'];
    expect(telemetry.tree()).toEqual(['invoke_agent outer', '  chat m', ...whole, ...whole, '  chat m']);
  });

  const lookInside = (within: <T>(work: () => T) => T) => {
    const inside = createAgent('inner', 'Inside.');
    return defineTool({
      ...{ name: 'inner', description: 'Looks inside.', input: anything },
      execute: async (_input, { run }) => {
        const { text } = await within(() => inside.run('Look.', { parent: run as RunContext }));
        return text;
      },
    });
  };
  const looking = async (within: <T>(work: () => T) => T) => {
    const script = [calls('inner', {}), says('Done.')];
    await createAgent('outer', script, [lookInside(within)]).run('Hello');
    return telemetry.tree();
  };

  test('is a child of the tool call without a context manager', async () => {
    context.disable();

    expect(await looking((work) => work())).toEqual([...nested, '  chat m']);
  });

  test('is a child of its own tool call without a context manager, while several calls run', async () => {
    context.disable();
    const inner = createAgent('inner', [delays(1, says('Inside.'))]).asTool({ description: 'Looks.' });
    const twice = calls({ name: 'inner', input: { prompt: '1' } }, { name: 'inner', input: { prompt: '2' } });

    await createAgent('outer', [twice, says('Done.')], [inner]).run('Hello');

    const call = ['  execute_tool inner', '    invoke_agent inner', '      chat m'];
    expect(telemetry.tree()).toEqual(['invoke_agent outer', '  chat m', ...call, ...call, '  chat m']);
  });

  test('is a child of its own tool call if the context of another call is active', async () => {
    const inside = createAgent('inner', 'Inside.');
    const held: { bound?: (run: RunContext) => Promise<unknown> } = {};
    const first = defineTool({
      ...{ name: 'first', description: 'Keeps its context.', input: anything },
      execute: () => {
        held.bound = context.bind(context.active(), (parent) => inside.run('Look.', { parent }));
        return 'Kept.';
      },
    });
    const second = defineTool({
      ...{ name: 'second', description: 'Looks in the context of the first.', input: anything },
      execute: async (_input, { run }) => void (await held.bound?.(run as RunContext)),
    });
    const both = calls({ name: 'first', input: {} }, { name: 'second', input: {} });

    await createAgent('outer', [both, says('Done.')], [first, second] as never).run('Hello');

    expect(telemetry.tree()).toEqual([
      ...['invoke_agent outer', '  chat m', '  execute_tool first', '  execute_tool second'],
      ...['    invoke_agent inner', '      chat m', '  chat m'],
    ]);
  });

  test('is a child of the tool call if the tool lost the context or has a foreign one', async () => {
    const strange = trace.setSpan(context.active(), trace.getTracer('own').startSpan('strange'));

    expect(await looking((work) => context.with(strange, work))).toEqual([...nested, '  chat m']);
  });

  test('is a child of the nearest run that has a span', async () => {
    const innermost = createAgent('innermost', 'Inside.').asTool({ description: 'Looks.' });
    const model = scriptedModel([calls('innermost', { prompt: 'Look.' }), says('Between.')]);
    const between = new Agent({ name: 'between', model, tools: [innermost] }).asTool({ description: 'Looks.' });
    context.disable();

    await createAgent('outer', [calls('between', { prompt: 'Look.' }), says('Done.')], [between]).run('Hello');

    expect(telemetry.tree()).toEqual([
      ...['invoke_agent outer', '  chat m', '  execute_tool between', '    invoke_agent innermost', '      chat m'],
      '  chat m',
    ]);
  });
});

test('a hundred concurrent runs of one agent have separate spans', async () => {
  const script = [delays(1, calls({ name: 'fetching', input: {} }, { name: 'fetching', input: {} })), says('Done.')];
  const agent = createAgent('a', script);

  await Promise.all(Array.from({ length: 100 }, (_, n) => inOwnSpan(`request ${n}`, () => agent.run(`${n}`))));

  const tool = ['    execute_tool fetching', '      GET /'];
  const each = ['  invoke_agent a', '    chat m', ...tool, ...tool, '    chat m'];
  expect(new Set(telemetry.spans.map((span) => span.spanContext().traceId)).size).toBe(100);
  expect(telemetry.tree().filter((line) => !line.startsWith('request'))).toEqual(
    Array.from({ length: 100 }, () => each).flat(),
  );
});
