import { Agent, handoff, type Message } from 'keelson';
import { durable, memoryStep } from 'keelson/durable';
import { FileSessionStore } from 'keelson/file';
import { approval, openRun, sealRun } from 'keelson/lifecycles';
import { calls, hangs, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { office, to } from '../../support/agent/handoff/office.js';
import { gate, rejectionOf, until } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';
import { keepingLogger } from '../../support/lifecycle/sample-agent.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

type Scripts = Partial<Record<'triage' | 'billing', readonly ScriptEntry[]>>;

/** The office of a new process. Calls of `echo` need approval. */
const officeOf = ({ triage = [], billing = [] }: Scripts, options: Parameters<typeof office>[1] = {}) => {
  const lifecycle = [approval({ tools: ['echo'] })];
  return office(
    { triage, billing },
    { triage: { lifecycle, ...options.triage }, billing: { lifecycle, ...options.billing } },
  );
};

const json = <T>(value: T): T => JSON.parse(JSON.stringify(value));
const echoCall = { name: 'echo', id: 'e', input: { text: 'hi' } };

describe('the next run', () => {
  test('goes on with the agent of the last answer', async () => {
    const first = await officeOf({ triage: [to('billing')], billing: ['Hello.'] }).triage.run('Hi.');
    const { triage, log } = officeOf({ billing: ['Hello again.'] });

    const { text, messages } = await triage.run('Me again.', { messages: json(first.history) });

    expect(text).toBe('Hello again.');
    expect(messages.at(-1)).toMatchObject({ agent: 'billing' });
    expect(log).toEqual(['billing: beforeAgent', 'billing: beforeModel', 'billing: afterAgent']);
  });

  test('goes on with the agent that was handed the conversation, if the run ended there', async () => {
    const broken = officeOf({ triage: [to('billing')] });
    const { history } = (await rejectionOf(broken.triage.run('Hi.'))) as { history: Message[] };
    const { triage } = officeOf({ billing: ['Hello.', to('triage')], triage: ['Bye.'] });

    expect(await triage.run('', { messages: json(history) })).toMatchObject({ text: 'Hello.' });
    const back = await triage.run('', { messages: json(history) });

    expect(back).toMatchObject({ text: 'Bye.' });
    expect(await officeOf({ triage: ['I am back.'] }).triage.run('?', { messages: back.history })).toMatchObject({
      text: 'I am back.',
    });
  });

  test('belongs to the agent that is run, which may be another one', async () => {
    const first = await officeOf({ triage: [to('billing')], billing: ['Hello.'] }).triage.run('Hi.');
    const { billing } = officeOf({ billing: ['Mine.'] });

    const { messages } = await billing.run('Hi.', { messages: first.history });

    expect(messages.at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'Mine.' }] });
  });

  test('belongs to the agent that is run if no handoff leads to the other, with one warning', async () => {
    const logger = keepingLogger();
    const agent = new Agent({ name: 'triage', model: scriptedModel(['Hello.']), logger });
    const answer: Message = { role: 'assistant', content: [{ type: 'text', text: 'Hm.' }], agent: 'sales' };

    const { text } = await agent.run('Hi.', { messages: [answer] });

    expect(text).toBe('Hello.');
    expect(logger.lines).toEqual([
      'warn: Agent "triage" answers messages of agent "sales", but has no handoff to it. Run that agent, or add a handoff to it.',
    ]);
  });

  test('has a time limit that includes the loading of the other agent', async () => {
    const first = await officeOf({ triage: [to('billing')], billing: ['Hello.'] }).triage.run('Hi.');
    const clock = manualClock();
    const loading = gate();
    const { triage, models } = officeOf(
      { billing: [hangs()] },
      { triage: { clock, timeouts: { runMs: 100 } }, billing: { loaders: [{ name: 'l', load: loading.pass }] } },
    );
    const error = rejectionOf(triage.run('?', { messages: first.history }));
    await until(() => loading.arrived > 0);

    await clock.advance(60);
    loading.open();
    await until(() => models.billing.requests.length > 0);
    await clock.advance(40);

    expect(await error).toMatchObject({ code: 'ERR_RUN_TIMEOUT' });
    expect(clock.waiting).toBe(0);
  });

  test('is refused if the agent that is run is durable', async () => {
    const { history: messages } = await officeOf({ triage: [to('billing')], billing: ['Hello.'] }).triage.run('Hi.');
    const { billing } = officeOf({});
    const engine = durable({ step: memoryStep() });
    const tools = [handoff(billing, { name: 'to_billing', description: 'Hands over.' })];
    const agent = new Agent(engine.options({ name: 'triage', model: scriptedModel([]), tools }));

    expect(await rejectionOf(agent.run('?', { messages }))).toMatchObject({ code: 'ERR_HANDOFF_UNAVAILABLE' });
  });

  test('is refused if the other agent is closed', async () => {
    const first = await officeOf({ triage: [to('billing')], billing: ['Hello.'] }).triage.run('Hi.');
    const { triage, billing } = officeOf({});
    await billing.close();

    const error = await rejectionOf(triage.run('?', { messages: first.history }));

    expect(error).toMatchObject({ code: 'ERR_HANDOFF_UNAVAILABLE' });
    expect(triage.status().runs).toBe(0);
  });

  test('with invalid messages or decisions leaves no run behind', async () => {
    const first = await officeOf({ triage: [to('billing')], billing: ['Hello.'] }).triage.run('Hi.');
    const { triage, billing } = officeOf({});
    const messages = [...first.history.slice(0, -1), { role: 'assistant', agent: 'billing', content: [null as never] }];

    expect(await rejectionOf(triage.run('?', { messages }))).toMatchObject({ code: 'ERR_MESSAGE_INVALID' });
    const resume = { x: 'approve' };
    expect(await rejectionOf(triage.run('?', { messages: first.history, resume }))).toMatchObject({
      code: 'ERR_RESUME_INVALID',
    });
    expect([triage.status().runs, billing.status().runs]).toEqual([0, 0]);
  });
});

