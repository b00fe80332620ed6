import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from 'keelson';
import type { Manifests } from 'keelson/manifest';
import { type McpServerHandle, type McpServers, type McpTools, mcpServers } from 'keelson/mcp';
import { loadRuntime, type Runtime } from 'keelson/runtime';
import { HOOK_EVENTS, type HookRegistry, type HookRunner, type ShellHooks, shellHooks } from 'keelson/shell-hooks';
import type { Skills } from 'keelson/skills';
import { says, scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';
import { expect, onTestFinished, test } from 'vitest';
import { makePlace, manifest } from '../../support/manifest/place.js';
import { script } from '../../support/process/scratch.js';

const SECRET = 'tide-4711-secret';
const FORMS = [SECRET, Buffer.from(SECRET).toString('base64').replace(/=+$/, '')];
const server = fileURLToPath(new URL('../../fixtures/mcp/telling-server.mjs', import.meta.url));
const TOOLS = ['tell', 'mismatch', 'failed', 'refused', 'progress', 'ask', 'noise'];

/** How the test calls a member, or the reason why it does not. */
type Cover<Part> = { readonly [Member in keyof Part]-?: ((part: Part, sink: Sink) => unknown) | string };
type Sink = (...values: unknown[]) => void;

const handleCalls: Cover<McpServerHandle> = {
  callTool: (handle, sink) =>
    Promise.allSettled([...TOOLS, 'unknown'].map((name) => handle.callTool(name, {}, { onProgress: sink }))),
  listResources: (handle) => handle.listResources(),
  listResourceTemplates: (handle) => handle.listResourceTemplates(),
  readResource: (handle) => Promise.allSettled(['x://a', 'x://bad'].map((uri) => handle.readResource(uri))),
  listPrompts: (handle) => handle.listPrompts(),
  getPrompt: (handle) => Promise.allSettled(['good', 'bad'].map((name) => handle.getPrompt(name))),
  finishAuthorization: (handle) => handle.finishAuthorization('code'),
  restart: (handle) => handle.restart(),
  reconnect: (handle) => handle.reconnect(),
};

const mcpCalls: Cover<McpServers> = {
  name: (mcp) => mcp.name,
  tools: (mcp, sink) => cover(mcp.tools, toolCalls, sink),
  status: (mcp) => mcp.status(),
  server: async (mcp, sink) => {
    await cover(mcp.server('tell'), handleCalls, sink);
    await dieOf(mcp);
    const broken = mcp.status().filter(({ name }) => name !== 'tell');
    return Promise.allSettled(broken.map(({ name }) => mcp.server(name).callTool('tell')));
  },
  add: (mcp) => mcp.add('x-more', { command: process.execPath, args: [server, 'crash'] }),
  set: (mcp) => mcp.set('x-more', { command: process.execPath, args: [server, 'exit'] }),
  remove: (mcp) => mcp.remove('x-more'),
  reload: (mcp) => mcp.reload(),
  announceRoots: (mcp) => mcp.announceRoots(),
  connect: (mcp) => mcp.connect(),
  load: 'the agent called it',
  close: 'the agent calls it at the end',
  optional: 'it is a flag',
};

const toolCalls: Cover<McpTools> = {
  list: (tools) => tools.list(),
  find: (tools) => tools.find('tell'),
  prefixes: (tools) => tools.prefixes?.(),
  revision: (tools) => tools.revision,
};

const registryCalls: Cover<HookRegistry> = {
  list: (registry) => registry.list(),
  hooksOf: (registry) => HOOK_EVENTS.map((event) => registry.hooksOf(event)),
  onChange: (registry, sink) => registry.onChange(sink),
  register: (registry) => registry.register({ event: 'before_agent', name: 'own', command: 'true', args: [] }),
  replace: (registry) => registry.replace([], []),
  unregister: (registry) => registry.unregister('own'),
  unregisterExtension: (registry) => registry.unregisterExtension('none'),
  settled: (registry) => registry.settled(),
  clear: 'it would remove the hooks',
};

const runnerCalls: Cover<HookRunner> = {
  run: (runner) =>
    Promise.all(
      (['before_tool', 'after_tool'] as const).map((event) =>
        runner.run(event, { tool_name: 'tell', args: {} } as never),
      ),
    ),
  matching: (runner) => runner.matching({ event: 'before_agent' } as never),
  namesOf: (runner) => runner.namesOf('tell', { dialect: 'native' }),
  runEvent: 'the agent called it',
};

const hookCalls: Cover<ShellHooks> = {
  name: (hooks) => hooks.name,
  registry: (hooks, sink) => cover(hooks.registry, registryCalls, sink),
  runner: (hooks, sink) => cover(hooks.runner, runnerCalls, sink),
  status: (hooks) => hooks.status(),
  approvals: (hooks) => hooks.approvals(),
  revoke: (hooks) => hooks.revoke('none'),
  reload: (hooks) => hooks.reload(),
  gate: 'it returns no data of parts',
  optional: 'it is a flag',
  load: 'the agent called it',
  close: 'the agent calls it at the end',
};

const skillCalls: Cover<Skills> = {
  list: (skills) => skills.list(),
  get: (skills) => skills.list().map(({ id }) => skills.get(id)),
  invoke: (skills) => Promise.all(skills.list().map(({ id }) => skills.invoke(id))),
};

const manifestCalls: Cover<Manifests> = {
  name: (loader) => loader.name,
  hooks: (loader, sink) => cover(loader.hooks, registryCalls, sink),
  mcp: (loader, sink) => cover(loader.mcp, mcpCalls, sink),
  skills: (loader, sink) => cover(loader.skills, skillCalls, sink),
  extensions: (loader) => loader.extensions(),
  isEnabled: (loader) => loader.isEnabled('x'),
  enabledNames: (loader) => loader.enabledNames(),
  status: (loader) => loader.status(),
  redact: (loader) => loader.redact(new Error(SECRET, { cause: { SECRET } })),
  redactingLogger: (loader, sink) => {
    const logger = { debug: sink, info: sink, warn: sink, error: sink };
    loader.redactingLogger(logger).info(SECRET, { SECRET });
  },
  disable: (loader) => loader.disable('x'),
  enable: (loader) => loader.enable('x'),
  configure: (loader) => loader.configure({ extensions: { x: { apiToken: SECRET } } }),
  reload: (loader) => loader.reload(),
  gate: 'it returns no data of parts',
  config: 'it contains the values, as its documentation says',
  load: 'the agent called it',
  close: 'the agent calls it at the end',
};

const runtimeCalls: Cover<Runtime> = {
  extensions: (runtime, sink) => cover(runtime.extensions, manifestCalls, sink),
  hooks: (runtime, sink) => cover(runtime.hooks, hookCalls, sink),
  mcp: (runtime, sink) => cover(runtime.mcp, mcpCalls, sink),
  status: (runtime) => runtime.status(),
  reload: (runtime) => runtime.reload(),
  gate: 'it returns no data of parts',
  store: 'it returns no data of parts',
  agentOptions: 'the test calls it',
  close: 'the test calls it at the end',
  [Symbol.asyncDispose]: 'the same as close',
};

/** Calls each member of a part as the table says, one after another, and passes each outcome to `sink`. */
async function cover<Part extends object>(part: Part, table: Cover<Part>, sink: Sink): Promise<void> {
  for (const [name, call] of Object.entries(table) as [string, Cover<Part>[keyof Part]][]) {
    if (typeof call !== 'string')
      sink(
        name,
        await Promise.resolve()
          .then(() => call(part, sink))
          .catch((error) => error),
      );
  }
}

async function dieOf(mcp: McpServers): Promise<void> {
  const died = await mcp
    .server('tell')
    .callTool('die')
    .catch((error: unknown) => error);
  expect(died).toMatchObject({ code: 'ERR_MCP_REQUEST' });
}

test.each<[string, string, object]>([
  ['manifest', 'Manifests', manifestCalls],
  ['mcp', 'McpServers', mcpCalls],
  ['mcp', 'McpServerHandle', handleCalls],
  ['mcp', 'McpTools', toolCalls],
  ['shell-hooks', 'ShellHooks', hookCalls],
  ['shell-hooks', 'HookRegistry', registryCalls],
  ['shell-hooks', 'HookRunner', runnerCalls],
  ['skills', 'Skills', skillCalls],
  ['runtime', 'Runtime', runtimeCalls],
])('the test of secrecy covers every member in keelson/%s of %s', (entry, type, table) => {
  const report = readFileSync(new URL(`../../package/api/${entry}.api.md`, import.meta.url), 'utf8');
  const [, body = ''] = new RegExp(`^(?:interface|class) ${type}\\b[^\\n]*\\{\\n(.*?)^\\}`, 'ms').exec(report) ?? [];
  const names = [...body.matchAll(/^ {4}(?:readonly |get |static )*(\w+)\??[<(:]/gm)].map(([, name]) => name);

  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => name !== 'constructor' && !(String(name) in table))).toEqual([]);
});

