import { delimiter } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isRefusedName, isVariableName, userEnvironment, workspaceEnvironment } from '../../src/process/environment.js';
import { sh } from '../support/process/sh.js';

const parent = {
  PATH: ['/usr/bin', './bin', '', '/ws/bin'].join(delimiter),
  HOME: '/home/me',
  LC_ALL: 'C',
  OPENAI_API_KEY: 'secret-1',
  ANTHROPIC_API_KEY: 'secret-2',
  HUGGINGFACE_TOKEN: 'secret-3',
  JIRA_TOKEN: 'mine',
  NODE_OPTIONS: '--require ./evil.js',
};
const exclude = ['/ws'];

test('a program from the workspace inherits a short list of variables and gets the additions', async () => {
  expect(await workspaceEnvironment({ parent, exclude, additions: { SETTING: 'x', HOME: '/other' } })).toEqual({
    PATH: '/usr/bin',
    HOME: '/other',
    LC_ALL: 'C',
    SETTING: 'x',
  });
});

test('E12: a program of the user inherits all variables except provider API keys and withheld names', async () => {
  expect(await userEnvironment({ parent, exclude }, ['JIRA_*'])).toEqual({
    PATH: '/usr/bin',
    HOME: '/home/me',
    LC_ALL: 'C',
    NODE_OPTIONS: '--require ./evil.js',
  });
});

test('E12: a program of the user cannot print an API key', async () => {
  const { stdout } = await sh('env', {
    env: await userEnvironment({ parent: { ...process.env, ...parent }, exclude }),
  });

  expect(stdout).toContain('JIRA_TOKEN=mine');
  expect(stdout).not.toContain('secret');
});

test('the environment follows every change of the parent environment, the excluded directories and the additions', () => {
  const of = (changes: NodeJS.ProcessEnv, folders = exclude, additions = {}) =>
    userEnvironment({ parent: { ...parent, ...changes }, exclude: folders, additions });
  const first = of({});

  expect(of({})).toEqual(first);
  expect(of({ HOME: '/home/you' })).toEqual({ ...first, HOME: '/home/you' });
  expect(of({ MORE: '1' })).toEqual({ ...first, MORE: '1' });
  expect(of({ HOME: undefined })).toEqual({
    PATH: '/usr/bin',
    LC_ALL: 'C',
    JIRA_TOKEN: 'mine',
    NODE_OPTIONS: parent.NODE_OPTIONS,
  });
  expect(of({}, ['/usr'])).toEqual({ ...first, PATH: '/ws/bin' });
  expect(of({}, exclude, { SETTING: 'x' })).toEqual({ ...first, SETTING: 'x' });
  expect(of({})).toEqual(first);
});

test('the values of withheld variables are not read', () => {
  const read: string[] = [];
  const watched = new Proxy(parent, {
    get: (target, name: keyof typeof parent) => {
      read.push(name);
      return target[name];
    },
  });
  userEnvironment({ parent: watched, exclude }, ['JIRA_*']);

  expect(read).toEqual(['PATH', 'HOME', 'LC_ALL', 'NODE_OPTIONS']);
});

describe('E8: configuration must not set', () => {
  test.each([
    ...[
      'LD_PRELOAD',
      'VOLTA_HOME',
      'uv_index_url',
      'PSModulePath',
      'LD_AUDIT',
      'DYLD_INSERT_LIBRARIES',
      'NODE_OPTIONS',
      'BASH_ENV',
      'ENV',
      'PYTHONPATH',
      'PYTHONSTARTUP',
    ],
    ...[
      'PERL5OPT',
      'RUBYOPT',
      'GIT_SSH_COMMAND',
      'GIT_CONFIG_COUNT',
      'PATH',
      'Path',
      'ld_preload',
      'npm_config_registry',
    ],
    ...['HOME', 'home', 'USERPROFILE', 'XDG_CONFIG_HOME', 'SHELL', 'MAKEFILES', 'TAR_OPTIONS'],
    'RIPGREP_CONFIG_PATH',
    'TS_NODE_PROJECT',
    'VIMINIT',
  ])('%s', (name) => {
    expect(isRefusedName(name)).toBe(true);
  });

  test.each([
    'API_URL',
    'GOOGLE_CLOUD_PROJECT',
    'ENVIRONMENT',
    'PYTHONUNBUFFERED',
    'PATHS',
    'NODE_ENV',
    'GITHUB_TOKEN',
    'HOMEPAGE',
    'XDG_RUNTIME_DIR',
  ])('but may set %s', (name) => {
    expect(isRefusedName(name)).toBe(false);
  });
});

test('isVariableName accepts any name without "=", NUL and the empty string', () => {
  expect(['A', 'a b', '__proto__'].map(isVariableName)).toEqual([true, true, true]);
  expect(['', 'A=B', 'A\0'].map(isVariableName)).toEqual([false, false, false]);
});

test('a variable named __proto__ is passed on', async () => {
  const additions = JSON.parse('{"__proto__":"x"}');

  const environment = await workspaceEnvironment({ parent: {}, exclude, additions });

  expect(Object.entries(environment)).toEqual([['__proto__', 'x']]);
});
