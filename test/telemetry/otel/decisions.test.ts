import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { Agent, type AgentLifecycle, type AgentOptions, HookAction, type RunStream } from 'keelson';
import { openTelemetry } from 'keelson/otel';
import { calls, scriptedModel } from 'keelson/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf, until } from '../../support/agent/settle.js';
import { Telemetry } from '../../support/telemetry/telemetry.js';

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry().register();
});

afterEach(() => telemetry.close());

const pay = toolOf('pay', () => 'Paid.');

/** An agent with one guard. Its spans have content unless `content` is false. */
function guarded(guard: AgentLifecycle, options: Partial<AgentOptions> = {}, content = true): Agent {
  const model = scriptedModel([calls('pay'), 'Done.'], { id: 'm' });
  const lifecycle = [openTelemetry({ content }), { name: 'guard', ...guard }];
  return new Agent({ name: 'clerk', model, tools: [pay], lifecycle, ...options });
}

function decisionsOf(span: ReadableSpan | undefined): unknown[] {
  const events = span?.events.filter(({ name }) => name === 'keelson.decision') ?? [];
  return events.map(({ attributes = {} }) =>
    Object.fromEntries(
      Object.entries(attributes).map(([key, value]) => [key.replace(/^keelson\.(decision\.)?/, ''), value]),
    ),
  );
}

const ask: AgentLifecycle = {
  wrapToolCall: (call, next) => (call.approved ? next() : HookAction.suspend('over 100')),
};

describe('a decision is an event', () => {
  test('on the span of the tool call that it is about', async () => {
    await guarded({ wrapToolCall: () => ({ content: 'Not today.', isError: true }) }).run('go');

    const span = telemetry.span('execute_tool pay');
    const place = { point: 'wrapToolCall', turn: 1, 'gen_ai.tool.call.id': 'call_1' };
    expect(decisionsOf(span)).toEqual([{ type: 'block', by: 'guard', ...place }]);
    expect(span.status.message).toBe('Not today.');
    expect(decisionsOf(telemetry.span('invoke_agent clerk'))).toEqual([]);
  });

  test('on the span of the model call that a hook changes', async () => {
    const model = scriptedModel('Done.', { id: 'm' });
    await guarded({ wrapModelCall: (request, next) => next({ ...request, tools: [] }) }, { model }).run('go');

    expect(decisionsOf(telemetry.span('chat m'))).toEqual([
      { type: 'modify', by: 'guard', point: 'wrapModelCall', turn: 1 },
    ]);
  });

  test('on the span of the run at any other point, with its reason', async () => {
    const agent = guarded({ beforeAgent: () => HookAction.reject('closed') });
    await agent.run('go').catch(() => {});

    const span = telemetry.span('invoke_agent clerk');
    expect(decisionsOf(span)).toEqual([
      { type: 'reject', by: 'guard', point: 'beforeAgent', turn: 0, reason: 'closed' },
    ]);
    expect(span.status.message).toBe('The run was rejected by "guard" in beforeAgent: closed');
  });

  test('also in `afterAgent` of a later lifecycle', async () => {
    const model = scriptedModel('Done.', { id: 'm' });
    await guarded({ afterAgent: (text) => `${text}!` }, { model }).run('go');

    const span = telemetry.span('invoke_agent clerk');
    expect(decisionsOf(span)).toMatchObject([{ type: 'modify', by: 'guard', point: 'afterAgent' }]);
    expect(span.attributes['gen_ai.output.messages']).toContain('Done.!');
  });

  test('also if it was made before the span of the run began', async () => {
    const outer: AgentLifecycle = { name: 'outer', priority: 100, beforeAgent: (input) => `${input}!` };
    await guarded({}, { lifecycle: [outer, openTelemetry()], model: scriptedModel('Done.') }).run('go');

    expect(decisionsOf(telemetry.span('invoke_agent clerk'))).toMatchObject([{ type: 'modify', by: 'outer' }]);
  });

  test('on the span of the call that a person approves, and on the span of the run if the person denies', async () => {
    const suspended = await guarded(ask).run('go');
    expect(decisionsOf(telemetry.span('execute_tool pay'))).toMatchObject([{ type: 'suspend', reason: 'over 100' }]);

    for (const decision of ['approve', { deny: 'too much' }] as const) {
      telemetry.exporter.reset();
      const model = scriptedModel('Done.', { id: 'm' });
      await guarded(ask, { model }).run('', { messages: suspended.history, resume: { call_1: decision } });
      const name = decision === 'approve' ? 'execute_tool pay' : 'invoke_agent clerk';
      const shown = decision === 'approve' ? { type: 'approve' } : { type: 'block', reason: 'too much' };
      expect(decisionsOf(telemetry.span(name))).toMatchObject([
        { by: 'resume', point: 'resume', 'gen_ai.tool.call.id': 'call_1', ...shown },
      ]);
    }
  });

  test('with the path of a nested run', async () => {
    const inner = guarded({ beforeModel: () => HookAction.reject('too dark') }).asTool({ description: 'Helps.' });
    const model = scriptedModel([calls('clerk', { prompt: 'p' }), 'Done.']);
    await new Agent({ name: 'boss', model, tools: [inner], lifecycle: [openTelemetry({ content: true })] }).run('go');

    const span = telemetry.span('invoke_agent clerk');
    expect(decisionsOf(span)).toMatchObject([{ type: 'reject', reason: 'too dark', 'run.path': ['call_1'] }]);
    expect(span.attributes['keelson.run.path']).toEqual(['call_1']);
    expect(telemetry.span('execute_tool clerk').status.message).toBe(
      'Agent "clerk" failed: The run was rejected by "guard" in beforeModel: too dark',
    );
  });

  test('on the spans of all calls that wait for an approval inside of two agents', async () => {
    const lifecycle = [openTelemetry({ content: true })];
    const clerk = () => guarded(ask, { model: scriptedModel([calls('pay'), 'Done.'], { id: 'm', perRun: true }) });
    const boss = (tool: Agent) => {
      const model = scriptedModel([calls('clerk', { prompt: 'p' }), 'Done.'], { id: 'm', perRun: true });
      return new Agent({ name: 'boss', model, lifecycle, tools: [tool.asTool({ description: 'Helps.' })] });
    };
    const suspended = await boss(clerk()).run('go');

    const waits = [
      ['execute_tool clerk', 'Agent "clerk" waits for decisions.'],
      ['execute_tool pay', 'over 100'],
    ] as const;
    for (const [name, reason] of waits) {
      const { status, attributes } = telemetry.span(name);
      expect([status.code, attributes['keelson.tool.call.status']]).toEqual([0, 'suspended']);
      expect(decisionsOf(telemetry.span(name))).toMatchObject([{ type: 'suspend', reason }]);
    }
    expect(telemetry.span('invoke_agent boss').attributes['keelson.run.status']).toBe('suspended');
    expect(telemetry.span('invoke_agent clerk').attributes['keelson.run.status']).toBe('suspended');

    telemetry.exporter.reset();
    const id = suspended.pending[0]?.id ?? '';
    await boss(clerk()).run('', { messages: suspended.history, resume: { [id]: 'approve' } });
    expect(telemetry.tree()).toEqual([
      ...['invoke_agent boss', '  execute_tool clerk', '    invoke_agent clerk', '      execute_tool pay'],
      ...['      chat m', '  chat m'],
    ]);
    expect(decisionsOf(telemetry.span('execute_tool pay'))).toMatchObject([{ type: 'approve', by: 'resume' }]);
  });

  test('without its reason, unless content is recorded', async () => {
    await guarded({ wrapToolCall: () => HookAction.suspend('SECRET') }, {}, false).run('go');

    expect(decisionsOf(telemetry.span('execute_tool pay'))).toMatchObject([{ type: 'suspend', by: 'guard' }]);
    expect(JSON.stringify(telemetry.spans.map(({ events, status }) => [events, status]))).not.toContain('SECRET');
  });

  test('for each of two tracing lifecycles', async () => {
    const other = new Telemetry();
    const { tracerProvider } = other;
    const both = [openTelemetry(), openTelemetry({ tracerProvider }), { beforeAgent: () => HookAction.respond('No.') }];
    await guarded({}, { lifecycle: both }).run('go');

    for (const { spans } of [telemetry, other]) expect(decisionsOf(spans[0])).toHaveLength(1);
    await other.close();
  });
});