/** Returns the path to the first string that contains the secret, through every own property of a value. */
function findSecret(value: unknown, path = 'value', seen = new Set<unknown>()): string | undefined {
  if (typeof value === 'string') return FORMS.some((form) => value.includes(form)) ? `${path}: ${value}` : undefined;
  if (typeof value !== 'object' || value === null || seen.has(value) || ArrayBuffer.isView(value)) return undefined;
  seen.add(value);
  const entries =
    value instanceof Map || value instanceof Set
      ? [...value].map((item, at) => [String(at), item] as const)
      : Reflect.ownKeys(value).map((key) => [String(key), (value as Record<PropertyKey, unknown>)[key]] as const);
  for (const [key, item] of entries) {
    const found = findSecret(key, `${path} has a key`) ?? findSecret(item, `${path}.${key}`, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Creates an extension whose servers, hooks and texts write the secret into all their outputs. */
async function arrange() {
  const place = makePlace();
  const web = createServer((request, response) => {
    response.writeHead(500, { 'content-type': 'text/plain' }).end(`no ${request.url} ${request.headers.authorization}`);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void web.close());
  await once(web, 'listening');
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/\${X_TOKEN}`;
  const command = process.execPath;
  const root = place.user(
    'x',
    manifest('x', {
      settings: [{ name: 'apiToken', description: 'The token.', sensitive: true, envVar: 'X_TOKEN' }],
      mcpServers: {
        tell: { command, args: [server] },
        crash: { command, args: [server, 'crash'] },
        missing: { command: `/missing/\${X_TOKEN}`, args: [] },
        web: { url, headers: { authorization: `Bearer \${X_TOKEN}` }, type: 'http' },
        refused: { url: `http://127.0.0.1:1/\${X_TOKEN}`, type: 'sse' },
      },
      hooks: [
        ...HOOK_EVENTS.map((event) => ({ name: `tell ${event}`, event, command: './tell.sh', ...onlyTell(event) })),
        { name: 'fail', event: 'after_agent', command: './fail.sh' },
        { name: 'stop', event: 'after_model', command: './stop.sh' },
      ],
      skills: [{ name: 'look', description: `Look at ${SECRET}.`, prompt: `Look at ${SECRET}.` }],
      contextFiles: ['notes.md'],
    }),
  );
  const said = '{"systemMessage":"it is %s","reason":"it is %s","updatedInput":{},"data":{"k":"%s"},"other":"%s"}';
  const values = '"$X_TOKEN" "$X_TOKEN" "$X_TOKEN" "$X_TOKEN"';
  script(join(root, 'tell.sh'), `#!/bin/sh\ncat >/dev/null\necho "it is $X_TOKEN" >&2\nprintf '${said}' ${values}\n`);
  script(
    join(root, 'fail.sh'),
    '#!/bin/sh\ncat >/dev/null\necho "it is $X_TOKEN" >&2\necho "it is $X_TOKEN"\nexit 1\n',
  );
  const stop = `case "$(cat)" in *"stop here"*) printf '{"continue":false,"reason":"it is %s"}' "$X_TOKEN";; esac`;
  script(join(root, 'stop.sh'), `#!/bin/sh\n${stop}\n`);
  return place;
}

