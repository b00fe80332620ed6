import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { calls, says } from 'keelson/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { toolOf } from '../support/agent/sample-tools.js';
import { agentOf, lastResult } from '../support/plugins/plugin-folder.js';

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const audit = { path: pathOf('../../examples/plugins/audit-logger.ts') };
const ported = { path: pathOf('../../examples/plugins/kubectl-tool.ts') };
const forBun = { path: pathOf('../fixtures/plugins/kubectl.ts') };

const before = process.env.PATH;
beforeEach(() => {
  process.env.PATH = pathOf('../fixtures/plugins/bin') + delimiter + before;
});
afterEach(() => {
  process.env.PATH = before;
  vi.restoreAllMocks();
});

test('S3-6.1: the audit logger logs the tools and each call, and changes nothing', async () => {
  const lines: unknown[] = [];
  vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
  const tools = [toolOf('work', (input) => input), toolOf('other', () => 'other')];
  const script = () => [calls({ name: 'work', input: { n: 1 } }, { name: 'other', input: {} }), says('end')];
  const watched = agentOf({ config: [audit] }, { script: script(), tools });
  const plain = agentOf({ config: [] }, { script: script(), tools });
  const result = await watched.agent.run('go');

  expect(lines.slice(0, 3)).toEqual([
    '[audit] Tools: work, other',
    '[audit] tool=work input={"n":1}',
    '[audit] tool=other input={}',
  ]);
  expect(lines.slice(3).sort()).toEqual(['[audit] tool=other error=false', '[audit] tool=work error=false']);
  expect(result.messages).toEqual((await plain.agent.run('go')).messages);
  const sent = ({ model }: typeof plain) =>
    model.requests.map(({ messages, tools: offered }) => ({ messages, offered }));
  expect(sent(watched)).toEqual(sent(plain));
});

describe('S3-6.2: the kubectl plugin', () => {
  const script = () => [
    calls(
      { name: 'kubectl_get', input: { resource: 'pods' } },
      { name: 'kubectl_get', input: { resource: 'secrets' } },
    ),
    says('end'),
  ];

  test.each([
    ['the namespace in its options', { namespace: 'prod' }, 'prod'],
    ['the default namespace', undefined, 'default'],
  ])('uses %s, and a failure of the program becomes an error result', async (_title, options, namespace) => {
    const { agent, model } = agentOf({ config: [{ ...ported, options }] }, { script: script() });
    await agent.run('go');

    expect(lastResult(model)).toEqual([
      { content: `argv: get pods -n ${namespace}\n`, isError: false },
      { content: `argv: get secrets -n ${namespace}\n`, isError: true },
    ]);
  });

  test('S3-2.7: a call without the required argument runs no program', async () => {
    const { agent, model } = agentOf({ config: [ported] }, { script: [calls('kubectl_get', {}), says('end')] });
    await agent.run('go');

    expect(lastResult(model)).toEqual([{ content: expect.stringContaining('resource'), isError: true }]);
  });

  test('written for Bun returns an error result in Node, and the run continues', async () => {
    const { agent, model } = agentOf({ config: [forBun] }, { script: script() });
    const { text } = await agent.run('go');

    expect(text).toBe('end');
    expect(lastResult(model)).toEqual(Array(2).fill({ content: 'Bun is not defined', isError: true }));
  });
});
