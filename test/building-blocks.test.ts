import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
import { manifests, parseManifest } from 'keelson/manifest';
import { mcpServers, wrapMcpTool } from 'keelson/mcp';
import { HookRegistry, shellHooks } from 'keelson/shell-hooks';
import { loadSkills, SkillRegistry, skillLifecycle } from 'keelson/skills';
import { calls, says, scriptedModel } from 'keelson/testing';
import { createTrustGate } from 'keelson/trust';
import { describe, expect, onTestFinished, test } from 'vitest';

async function emptyFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'keelson-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

const schema = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] };

// covers: S0-G.2
describe('each component can be used by itself:', () => {
  test('the registry and the runner of shell hooks', async () => {
    const registry = new HookRegistry();
    registry.register({ event: 'before_tool', name: 'no', command: 'sh', args: ['-c', 'echo \'{"continue":false}\''] });
    const { runner } = shellHooks({ workspaceDir: await emptyFolder(), registry });

    const result = await runner.run('before_tool', { tool_name: 'look', args: {} });

    expect(registry.hooksOf('before_tool').map(({ name }) => name)).toEqual(['no']);
    expect(result).toMatchObject({ cancelled: true, cancelledBy: 'no' });
  });

  test('the extension packages', async () => {
    const extensions = manifests({ userDir: await emptyFolder(), workspaceDir: await emptyFolder() });
    onTestFinished(() => extensions.close?.());

    await extensions.reload();

    expect(extensions.enabledNames()).toEqual([]);
  });

  test('the MCP client', async () => {
    const mcp = mcpServers({ servers: { gone: { command: 'no-such-program', args: [] } } });
    onTestFinished(() => mcp.close());

    await mcp.connect();

    expect(mcp.status()).toMatchObject([{ name: 'gone', tools: [] }]);
  });

  test('the trust gate', async () => {
    const gate = createTrustGate({ workspaceDir: await emptyFolder(), stateDir: await emptyFolder() });

    expect(await gate.store.list()).toEqual([]);
  });

  test('the skill registry', async () => {
    const workspaceDir = await emptyFolder();
    const folder = join(workspaceDir, 'skills');
    await mkdir(join(folder, 'berth'), { recursive: true });
    await writeFile(join(folder, 'berth/SKILL.md'), '---\nname: berth\ndescription: Finds a berth.\n---\nTake it.\n');
    const gate = createTrustGate({ workspaceDir, stateDir: await emptyFolder(), approve: () => true });
    const registry = new SkillRegistry();
    const model = scriptedModel([calls('skill', { name: 'berth' }), says('Done.')]);

    const { entries, denied } = await loadSkills({ gate, workspaceDir, roots: [{ scope: 'workspace', folder }] });
    registry.replace(entries);
    const { messages } = await new Agent({ model, lifecycle: [skillLifecycle(registry)] }).run('Moor.');

    expect(denied).toEqual([]);
    expect(registry.list()).toMatchObject([{ id: 'berth', scope: 'workspace' }]);
    expect(messages[2]).toMatchObject({ content: [{ content: expect.stringContaining('Take it.') }] });
  });

  test('the manifest parser', () => {
    expect(parseManifest('{"name":"a","version":"1.0.0","description":"It is."}')).toMatchObject({
      content: { name: 'a', version: '1.0.0' },
    });
    expect(parseManifest('{"name":"a"}')).toMatchObject({
      problems: [{ path: 'version' }, { path: 'description' }],
    });
    expect(parseManifest('no')).toMatchObject({ problems: [{ path: '' }] });
  });

  test('wrapMcpTool', async () => {
    const seen: unknown[] = [];
    const look = wrapMcpTool(
      { name: 'look', description: 'Looks.', inputSchema: schema },
      {
        server: 'quay',
        call: async (name, input) => {
          seen.push([name, input]);
          return { content: [{ type: 'text', text: 'A ship.' }] };
        },
      },
    );
    const model = scriptedModel([calls(look.name, { at: 'pier' }), calls(look.name, { at: 1 }), says('Done.')]);

    const { messages } = await new Agent({ model, tools: [look] }).run('Look.');

    expect(look.name).toBe('mcp__quay__look');
    expect(seen).toEqual([['look', { at: 'pier' }]]);
    expect(messages[2]).toMatchObject({ content: [{ content: 'A ship.' }] });
    expect(messages[4]).toMatchObject({ content: [{ isError: true }] });
  });

  test.each([[null], [{ name: 'x', inputSchema: { type: 'nothing' } }], [{ inputSchema: schema }]])(
    'wrapMcpTool refuses %j',
    (definition) => {
      const wrap = () => wrapMcpTool(definition, { server: 'quay', call: async () => ({}) });

      expect(wrap).toThrow(expect.objectContaining({ code: 'ERR_TOOL_INVALID' }));
    },
  );
});
