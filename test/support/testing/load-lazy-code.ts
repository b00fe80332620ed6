import { Agent } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { toolOf } from '../agent/sample-tools.js';

/** Loads the code that is loaded on use: sessions, and resumed runs. The time of that load is decided by no clock of a test. */
export async function loadLazyCode(): Promise<void> {
  const model = scriptedModel([calls('look'), 'Done.']);
  const agent = new Agent({ model, tools: [toolOf('look', () => 'seen')], lifecycle: [approval()] });
  const session = await agent.session();
  await session.run('Look.');
  await session.run('', { resume: { call_1: 'approve' } });
  await agent.close();
}
