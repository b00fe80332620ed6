import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { conceptAugmentation } from '../src/concepts/concepts.js';
import { ExtensionRegistry } from '../src/extension/extension.js';
import { Agent, type AgentLifecycle, type ToolCallNext, type ToolCallRequest } from '../src/index.js';
import { manifests } from '../src/manifest/manifest.js';
import { mcpServers } from '../src/mcp/mcp.js';
import { plugins } from '../src/plugins/plugins.js';
import { shellHooks } from '../src/shell-hooks/shell-hooks.js';
import { calls, says, scriptedModel } from '../src/testing/testing.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-one-chain-')));
const [workspaceDir, userDir, record] = [join(folder, 'work'), join(folder, 'home'), join(folder, 'record')];
const tides = fileURLToPath(new URL('../examples/extensions/harbour/server.mjs', import.meta.url));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Lifecycles in this process and in child processes write to one file, which records their order. */
const note = (line: string) => appendFileSync(record, `${line}\n`);
const noting = (line: string) => ({ command: 'sh', args: ['-c', `cat > /dev/null; echo '${line}' >> '${record}'`] });

/** A lifecycle in the style of an application. */
class Audit implements AgentLifecycle {
  beforeAgent = () => note('class beforeAgent');
  afterAgent = () => note('class afterAgent');
  async wrapToolCall(_call: ToolCallRequest, next: ToolCallNext) {
    note('class before the tool');
    const result = await next();
    note('class after the tool');
    return result;
  }
}

const extensions = new ExtensionRegistry();
extensions.register({
  id: 'notes',
  onInputMessages: (messages) => {
    note('extension onInputMessages');
    return messages;
  },
  onLlmOutput: (output) => {
    note('extension onLlmOutput');
    return output;
  },
});

const plugin = `
import { appendFileSync } from 'node:fs';
const note = (line) => appendFileSync(${JSON.stringify(record)}, line + '\\n');
export default {
  name: 'helm',
  hooks: {
    beforeMessage: (message) => (note('plugin beforeMessage'), message),
    beforeToolExecute: (name, input) => (note('plugin before the tool'), { name, input }),
    afterToolExecute: (name, input, result) => (note('plugin after the tool'), result),
    afterResponse: () => note('plugin afterResponse'),
  },
};`;

const concepts = conceptAugmentation({
  buildContext: ({ conceptName }) => {
    note(`concept ${conceptName}`);
    return 'A long timber.';
  },
});

const manifest = {
  name: 'log',
  version: '1.0.0',
  description: 'Keeps a log.',
  hooks: { after_tool: [{ name: 'log', ...noting('manifest hook after_tool') }] },
};

test('one agent runs every kind of extension in the documented order', async () => {
  write(join(workspaceDir, 'helm.mjs'), plugin);
  const config = write(
    join(workspaceDir, 'app.plugins.mjs'),
    "export default { plugins: [{ path: './helm.mjs' }] };\n",
  );
  write(join(userDir, 'extensions/log/manifest.json'), JSON.stringify(manifest));
  const model = scriptedModel([calls('mcp__tides__moor', { ship: 'the [[keelson]]', prompt: '' }), says('Moored.')]);
  const agent = new Agent({
    model,
    lifecycle: [new Audit(), concepts],
    loaders: [
      extensions,
      plugins({ config }),
      mcpServers({ servers: { tides: { command: process.execPath, args: [tides] } }, waitForServers: true }),
      manifests({ appName: 'app', workspaceDir, userDir }),
      shellHooks({
        workspaceDir,
        hooks: {
          before_tool: [{ name: 'gate', ...noting('shell hook before_tool') }],
          after_agent: [{ name: 'end', ...noting('shell hook after_agent') }],
        },
      }),
    ],
  });

  const { text, messages } = await agent.run('Moor her.');
  await agent.close();

  expect(text).toBe('Moored.');
  const [result] = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  expect(JSON.stringify(result)).toContain('is moored');
  expect(readFileSync(record, 'utf8').trim().split('\n')).toEqual([
    ...['class beforeAgent', 'plugin beforeMessage', 'extension onInputMessages', 'extension onLlmOutput'],
    ...['class before the tool', 'plugin before the tool', 'concept keelson', 'shell hook before_tool'],
    ...['plugin after the tool', 'class after the tool', 'manifest hook after_tool'],
    ...['extension onLlmOutput', 'class afterAgent', 'plugin afterResponse', 'shell hook after_agent'],
  ]);
}, 30_000);