describe('calls that wait beside a handoff', () => {
  const both = calls({ name: 'to_billing', id: 'h' }, echoCall);

  test('run with the agent that made them, and then the other agent goes on', async () => {
    const waiting = await officeOf({ triage: [both] }).triage.run('Hi.');
    expect(waiting.pending).toMatchObject([{ id: 'e' }]);
    const { triage, log, models } = officeOf({ billing: ['Hello.'] });

    const result = await triage.run('', { messages: json(waiting.history), resume: { e: 'approve' } });

    expect(result).toMatchObject({ status: 'completed', text: 'Hello.' });
    expect(resultsIn(result.history)).toEqual({ h: 'The conversation continues with "billing".', e: 'hi' });
    expect(log).toEqual([
      ...['triage: beforeAgent', 'triage: echo', 'triage: afterAgent'],
      ...['billing: beforeAgent', 'billing: beforeModel', 'billing: afterAgent'],
    ]);
    expect(models.billing.requests[0]?.messages[0]?.content).toBe('You are billing.');
  });

  test('wait for each other, too: the second handoff is refused after the first', async () => {
    const two = calls({ name: 'to_billing', id: 'a' }, { name: 'to_billing', id: 'b' });
    const guarded = { triage: { lifecycle: [approval({ tools: ['to_billing'] })] } };
    const { triage } = officeOf({ triage: [two] }, guarded);
    const waiting = await triage.run('Hi.');
    const second = await triage.run('', { messages: json(waiting.history), resume: { b: 'approve' } });
    expect(second.pending).toMatchObject([{ id: 'a' }]);

    const { billing, ...third } = officeOf({ billing: ['Hello.'] }, guarded);
    const result = await third.triage.run('', { messages: json(second.history), resume: { a: 'approve' } });

    expect([billing.name, result.text]).toEqual(['billing', 'Hello.']);
    expect(resultsIn(result.history).a).toContain('another call of this turn');
  });

  test('of the other agent run with its tools and lifecycles, also from a sealed run', async () => {
    const { triage } = officeOf({ triage: [to('billing')], billing: [calls(echoCall)] });
    const waiting = await triage.run('Hi.');
    const key = crypto.getRandomValues(new Uint8Array(32));
    const text = await sealRun(waiting, key, { agent: 'triage', expiresInMs: 1_000 });

    const { messages } = await openRun(text, key, { agent: 'triage' });
    const next = officeOf({ billing: ['Done.'] });
    const result = await next.triage.run('', { messages, resume: { e: { approve: { text: 'ho' } } } });

    expect([result.text, next.log]).toEqual([
      'Done.',
      ['billing: beforeAgent', 'billing: echo', 'billing: beforeModel', 'billing: afterAgent'],
    ]);
    expect(resultsIn(result.history).e).toContain('ho');
  });
});

describe('a session', () => {
  const opened = async (folder: string, scripts: Scripts) => {
    const made = officeOf(scripts, { triage: { store: new FileSessionStore({ folder }) } });
    return { ...made, session: await made.triage.session({ id: 's' }) };
  };

  test('goes on in another process with the agent that has the conversation', async () => {
    const folder = await temporaryFolder();
    const both = calls({ name: 'to_billing', id: 'h' }, echoCall);
    await (await opened(folder, { triage: [both] })).session.run('Hi.');
    const second = await opened(folder, { billing: [calls({ ...echoCall, id: 'f' })] });
    const waiting = await second.session.run('', { resume: { e: 'approve' } });
    expect(waiting.pending).toMatchObject([{ id: 'f' }]);

    const third = await opened(folder, { billing: ['Done.', to('triage')], triage: ['Bye.'] });
    expect(await third.session.run('', { resume: { f: 'approve' } })).toMatchObject({ text: 'Done.' });
    expect(await third.session.run('Go back.')).toMatchObject({ text: 'Bye.' });

    const { entries } = await opened(folder, {}).then(async ({ session }) => {
      await session.history();
      return session;
    });
    const spoken = entries.flatMap(({ agent, body }) =>
      body.type === 'message' ? [`${agent} ${body.message.role}`] : [],
    );
    expect(spoken).toEqual([
      ...['triage user', 'triage assistant', 'triage tool', 'triage tool'],
      ...['billing assistant', 'billing tool', 'billing assistant'],
      ...['billing user', 'billing assistant', 'billing tool', 'triage assistant'],
    ]);
  });

  test('goes on with the owner at an entry before the handover', async () => {
    const { triage } = officeOf({ triage: ['Hello.', to('billing'), 'I am triage.'], billing: ['I am billing.'] });
    const session = await triage.session();
    await session.run('Hi.');
    const { id } = session.entries[1] as { id: string };
    expect(await session.run('Billing, please.')).toMatchObject({ text: 'I am billing.' });

    expect(await session.run('Again.', { at: id })).toMatchObject({ text: 'I am triage.' });
  });
});
