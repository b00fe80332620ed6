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

test('E12: a program of the user inherits all variables except keys of model providers and excluded names', async () => {
  expect(await userEnvironment({ parent, exclude }, { exclude: ['JIRA_*'] })).toEqual({
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
  expect(stdout).not.toContain('secret-');
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
  userEnvironment({ parent: watched, exclude }, { exclude: ['JIRA_*'] });

  expect(read).toEqual(['PATH', 'HOME', 'LC_ALL', 'NODE_OPTIONS']);
});

describe('E12: a program of the user', () => {
  const namesWith = (names: readonly string[], inherit?: Parameters<typeof userEnvironment>[1]) =>
    Object.keys(userEnvironment({ parent: Object.fromEntries(names.map((name) => [name, 'x'])), exclude }, inherit));

  test.each([
    ...['DEEPINFRA_TOKEN', 'TOGETHERAI_API_KEY', 'TOGETHERAI_KEY', 'BASETEN_TOKEN', 'CODEX_API_KEY', 'AI21_TOKEN'],
    ...['HUGGING_FACE_HUB_TOKEN', 'HF_TOKEN', 'WATSONX_APIKEY', 'LITELLM_MASTER_KEY', 'VERCEL_OIDC_TOKEN'],
    ...['OPENAI_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'AWS_BEARER_TOKEN_BEDROCK', 'NEW_PROVIDER_API_KEY', 'new_api_key'],
    ...['HUGGINGFACEHUB_API_TOKEN', 'HF_API_TOKEN', 'AZURE_INFERENCE_CREDENTIAL', 'AZURE_OPENAI_KEY', 'FAL_KEY_ID'],
    ...['FAL_KEY_SECRET', 'JINA_AUTH_TOKEN', 'QIANFAN_ACCESS_KEY', 'CODEX_ACCESS_TOKEN', 'OPENAI_API_KEY_2'],
    ...['WATSONX_ZENAPIKEY', 'WATSON_APIKEY', 'CHUTES_API_TOKEN', 'OCTOAI_TOKEN', 'QIANFAN_AK', 'OPENAI_APITOKEN'],
    ...['GITHUB_MODELS_TOKEN', 'AICORE_SERVICE_KEY', 'AICORE_CLIENT_SECRET', 'AI_GATEWAY_API_KEY'],
    ...['openai_key', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_CUSTOM_HEADERS', 'GIGACHAT_CREDENTIALS', 'CLARIFAI_PAT'],
  ])('does not inherit the key of a model provider in %s', (name) => {
    expect(namesWith([name])).toEqual([]);
  });

  test.each([
    ...['GITHUB_TOKEN', 'GH_TOKEN', 'NPM_TOKEN', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
    ...['GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_CONFIG', 'AZURE_CLIENT_SECRET', 'CLOUDFLARE_API_TOKEN'],
    ...['IBMCLOUD_API_KEY', 'HEROKU_API_KEY', 'OPENAI_BASE_URL', 'API_KEY_FILE', 'DATABASE_URL'],
    ...[
      'HF_HOME',
      'OLLAMA_HOST',
      'CLAUDE_PROJECT_DIR',
      'OPENAI_KEYBOARD',
      'MY_OPENAI_TOKENIZER',
      'CO_AUTHORED_BY',
      'OPENAI_TOKENIZER',
      'WRITER_HOME',
      'GITHUB_MODELS_URL',
    ],
  ])('inherits %s', (name) => {
    expect(namesWith([name])).toEqual([name]);
  });

  test('inherits the keys that `include` names, except those that `exclude` names', () => {
    const names = ['DATADOG_API_KEY', 'OPENAI_API_KEY', 'NPM_TOKEN', 'MY_API_KEY', 'MY_TOKEN'];

    expect(namesWith(names, { include: ['datadog_api_key', 'MY_*'], exclude: ['NPM_TOKEN', 'MY_API_KEY'] })).toEqual([
      'DATADOG_API_KEY',
      'MY_TOKEN',
    ]);
    expect(namesWith(names, { include: ['*'] })).toEqual(names);
    expect(namesWith(names, { exclude: ['*_TOKEN'] })).toEqual([]);
    expect(namesWith(names, { include: ['*'], exclude: ['M*K*Y'] })).toEqual(
      names.filter((name) => name !== 'MY_API_KEY'),
    );
    expect(namesWith(names, true)).toEqual(names);
  });

  test.each(['M.*', 'MY|NO', 'M?', '[M]*', 'MY_TOKEN$', ''])('takes %j as a name, not as an expression', (name) => {
    expect(namesWith(['MY_TOKEN', 'MY', 'N'], { exclude: [name] })).toEqual(['MY_TOKEN', 'MY', 'N']);
  });
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