test('a run that fails in `afterAgent` of a later lifecycle has the reason on its span', async () => {
  const agent = guarded({ afterAgent: () => Promise.reject(new Error('no ink')) });
  const error = await rejectionOf(agent.run('go'));

  const span = telemetry.span('invoke_agent clerk');
  expect(span.status.message).toBe((error as Error).message);
  expect(span.attributes['keelson.run.status']).toBe('failed');
});

test('the span of a run ends with the run, also if the lifecycle is removed meanwhile', async () => {
  const agent = new Agent({ name: 'clerk', model: scriptedModel(() => 'Done.'), tools: [pay] });
  const remove = agent.use(openTelemetry());
  agent.use({ beforeModel: () => remove() });
  await agent.run('go');

  expect(telemetry.span('invoke_agent clerk').attributes['keelson.run.status']).toBe('completed');
});

describe('a call that ends early has the reason that the model reads', () => {
  const deaf = toolOf('pay', () => new Promise(() => {}));
  const hearing = toolOf('pay', (_input, { signal }) => {
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });

  async function cancel(stream: RunStream<unknown>) {
    for await (const event of stream) if (event.type === 'tool-start') await stream.cancel(['call_1'], 'too slow');
  }

  test.each([
    ['cancelled', hearing],
    ['cancelled, while its tool goes on', deaf],
  ])('when it is %s', async (_how, tool) => {
    await cancel(guarded({}, { tools: [tool] }).stream('go'));

    const { status, attributes } = telemetry.span('execute_tool pay');
    expect(status.message).toBe('The person cancelled this call: too slow');
    expect(attributes['error.type']).toBe('interrupted');
  });

  test('when its run is aborted', async () => {
    const controller = new AbortController();
    let isWaiting = false;
    const slow = toolOf('pay', () => {
      isWaiting = true;
      return new Promise(() => {});
    });
    const running = guarded({}, { tools: [slow] }).run('go', { signal: controller.signal });
    await until(() => isWaiting);
    controller.abort('enough');
    await running.catch(() => {});

    expect(telemetry.span('execute_tool pay').status.message).toBe('The call was aborted. The run was aborted: enough');
  });
});
