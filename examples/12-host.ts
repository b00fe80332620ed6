// A host application: loads hooks of three programs, MCP servers, extensions and a plugin package behind its own gate.
// It reloads all of them during a run.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { loadRuntime, type RuntimeReload } from 'keelson/runtime';
import { calls, says, scriptedModel } from 'keelson/testing';
import { type Approver, createTrustGate } from 'keelson/trust';
import { HarbourWorkspace } from './host/workspace.js';

const workspace = new HarbourWorkspace();
const cwd = workspace.dir;
process.env.HOME = workspace.home;

const log: string[] = [];
const keep = (level: string) => (message: string) => void log.push(`${level}: ${message}`);
const logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };

// In a terminal: `terminalApprover()`, which shows each item and asks.
const approve: Approver = ({ item }) => {
  console.log(`approved: ${item.kind} ${item.name}`);
  return true;
};
// An approval covers at most 20 kB, so the skill of the extension `logbook` is denied.
const limits = { files: 100, bytes: 20_000 };
const gate = createTrustGate({ appName: 'harbour', workspaceDir: cwd, limits, approve, logger });

const hideName = { name: 'hide-name', event: 'after_model', command: process.execPath } as const;
const runtime = await loadRuntime({
  appName: 'harbour',
  cwd,
  gate,
  compat: ['claude', 'cursor'],
  config: { hooks: { timeout: 5_000, hooks: [{ ...hideName, args: [join(cwd, 'hooks/hide-name.mjs')] }] } },
  hooks: { toolNames: { claude: {}, cursor: {} } },
  mcp: { waitForServers: true, clientInfo: { name: 'harbour-office', version: '2.1.0' } },
  plugins: { hostConfig: { quay: 'east' } },
  logger,
});
for (const { reasons } of runtime.status().extensions.extensions) for (const why of reasons) console.log(why);

// A tool of an MCP server can be called without an agent.
const tides = runtime.mcp.server('tides');
console.log(`the server is told: ${(await tides.callTool('who_asks')).content}`);
await tides.restart();
console.log(`after its restart: ${(await tides.callTool('who_asks')).content}`);

const model = scriptedModel([
  calls({ name: 'mcp__files__write_file', input: { path: join(cwd, 'log'), content: '' } }, { name: 'draught' }),
  calls('mcp__tides__who_asks'),
  calls('mcp__tides__next_tide'),
  calls('mcp__notes__delete_entities', { entityNames: ['Ishmael'] }),
  calls('mcp__notes__read_graph'),
  says('Ishmael may sail at 14:20.'),
]);
const agent = new Agent({ model, ...runtime.agentOptions() });

const stream = agent.stream('When may I sail?');
for await (const event of stream) {
  if (event.type === 'tool-end') console.log(`${event.name}: ${event.result?.content}`);
  // The tide server reports progress while it works on the call.
  if (event.type === 'tool-delta') await changeAndReload();
}
const { text } = await stream.result;
console.log(`answer: ${text}`);
console.log(`the hook of Cursor logged: ${workspace.read('mcp-calls.txt').trim()}`);

/** Changes the files of hooks, servers, extensions and plugins during a call of the tide server. */
async function changeAndReload(): Promise<void> {
  workspace.change();
  console.log('reload during the run:');
  print(await runtime.reload());
  // The server `tides` is no longer configured, and still finishes its call.
  workspace.raiseTide();
}

function print(report: RuntimeReload): void {
  for (const kind of ['hooks', 'servers', 'extensions', 'plugins'] as const) {
    const { added, removed, changed, unchanged } = report[kind];
    console.log(`  ${kind}: added [${added}], removed [${removed}], changed [${changed}], unchanged [${unchanged}]`);
  }
  for (const { kind, message } of report.diagnostics) console.log(`  problem with ${kind}: ${message}`);
}

// The runner runs the hooks of an event without an agent.
const { runner, registry } = runtime.hooks;
const write = { tool_name: 'mcp__files__write_file', args: {} };
const { cancelledBy, reason } = await runner.run('before_tool', write);
console.log(`the runner says: ${cancelledBy} cancels: ${reason}`);
console.log(`registry.clear() removed ${registry.clear()} hooks`);
const { cancelled } = await runner.run('before_tool', write);
console.log(`the runner says: cancelled is ${cancelled}`);
for (const { message } of runtime.hooks.status().diagnostics) console.log(message);

const starts = log.filter((line) => line.startsWith('debug: ') && line.includes('The tide server is ready.'));
assert.equal(starts.length, 2);
assert.ok(process.getActiveResourcesInfo().includes('ProcessWrap'));
await agent.close();
await runtime.close();

// The home directory is not a workspace: only the user's own items load. `hooks: false` reads no hook at all.
const atHome = await loadRuntime({ appName: 'harbour', cwd: workspace.home, hooks: false, limits, approve, logger });
console.log(log.at(-1));
await atHome.close();

assert.equal(text, '[name] may sail at 14:20.');
assert.ok(!process.getActiveResourcesInfo().includes('ProcessWrap'), 'a child process is left');
workspace[Symbol.dispose]();
