import { defineTool, type Tool } from 'keelson';
import type { ToolNames } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { receivedArgs } from '../../../src/tools/received-args.js';
import { agentWith, hooksIn, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const schemaOf = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more }) as never;
const toolOf = (name: string, input: never) =>
  defineTool({ name, description: name, input, execute: () => 'ran' }) as Tool;

/** Runs a call with a guard that records its input. Returns the input; undefined if the guard did not run. */
async function seen(tool: Tool, args: object, { hook = {}, toolNames }: { hook?: object; toolNames: ToolNames }) {
  const guard = { ...sh('before_tool', 'cat > seen.json; echo {}'), ...hook };
  const hooks = hooksIn(lab, { hooks: [guard], toolNames });
  await agentWith(lab, hooks, { script: [calls(tool.name, args), says('ok')], tools: [tool] }).agent.run('go');
  return lab.has('seen.json') ? JSON.parse(lab.read('seen.json')) : undefined;
}

const cursor = (dialectEvent: string, more: object = {}) => ({ dialect: 'cursor', dialectEvent, ...more });

describe('a guard reads the argument of the schema in place of a decoy', () => {
  const shell = { cursor: { run_command: 'Shell' } };
  const decoy = { command: 'ls', cmd: 'rm -rf x' };
  const read = { cursor: { read_file: 'Read' } };

  test.each([
    ['zod', z.object({ cmd: z.string() })],
    ['zod, which keeps other arguments', z.looseObject({ cmd: z.string() })],
    ['JSON Schema', schemaOf({ cmd: { type: 'string' } })],
  ])('at beforeShellExecution: %s', async (_what, input) => {
    const tool = toolOf('run_command', input as never);

    expect((await seen(tool, decoy, { hook: cursor('beforeShellExecution'), toolNames: shell })).command).toBe(
      'rm -rf x',
    );
    const matched = cursor('beforeShellExecution', { matcher: '^rm ' });
    expect(await seen(tool, decoy, { hook: matched, toolNames: shell })).toBeDefined();
  });

  test.each([
    ['zod', z.object({ path: z.string() })],
    ['JSON Schema', schemaOf({ path: { type: 'string' } })],
  ])('at beforeReadFile: %s', async (_what, input) => {
    const args = { file_path: 'ok.txt', path: '.env' };

    const { file_path } = await seen(toolOf('read_file', input as never), args, {
      hook: cursor('beforeReadFile'),
      toolNames: read,
    });
    expect(file_path).toBe(`${lab.workspace}/.env`);
  });

  const mapped = { claude: { write: { name: 'Write', args: { path: 'file_path' } } } };

  test.each([
    ['zod', z.object({ path: z.string().default('.env') })],
    ['JSON Schema', schemaOf({ path: { type: 'string', default: '.env' } })],
  ])('under its mapped name, also if its value is the default: %s', async (_what, input) => {
    const tool = toolOf('write', input as never);
    const { tool_input } = await seen(
      tool,
      { file_path: 'ok.txt' },
      { hook: { dialect: 'claude' }, toolNames: mapped },
    );

    expect(tool_input).toEqual({ file_path: '.env' });
  });

  test('in the condition of a hook', async () => {
    const tool = toolOf('write', z.object({ path: z.string().default('.env') }) as never);
    const hook = { dialect: 'claude', condition: 'Write(*.env)' };

    expect(await seen(tool, { file_path: 'ok.txt' }, { hook, toolNames: mapped })).toBeDefined();
  });
});

describe('receivedArgs', () => {
  const closed = toolOf('t', z.object({ a: z.string() }) as never);
  const strict = toolOf('t', schemaOf({ a: {} }, { additionalProperties: false }));
  const nested = toolOf('t', z.object({ a: z.object({ b: z.string().default('c') }) }) as never);
  const open = toolOf('t', z.looseObject({ a: z.string() }) as never);

  test.each([
    ['leaves out what the check removes', { tool: closed, args: { x: 1, a: 'b' } }, { a: 'b' }],
    ['adds the defaults of nested objects', { tool: nested, args: { a: {} } }, { a: { b: 'c' } }],
    ['keeps what the tool gets', { tool: open, args: { x: 1, a: 'b' } }, { a: 'b', x: 1 }],
    ['leaves out what the schema forbids', { tool: strict, args: { x: 1 } }, {}],
    ['keeps arguments that are invalid', { tool: closed, args: { x: 1, a: 5 } }, { a: 5, x: 1 }],
    ['keeps all arguments of a schema without names', { tool: toolOf('t', schemaOf({})), args: { x: 1 } }, { x: 1 }],
    ['keeps arguments that are not an object', { tool: closed, args: 'text' }, 'text'],
    ['keeps the arguments of an unknown tool', { tool: undefined, args: { x: 1 } }, { x: 1 }],
  ])('%s', (_what, { tool, args }, expected) => {
    expect(JSON.stringify(receivedArgs(tool, args))).toBe(JSON.stringify(expected));
  });
});
