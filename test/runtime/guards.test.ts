import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, defineTool } from 'keelson';
import { loadRuntime } from 'keelson/runtime';
import { calls, says, scriptedModel } from 'keelson/testing';
import { createTrustGate, type TrustDecision, type TrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { keepingLogger } from '../support/agent/silent-logger.js';
import { scratchFolder, write } from '../support/process/scratch.js';

const guard = (more: object) => ({ hooks: [{ type: 'command', command: 'exit 2', ...more }] });
const bash = defineTool({ name: 'Bash', description: 'b', input: { type: 'object' }, execute: () => 'done' });

interface Case {
  readonly approve?: () => boolean;
  readonly compat?: readonly ['claude'] | readonly [];
  /** Hooks of a package without a manifest. */
  readonly ofPackage?: object;
}

/** Returns a gate whose `check` takes longer than the other steps of loading. */
function withSlowCheck(gate: TrustGate): TrustGate {
  const check: TrustGate['check'] = async (item) => {
    for (let round = 0; round < 20; round += 1) await new Promise(setImmediate);
    return gate.check?.(item) as Promise<TrustDecision>;
  };
  return new Proxy(gate, { get: (target, key) => (key === 'check' ? check : Reflect.get(target, key)) });
}

/** Loads a runtime with hooks of Claude Code in the workspace, and runs an agent that calls Bash. */
async function guardsOf(hooks: object, { approve = () => true, compat = ['claude'], ofPackage }: Case = {}) {
  const [userDir, cwd, logger] = [join(scratchFolder(), '.app'), scratchFolder(), keepingLogger()];
  mkdirSync(userDir, { recursive: true });
  write(join(cwd, '.claude/settings.json'), JSON.stringify({ hooks }));
  if (ofPackage) write(join(userDir, 'extensions/lost/hooks/hooks.json'), JSON.stringify({ hooks: ofPackage }));
  const place = { appName: 'app', workspaceDir: cwd, stateDir: userDir, logger };
  const gate = withSlowCheck(createTrustGate({ ...place, approve }));
  const options = { appName: 'app', cwd, userDir, logger, gate, plugins: false } as const;
  const runtime = await loadRuntime({ ...options, compat, hooks: { toolNames: { claude: {} }, discover: ['claude'] } });
  const before = runtime.status().guards;
  const model = scriptedModel([calls('Bash', {}), says('done')]);
  const agent = new Agent({ model, tools: [bash], ...runtime.agentOptions() });
  await agent.run('go');
  const { guards } = runtime.status();
  await agent.close();
  await runtime.close();
  const shown = (list: typeof guards) => list.map(({ name, state }) => `${name.split('/').at(-1)}: ${state}`);
  return { before: shown(before), after: shown(guards), guards, lines: logger.lines };
}

test('each guard on disk is active, in doubt, blocked or an error', async () => {
  const ofPackage = {
    PreToolUse: [
      { matcher: 'Bash', ...guard({ timeout: '10' }) },
      { matcher: '(?!Read).*', ...guard({ timeout: [] }) },
      { matcher: 'Bash(rm *)', ...guard({}) },
      guard({ type: 'prompt' }),
    ],
    PostToolUse: [{ matcher: 'Read', ...guard({ async: true }) }],
    Elicitation: [guard({})],
    SessionStart: [{ hooks: [{ type: 'command', command: 'true' }] }],
  };
  const { before, after, guards, lines } = await guardsOf(
    { PreToolUse: [{ matcher: 'Bash', ...guard({}) }], StopAll: [guard({})] },
    { ofPackage, approve: () => false },
  );
  const same = ['settings.json: error', 'lost: error'];
  const ofFile = 'claude:PreToolUse#1: blocked';

  expect(before.filter((line) => line.endsWith(': blocked'))).toEqual([ofFile]);
  expect(after).toEqual([
    ofFile,
    'lost:PreToolUse#1: active',
    'lost:PreToolUse#2: in-doubt',
    'lost:PreToolUse#3: error',
    'lost:PostToolUse#1: error',
    ...same,
  ]);
  expect(guards.every(({ state, reason }) => (state === 'active') === (reason === undefined))).toBe(true);
  expect(guards.at(-1)?.reason).toMatch(/`type` must be .* the option `elicit`/s);
  expect(lines.filter((line) => line.includes('Guards: '))).toEqual([
    'warn: Guards: 2 active, 1 in-doubt, 1 blocked, 3 error.',
  ]);
});

test('a guard that nobody approves stays blocked, and an approved one is active from the start', async () => {
  const hooks = { PreToolUse: [{ matcher: 'Bash', ...guard({}) }] };

  expect((await guardsOf(hooks, { approve: () => false })).after).toEqual(['claude:PreToolUse#1: blocked']);
  expect((await guardsOf(hooks)).after).toEqual(['claude:PreToolUse#1: active']);
});

test('the guard of a package that is not read is an error', async () => {
  const ofPackage = { PreToolUse: [{ matcher: 'Bash', ...guard({}) }] };

  expect((await guardsOf({}, { ofPackage })).after).toEqual(['lost:PreToolUse#1: active']);
  expect((await guardsOf({}, { ofPackage, compat: [] })).after).toEqual(['lost: error']);
});

test('a guard of the user without its program is blocked from the start, also after a run', async () => {
  const ofPackage = { PreToolUse: [{ matcher: 'Bash', ...guard({ command: './missing', args: ['-x'] }) }] };
  const { before, after, guards } = await guardsOf({}, { ofPackage });

  expect([before, after]).toEqual([['lost:PreToolUse#1: blocked'], ['lost:PreToolUse#1: blocked']]);
  expect(guards[0]?.reason).toMatch(/missing.*\(no-executable\)/s);
});
