import { cpSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { Agent, defineTool } from '../../src/index.js';
import { manifests } from '../../src/manifest/manifest.js';
import { shellHooks } from '../../src/shell-hooks/shell-hooks.js';
import { calls, says, scriptedModel } from '../../src/testing/testing.js';
import { createTrustGate } from '../../src/trust/trust.js';
import type { Expected, HookCase, Place, ToolUse } from './case.js';

const TOOLS: readonly ToolUse['name'][] = ['Bash', 'Read', 'Write', 'Edit', 'WebFetch', 'Agent'];
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** The observed outcome of a case. */
interface Outcome {
  readonly call: NonNullable<Expected['call']>;
  /** All that the model read. */
  readonly read: string;
  readonly notices: readonly string[];
  readonly modelCalls: number;
}

/** Runs the case with a copy of the plugin, and returns each difference from what the case expects. */
export async function fire(plugin: string, one: HookCase, scratch: string): Promise<readonly string[]> {
  const workspace = mkdtempSync(join(scratch, 'work-'));
  const place: Place = { workspace, home: join(scratch, 'home'), session: 's-1' };
  one.prepare?.(place);
  Object.assign(process.env, one.env);
  try {
    const outcome = await outcomeOf(plugin, one, place);
    return differences(outcome, one.expected, place);
  } finally {
    for (const key of Object.keys(one.env ?? {})) delete process.env[key];
  }
}

async function outcomeOf(plugin: string, { answers, prompt = 'Go.' }: HookCase, place: Place): Promise<Outcome> {
  const { workspace: workspaceDir, session } = place;
  const userDir = mkdtempSync(`${workspaceDir}-user-`);
  mkdirSync(join(userDir, 'extensions'));
  cpSync(plugin, join(userDir, 'extensions', 'plugin'), { recursive: true, verbatimSymlinks: true });
  const notices: string[] = [];
  const gate = createTrustGate({ workspaceDir, stateDir: userDir, logger: silent });
  const hooks = shellHooks({
    ...{ workspaceDir, userDir, gate, machine: { logger: silent } },
    toolNames: { claude: {} },
    transcript: 'claude',
    onNotice: ({ text }) => void notices.push(text),
  });
  const packages = manifests({
    ...{ workspaceDir, userDir, gate, hooks, logger: silent },
    compat: ['claude', 'gemini'],
    skillFolders: [],
  });
  const ran: string[] = [];
  const model = scriptedModel(answers.map((one) => (typeof one === 'string' ? says(one) : calls(one.name, one.args))));
  const tools = TOOLS.map((name) => fakeTool(name, workspaceDir, ran));
  const agent = new Agent({ model, loaders: [packages], tools, logger: silent });
  try {
    await agent.ready();
    const result = await (await agent.session({ id: session })).run(prompt);
    const call = callOf(result.status === 'suspended', ran);
    const read = model.requests.flatMap(({ messages }) => stringsIn(messages)).join('\n');
    return { call, read, notices, modelCalls: model.requests.length };
  } finally {
    await agent.close();
  }
}

function callOf(isSuspended: boolean, ran: readonly string[]): Outcome['call'] {
  if (isSuspended) return 'asked';
  return ran.length > 0 ? 'runs' : 'denied';
}

function fakeTool(name: string, workspace: string, ran: string[]) {
  return defineTool({
    ...{ name, description: name, input: z.looseObject({}) },
    execute: ({ file_path: path, content }) => {
      ran.push(name);
      if (name === 'Write' && typeof path === 'string' && typeof content === 'string') {
        const file = resolve(workspace, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, content);
      }
      return 'ran';
    },
  });
}

/** Returns all strings in a value, at any depth. */
function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function differences(outcome: Outcome, expected: Expected, place: Place): readonly string[] {
  const { call, read, notices, modelCalls } = outcome;
  const { seen, unseen, notice } = expected;
  const found: string[] = [];
  if (expected.call !== undefined && call !== expected.call) found.push(`the call ${call}, not ${expected.call}`);
  if (seen !== undefined && !read.includes(seen)) found.push(`the model does not read ${JSON.stringify(seen)}`);
  if (unseen !== undefined && read.includes(unseen)) found.push(`the model reads ${JSON.stringify(unseen)}`);
  if (notice !== undefined && !notices.some((text) => text.includes(notice))) found.push(`no message ${notice}`);
  if (expected.modelCalls !== undefined && modelCalls !== expected.modelCalls)
    found.push(`${modelCalls} model calls, not ${expected.modelCalls}`);
  if (expected.gone !== undefined && existsSync(join(place.workspace, expected.gone)))
    found.push(`${expected.gone} still exists`);
  if (expected.effect?.(place) === false) found.push('the hook did not have its effect on files');
  return found;
}
