import { readFileSync } from 'node:fs';
import { Agent, type AgentLifecycle, type LifecycleLoader } from 'keelson';
import { durable, type JournalEntry, memoryStep } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { approveAll } from '../../support/durable/errand.js';

/** Stored by version 0.1, which made tool lists steps. The run waits for an approval of `pay`. */
const OLD = new URL('../../fixtures/durable/old-journal.json', import.meta.url);

test('a run that an older version began goes on with the steps of that version', async () => {
  const journal: readonly JournalEntry[] = JSON.parse(readFileSync(OLD, 'utf8'));
  const works: string[] = [];
  const tool = (name: string) => toolOf(name, () => works.push(name));
  const loader: LifecycleLoader = { name: 'l', load: (host) => void host.use({ tools: [tool('look')] }) };
  const audit: AgentLifecycle = {
    name: 'audit',
    beforeModel: () => void works.push('audit'),
    afterAgent: (text) => text,
  };
  const step = memoryStep({ id: 'old', journal });
  const agent = new Agent(
    durable({ step, hooks: ['audit'] }).options({
      model: scriptedModel([says('Done.')]),
      tools: [tool('pay')],
      loaders: [loader],
      lifecycle: [approval({ tools: ['pay'] }), audit],
      logger: keepingLogger(),
    }),
  );

  const suspended = await agent.run('Pay.');
  expect([suspended.status, works]).toEqual(['suspended', []]);
  const { text } = await agent.run('', { messages: suspended.history, resume: await approveAll(suspended) });

  expect([text, works]).toEqual(['Done.', ['pay', 'audit']]);
  expect(step.journal.slice(journal.length).map((entry) => entry?.name)).toEqual([
    ...['tools 1, run 2', 'tool pay call_2, run 2', 'hook audit.beforeModel 1, run 2', 'tools 2, run 2'],
    ...['model 1, run 2', 'hook audit.afterAgent 1, run 2'],
  ]);
});
