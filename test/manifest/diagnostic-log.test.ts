import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makePlace, type Place } from '../support/manifest/place.js';
import { write } from '../support/process/scratch.js';

const both = { compat: ['claude', 'gemini'] } as const;

function files(place: Place, folder: string, contents: Readonly<Record<string, unknown>>): string {
  const root = join(place.userDir, 'extensions', folder);
  for (const [path, content] of Object.entries(contents)) {
    write(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return root;
}

const skill = (name: string, more = '') => `---\nname: ${name}\ndescription: Does it.\n${more}---\nDo it.\n`;
const command = (text: string, more: object = {}) => ({ type: 'command', command: text, ...more });

/** A plugin as people publish it: nothing in it asks for an action. */
const usual = (name: string) => ({
  '.claude-plugin/plugin.json': { name, author: { name: 'Ada' }, license: 'MIT', categories: ['x'], icon: 'x.png' },
  'skills/Deploy Now/SKILL.md': skill('Deploy_It', 'allowed-tools: Bash, Read\nmodel: large\nuser-invocable: false\n'),
  '.mcp.json': {
    a: { type: 'http', url: 'https://mcp.example.com/', disabled: true, description: 'x', alwaysAllow: ['a'] },
  },
  'gemini-extension.json': { name, version: '1.0.0', author: 'Ada', license: 'MIT' },
  'hooks/hooks.json': { description: 'x', hooks: { Stop: [{ hooks: [command('true', { statusMessage: 'x' })] }] } },
});

const linesOf = ({ logger }: Place, level: 'warn' | 'error') => logger.lines.filter((line) => line.startsWith(level));

describe('the log of extension packages', () => {
  test('has no line for a package whose deviations have no effect, and `status()` lists them', async () => {
    const place = makePlace();
    files(place, 'a', usual('a'));

    const { loader } = await place.load(both);

    expect([...linesOf(place, 'warn'), ...linesOf(place, 'error')]).toEqual([]);
    expect(loader.skills.list()).toHaveLength(1);
    const told = loader
      .status()
      .diagnostics.flatMap(({ level, problems }) => problems.map(({ path }) => `${level} ${path}`));
    expect(told.sort()).toEqual(
      ['', 'allowed-tools', 'categories', 'model', 'name', 'name', 'user-invocable', 'version'].map(
        (path) => `info ${path}`,
      ),
    );
    expect(loader.mcp.status()[0]?.ignoredFields).toEqual(['description', 'alwaysAllow']);
  });

  test('has one line at the level error for each package that loses a guard, and no other', async () => {
    const place = makePlace();
    for (const name of ['a', 'b', 'c']) files(place, name, usual(name));
    files(place, 'lost', {
      ...usual('lost'),
      'agents/a.md': 'x',
      'skills/bad/SKILL.md': 'no front matter, but a paragraph',
      'skills/worse/SKILL.md': '---\n\tx: [\n---\n',
      '.mcp.json': { bad: { command: 5 }, worse: 5, away: { command: '/does/not/exist' } },
      'hooks/hooks.json': {
        hooks: {
          PreToolUse: [
            { matcher: '(', hooks: [command('a')] },
            { matcher: 'Bash', hooks: [{ type: 'prompt', prompt: 'x' }, command('true')] },
          ],
          TaskCreated: [{ hooks: [command('b')] }],
        },
      },
    });

    const { loader } = await place.load(both);

    const errors = linesOf(place, 'error').filter((line) => !line.includes('MCP server'));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/Extension "lost".*PreToolUse#2.*prompt.*TaskCreated.*PreToolUse#1.*matcher/s);
    expect(loader.hooks.list().filter(({ extension }) => extension === 'lost')).toMatchObject([{ command: 'true' }]);
  });

  test('has one warning for one cause in several packages', async () => {
    const place = makePlace();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
      files(place, name, { '.claude-plugin/plugin.json': { name, version: '1.0.0' }, 'workflows/a.md': 'x' });
    }
    files(place, 'g', { 'bin/run': '' });

    const { loader } = await place.load(both);

    const warnings = linesOf(place, 'warn');
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/Extension "a".*Extension "e".* and 2 more: workflows: it is not supported/);
    expect(warnings[1]).toMatch(/Extension "g" \(.*\): bin: it is not supported/);
    expect(loader.status().diagnostics).toHaveLength(7);
  });

  test('has a warning for a key that looks like a misspelt one, and for a server field that may restrict it', async () => {
    const place = makePlace();
    files(place, 'a', {
      '.claude-plugin/plugin.json': {
        name: 'a',
        version: '1.0.0',
        hook: {},
        skill: './s',
        userConfig: { n: { requierd: true } },
      },
      '.mcp.json': { s: { command: 'true', disabled: true, allowedTools: ['look'], arg: [] } },
    });

    const { loader } = await place.load(both);

    const [diagnostic] = loader.status().diagnostics;
    expect(diagnostic?.problems).toEqual([
      { path: 'hook', message: 'the key is unknown; did you mean "hooks"?' },
      { path: 'skill', message: 'the key is unknown; did you mean "skills"?' },
      { path: 'userConfig.n.requierd', message: 'the key is unknown; did you mean "required"?' },
    ]);
    expect(linesOf(place, 'warn').filter((line) => line.includes('unknown field'))).toEqual([
      expect.stringContaining('"allowedTools"'),
      expect.stringContaining('"arg"'),
    ]);
  });

  test('has no error for a `manifest.json` of another program beside a valid manifest', async () => {
    const place = makePlace();
    files(place, 'a', { 'manifest.json': { short_name: 'web app' }, '.claude-plugin/plugin.json': { name: 'a' } });
    files(place, 'b', { 'manifest.json': { short_name: 'web app' } });

    const { loader } = await place.load(both);

    expect(loader.extensions().map(({ name }) => name)).toEqual(['a']);
    expect(loader.status().diagnostics.map(({ level, extension }) => `${level} ${extension}`)).toEqual([
      'warning a',
      'info a',
      'error b',
    ]);
  });

  test('has one line for all hook files that name tools of another program', async () => {
    const place = makePlace();
    const guard = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [command('true')] }] } };
    for (const name of ['a', 'b', 'c']) {
      files(place, name, { '.claude-plugin/plugin.json': { name, version: '1.0.0' }, 'hooks/hooks.json': guard });
    }

    await place.load(both);

    const warnings = linesOf(place, 'warn');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/extensions\/a.*extensions\/b.*extensions\/c.*toolNames/);
  });
});
