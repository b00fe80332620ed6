import type { AgentEvent } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls } from 'keelson/testing';
import { agUIResponse, MemoryRunLog, sseResponse, uiMessageResponse } from 'keelson/ui';
import { expect, test } from 'vitest';
import { office, to } from '../../support/agent/handoff/office.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, rejectionOf, until } from '../../support/agent/settle.js';

test('a message for a session joins the part of the other agent', async () => {
  const waiting = gate();
  const { triage, models } = office(
    { triage: [to('billing')], billing: [calls('wait'), 'Hello.'] },
    { billing: { tools: [toolOf('wait', waiting.pass)] } },
  );
  const session = await triage.session();
  const run = session.run('Hi.');
  await until(() => waiting.arrived > 0);

  await session.send('Please hurry.');
  waiting.open();

  expect(await run).toMatchObject({ text: 'Hello.' });
  expect(models.billing.requests[1]?.messages.at(-1)).toEqual({ role: 'user', content: 'Please hurry.' });
});

test('a message that the host adds while a call of the other agent waits stays one entry', async () => {
  const { triage } = office(
    { triage: [to('billing')], billing: [calls('echo', { text: 'x' }), 'Hello.'] },
    { billing: { lifecycle: [approval({ tools: ['echo'] })] } },
  );
  const session = await triage.session();
  await session.run('Hi.');
  await session.append({ role: 'assistant', content: [{ type: 'text', text: 'A person looks at it.' }] });

  const { text } = await session.run('', { resume: { call_1: 'approve' } });

  expect(text).toBe('Hello.');
  expect(JSON.stringify(session.entries).split('A person looks at it.')).toHaveLength(2);
});

test('a stop of the session ends the part of the other agent', async () => {
  const waiting = gate();
  const { triage, log } = office(
    { triage: [to('billing')], billing: [calls('wait')] },
    { billing: { tools: [toolOf('wait', waiting.pass)] } },
  );
  const session = await triage.session();
  const error = rejectionOf(session.run('Hi.'));
  await until(() => waiting.arrived > 0);

  expect(await session.stop()).toBe(true);

  expect(await error).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect(log.at(-1)).toBe('billing: onError');
});

test('who follows the run log sees the handover', async () => {
  const waiting = gate();
  const { triage } = office(
    { triage: [to('billing')], billing: [calls('wait'), 'Hello.'] },
    { billing: { tools: [toolOf('wait', waiting.pass)] } },
  );
  const session = await triage.session({ runLog: new MemoryRunLog() });
  const run = session.run('Hi.');
  await until(() => waiting.arrived > 0);
  const following = await session.attach();
  waiting.open();
  await run;

  const events: AgentEvent[] = [];
  for await (const event of following ?? []) events.push(event);
  expect(events.filter(({ type }) => type === 'handoff')).toMatchObject([{ from: 'triage', to: 'billing' }]);
});

test('pages get the handover in each protocol', async () => {
  const stream = () => office({ triage: [to('billing')], billing: ['Hello.'] }).triage.stream('Hi.');

  expect(await sseResponse(stream()).text()).toContain('{"type":"handoff","turn":1,"from":"triage","to":"billing"}');
  expect(await uiMessageResponse(stream()).text()).toContain(
    '{"type":"data-handoff","data":{"from":"triage","to":"billing"},"transient":true}',
  );
  expect(await agUIResponse(stream(), { threadId: 't' }).text()).toContain(
    '{"type":"CUSTOM","name":"keelson.handoff","value":{"from":"triage","to":"billing"}}',
  );
});