/** Fewer processes: a hook at a tool event runs for one tool. */
function onlyTell(event: string) {
  return event.endsWith('_tool') ? { matcher: 'mcp__tell__tell' } : {};
}

function recorder() {
  const seen: unknown[] = [];
  const sink: Sink = (...values) => void seen.push(values);
  return { seen, sink, logger: { debug: sink, info: sink, warn: sink, error: sink } };
}

const scripted = () =>
  scriptedModel([
    says('', { calls: TOOLS.map((name) => ({ name: `mcp__tell__${name}`, input: {} })) }),
    ...['done', 'stop here'],
  ]);

test('S0-12.3: a sensitive value is in no output of an extension with hooks and servers of the host', {
  timeout: 60_000,
}, async () => {
  const place = await arrange();
  const { seen, sink, logger } = recorder();
  const { workspaceDir, userDir } = place;
  const env = { ...process.env, X_TOKEN: SECRET };
  const gate = createTrustGate({ appName: 'app', workspaceDir, stateDir: userDir, logger });
  const hooks = shellHooks({ workspaceDir, gate, onNotice: sink, onDiagnostic: sink, machine: { logger } });
  const elicit = (question: object) => {
    sink(question);
    return { action: 'cancel' } as const;
  };
  const mcp = mcpServers({ gate, onEvent: sink, elicit, reconnect: false, system: { env, logger } });
  const model = scripted();
  const { loader, agent } = await place.load({ gate, hooks, mcp, env, logger }, { model, logger });

  sink(await agent.run('go'), await agent.run('again').catch((error: unknown) => error), agent.status());
  await cover(hooks, hookCalls, sink);
  await cover(loader, manifestCalls, sink);
  await agent.close();

  expect(JSON.stringify(model.requests)).toContain('it is [redacted]');
  expect(findSecret([seen, model.requests])).toBeUndefined();
});

test('S0-12.3: a sensitive value is in no output of an extension of a runtime', { timeout: 60_000 }, async () => {
  const place = await arrange();
  const { seen, sink, logger } = recorder();
  const { workspaceDir: cwd, userDir } = place;
  const env = { ...process.env, X_TOKEN: SECRET };
  const elicit = (question: object) => {
    sink(question);
    return { action: 'cancel' } as const;
  };
  const runtime = await loadRuntime({
    ...{ appName: 'app', cwd, userDir, logger, manifests: { env } },
    ...{ mcp: { onEvent: sink, elicit, reconnect: false, system: { env, logger } } },
    hooks: { onNotice: sink, onDiagnostic: sink },
  });
  onTestFinished(() => runtime.close());
  const model = scripted();
  const agent = new Agent({ model, ...runtime.agentOptions() });

  sink(await agent.run('go'), await agent.run('again').catch((error: unknown) => error), agent.status());
  await cover(runtime, runtimeCalls, sink);
  await agent.close();

  expect(findSecret([seen, model.requests])).toBeUndefined();
});
