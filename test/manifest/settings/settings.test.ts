import { join } from 'node:path';
import { inspect } from 'node:util';
import type { Logger } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import {
  echoServer,
  hooksOf,
  linesOf,
  makePlace,
  manifest,
  type Place,
  serversConnected,
} from '../../support/manifest/place.js';
import { script } from '../../support/process/scratch.js';

const SECRET = 'correct horse $(battery) "staple"';
const setting = (more: Record<string, unknown>) => ({ name: 'level', description: 'How much.', ...more });

/** Loads an extension `x` with one setting from the given sources. */
async function valueFrom(
  definition: Record<string, unknown>,
  sources: { env?: Record<string, string>; stored?: unknown } = {},
) {
  const place = makePlace();
  place.user('x', manifest('x', { settings: [setting(definition)] }));
  const { stored } = sources;
  const config = { theme: 'dark', extensions: { x: stored === undefined ? {} : { level: stored } } };
  const { loader } = await place.load({ env: sources.env ?? {}, config });
  return { loader, config: loader.config, told: loader.status().diagnostics.map(({ message }) => message) };
}

const merged = (values: Record<string, unknown>) => ({ theme: 'dark', extensions: { x: values } });

describe('S0-12.1, S0-12.2: the value of a setting', () => {
  test.each([
    [{ envVar: 'LEVEL', default: 'd' }, { env: { LEVEL: 'e' }, stored: 's' }, 'e'],
    [{ envVar: 'LEVEL', default: 'd' }, { stored: 's' }, 's'],
    [{ envVar: 'LEVEL', default: 'd' }, {}, 'd'],
    [{ type: 'number', envVar: 'LEVEL' }, { env: { LEVEL: '2.5' } }, 2.5],
    [{ default: 1, envVar: 'LEVEL' }, { env: { LEVEL: '-3' } }, -3],
    [{ type: 'boolean', envVar: 'LEVEL' }, { env: { LEVEL: 'true' } }, true],
    [{ type: 'boolean', envVar: 'LEVEL' }, { env: { LEVEL: '0' } }, false],
    [{ enum: [1, 2], envVar: 'LEVEL' }, { env: { LEVEL: '2' } }, 2],
    [{ enum: ['a', 'b'] }, { stored: 'b' }, 'b'],
    [{ envVar: 'LEVEL', default: 'd' }, { env: { LEVEL: '' } }, ''],
    [{ type: 'number', required: true, envVar: 'LEVEL' }, { env: { LEVEL: ' ' }, stored: 5 }, 5],
    [{ type: 'boolean', required: true, envVar: 'LEVEL' }, { env: { LEVEL: '\t\n' }, stored: false }, false],
    [{ required: true, envVar: 'LEVEL' }, { env: { LEVEL: '  ' }, stored: 's' }, 's'],
    [{ required: true, envVar: 'LEVEL' }, { env: { LEVEL: '' }, stored: 's' }, 's'],
  ])('of a definition %j with sources %j is %j', async (definition, sources, expected) => {
    expect(await valueFrom(definition, sources)).toMatchObject({ config: merged({ level: expected }), told: [] });
  });

  test('changes with its variable after a reload', async () => {
    const env = { LEVEL: 'one' };
    const { loader } = await valueFrom({ envVar: 'LEVEL' }, { env });

    env.LEVEL = 'two';
    await loader.reload();

    expect(loader.config).toEqual(merged({ level: 'two' }));
  });

  test('never changes a prototype, for any configuration', async () => {
    const place = makePlace();
    place.user('x', manifest('x', { settings: [setting({})] }));
    const config = JSON.parse(
      '{"extensions":{"x":{"__proto__":{"polluted":1},"level":"a"},"__proto__":{"polluted":1}}}',
    );

    const { loader } = await place.load({ config });

    expect(loader.config).toMatchObject({ extensions: { x: { level: 'a' } } });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('S0-12.4: an invalid value is reported and not used', () => {
  test.each([
    [{ type: 'number' }, { stored: '5' }, 'number'],
    [{ type: 'number', envVar: 'LEVEL' }, { env: { LEVEL: 'five' } }, 'number'],
    [{ type: 'number', envVar: 'LEVEL' }, { env: { LEVEL: '' } }, 'number'],
    [{ type: 'number' }, { stored: Number.NaN }, 'number'],
    [{ type: 'boolean', envVar: 'LEVEL' }, { env: { LEVEL: 'yes' } }, 'boolean'],
    [{ type: 'boolean' }, { stored: 1 }, 'boolean'],
    [{ type: 'string' }, { stored: 5 }, 'string'],
    [{}, { stored: { a: 1 } }, 'string'],
    [{}, { stored: 'a\0b' }, 'string'],
    [{ enum: ['a', 'b'] }, { stored: 'c' }, 'string, one of "a", "b"'],
    [{ enum: [1, 2], envVar: 'LEVEL' }, { env: { LEVEL: '3' } }, 'number, one of 1, 2'],
    [{ type: 'number', default: 1, envVar: 'LEVEL' }, { env: { LEVEL: 'x' }, stored: 2 }, 'number'],
  ])('with a definition %j and sources %j', async (definition, sources, expected) => {
    const { config, told, loader } = await valueFrom(definition, sources);

    expect(config).toEqual(merged({}));
    expect(told).toEqual([
      expect.stringMatching(new RegExp(`Extension "x" .*: settings.level: .* must be a ${expected}$`)),
    ]);
    expect(loader.isEnabled('x')).toBe(true);
  });

  test('even by a hook of the user, which inherits the environment', async () => {
    const place = makePlace();
    const trace = join(place.root, 'trace');
    const root = place.user(
      'x',
      manifest('x', {
        settings: [setting({ type: 'number', envVar: 'KEELSON_TEST_LEVEL' })],
        hooks: [{ name: 'h', event: 'before_agent', command: './h.sh' }],
      }),
    );
    script(join(root, 'h.sh'), `#!/bin/sh\necho "[$KEELSON_TEST_LEVEL]" >> ${trace}\necho '{}'\n`);
    process.env.KEELSON_TEST_LEVEL = 'high';
    try {
      const { agent } = await place.load({}, { model: scriptedModel(['done']) });
      await agent.run('go');
    } finally {
      delete process.env.KEELSON_TEST_LEVEL;
    }

    expect(linesOf(trace)).toEqual(['[]']);
  });

  test('a value for an unknown setting is reported', async () => {
    const place = makePlace();
    place.user('x', manifest('x', { settings: [setting({})] }));

    const { loader } = await place.load({ config: { extensions: { x: { levle: 'a' } } } });

    expect(loader.config).toEqual({ extensions: { x: {} } });
    expect(loader.status().diagnostics).toMatchObject([
      { problems: [{ path: 'settings.levle', message: 'the setting is unknown' }] },
    ]);
  });
});

describe('S0-12.5, E9: a required setting', () => {
  const parts = {
    settings: [setting({ required: true, envVar: 'LEVEL' })],
    hooks: [{ name: 'h', event: 'before_tool', command: 'true' }],
    mcpServers: { tell: { command: 'node', args: [echoServer] } },
    skills: [{ name: 's', description: 'x', prompt: 'x' }],
  };

  test('without a value keeps the extension inactive, and keeps the choice of the user', async () => {
    const place = makePlace();
    place.user('x', manifest('x', parts));
    const { loader } = await place.load({ env: {} });
    const before = {
      names: loader.enabledNames(),
      hooks: hooksOf(loader),
      servers: loader.mcp.status(),
      skills: loader.skills.list(),
      status: loader.status(),
    };

    await loader.configure({ extensions: { x: { level: 'high' } } });
    await serversConnected(loader);

    expect(before).toMatchObject({ names: [], hooks: [], servers: [], skills: [] });
    expect(before.status.extensions).toMatchObject([
      { enabled: false, state: 'blocked', reasons: ['it needs the setting level'] },
    ]);
    expect(before.status.diagnostics).toMatchObject([
      { level: 'warning', message: expect.stringMatching(/"x".*settings.level: .*LEVEL/) },
    ]);
    expect(place.logger.lines).toContainEqual(expect.stringMatching(/^warn: .*"x".*settings.level/));
    expect(loader.enabledNames()).toEqual(['x']);
    expect(hooksOf(loader)).toHaveLength(1);
    expect(loader.mcp.status()).toMatchObject([{ state: 'connected' }]);
    expect(loader.skills.list()).toHaveLength(1);
  });

  test('is named in the message, even if it is sensitive', async () => {
    const place = makePlace();
    const secret = setting({ name: 'apiToken', required: true, sensitive: true });
    place.user('x', manifest('x', { settings: [secret] }));
    await place.load();

    expect(place.logger.lines).toEqual([
      expect.stringMatching(/"x" .*: settings.apiToken: it is required but has no value, [^[]*\.$/),
    ]);
  });

  test('is satisfied by a default, and not by an invalid value', async () => {
    const place = makePlace();
    place.user('x', manifest('x', { settings: [setting({ required: true, default: 'low', type: 'string' })] }));
    const { loader } = await place.load();
    const before = loader.isEnabled('x');

    await loader.configure({ extensions: { x: { level: 5 } } });

    expect(before).toBe(true);
    expect(loader.isEnabled('x')).toBe(false);
  });
});

/** Creates an extension with a secret. Its hook and its server print the secret. */
function makeSecretive(place: Place, name = 'apiToken'): string {
  const trace = join(place.root, 'trace');
  const root = place.user(
    'x',
    manifest('x', {
      settings: [{ name, description: 'The token.', envVar: 'X_TOKEN', sensitive: true }],
      hooks: [{ name: 'h', event: 'before_tool', command: './h.sh' }],
      mcpServers: { tell: { command: 'node', args: [echoServer] } },
    }),
  );
  script(
    join(root, 'h.sh'),
    `#!/bin/sh\nprintf '%s\\n' "$X_TOKEN" >> ${trace}\nprintf '%s\\n' "$X_TOKEN" >&2\nexit 1\n`,
  );
  return trace;
}

describe('S0-12.3: a sensitive value', () => {
  test.each(['apiToken', 'api-token', 'API_TOKEN', 'Api Token'])(
    'E3, E5: named %s reaches the hook unchanged, and no log or event',
    async (name) => {
      const place = makePlace();
      const trace = makeSecretive(place, name);
      const sunk: unknown[] = [];
      const sink = (...args: unknown[]) => void sunk.push(args);
      const logger: Logger = { debug: sink, info: sink, warn: sink, error: sink };
      const model = scriptedModel([calls('mcp__x-tell__echo', { variable: 'X_TOKEN' }), says('done')]);
      const { loader, agent } = await place.load(
        { logger, config: { extensions: { x: { [name]: SECRET } } } },
        { model },
      );
      for (const type of ['run-start', 'run-end', 'tool-start', 'tool-end', 'model-end', 'turn-end'] as const) {
        agent.on(type as 'tool-end', sink);
      }

      const result = await agent.run('go');
      loader
        .redactingLogger(logger)
        .info(`token is ${SECRET}`, { [name]: SECRET, nested: [{ a: SECRET }], error: new TypeError(SECRET) });

      expect(linesOf(trace)).toEqual([SECRET]);
      const shown = inspect([sunk, result, loader.status(), agent.status(), model.requests, place.logger.lines], {
        depth: 20,
        maxStringLength: null,
      });
      expect(shown).toContain('X_TOKEN=[redacted]');
      for (const form of [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET)])
        expect(shown).not.toContain(form);
    },
  );

  test('of the wrong type is redacted too', async () => {
    const place = makePlace();
    place.user('x', manifest('x', { settings: [setting({ type: 'number', sensitive: true, envVar: 'LEVEL' })] }));

    const { loader } = await place.load({ env: { LEVEL: SECRET } });

    expect(JSON.stringify([loader.status(), place.logger.lines])).not.toContain('horse');
    expect(loader.redact(`it is ${SECRET}`)).toBe('it is [redacted]');
  });

  test('is redacted in any value that a host passes to `redact`', async () => {
    const place = makePlace();
    makeSecretive(place);
    const { loader } = await place.load({ config: { extensions: { x: { apiToken: SECRET } } } });
    const loop: { self?: unknown; map: unknown } = {
      map: new Map([
        ['kept', 1],
        [SECRET, 2],
      ]),
    };
    loop.self = loop;
    const error = Object.assign(new TypeError(`bad ${SECRET}`, { cause: SECRET }), { value: SECRET });

    const [shownLoop, shownError, bytes, url, date, plain] = loader.redact([
      ...[
        loop,
        error,
        Buffer.from(SECRET),
        new URL(`https://x/?t=${encodeURIComponent(SECRET)}`),
        new Date(0),
        { a: 1, b: 'x', c: null },
      ],
    ] as unknown[]) as [typeof loop, typeof error, unknown, unknown, unknown, unknown];

    expect(shownLoop.self).toBe(shownLoop);
    expect([...(shownLoop.map as Map<unknown, unknown>)]).toEqual([
      ['kept', 1],
      ['[redacted]', 2],
    ]);
    expect(shownError).toBeInstanceOf(TypeError);
    expect(inspect(shownError)).not.toContain('horse');
    expect(shownError).toMatchObject({ message: 'bad [redacted]', cause: '[redacted]', value: '[redacted]' });
    expect([bytes, url, date, plain]).toEqual([
      Buffer.from(SECRET),
      'https://x/?t=[redacted]',
      new Date(0),
      { a: 1, b: 'x', c: null },
    ]);
    expect(error.message).toContain(SECRET);
  });
});

test('E12: a workspace hook gets its settings, and no API key of a provider', async () => {
  const place = makePlace();
  const trace = join(place.root, 'trace');
  const root = place.workspace(
    'x',
    manifest('x', {
      settings: [setting({ default: 'low' })],
      hooks: [{ name: 'h', event: 'before_agent', command: './h.sh' }],
    }),
  );
  script(join(root, 'h.sh'), `#!/bin/sh\nenv > ${trace}\necho '{}'\n`);
  process.env.ANTHROPIC_API_KEY = 'sk-test';
  try {
    const { agent } = await place.load({ approve: place.yes }, { model: scriptedModel(['done']) });
    await agent.run('go');
  } finally {
    delete process.env.ANTHROPIC_API_KEY;
  }

  expect(linesOf(trace)).toContain('APP_SETTING_LEVEL=low');
  expect(linesOf(trace).join('\n')).not.toContain('sk-test');
});

test('E1: the approval lists the variables of workspace settings, which are not read before', async () => {
  const place = makePlace();
  const settings = [setting({ envVar: 'ANTHROPIC_API_KEY', required: true })];
  place.workspace('x', manifest('x', { settings }));
  const env = { ANTHROPIC_API_KEY: 'sk-test' };

  const denied = await place.load({ env, approve: () => false });
  const allowed = await place.load({ env, approve: place.yes });

  expect(denied.loader.config).toEqual({ extensions: { x: {} } });
  expect(denied.loader.status().extensions).toMatchObject([{ state: 'blocked', enabled: false }]);
  expect(place.asked).toMatchObject([
    { parts: [{ item: { kind: 'settings', reads: ['ANTHROPIC_API_KEY'], details: { settings } } }] },
  ]);
  expect(allowed.loader.config).toEqual({ extensions: { x: { level: 'sk-test' } } });
});

test('S0-12.3: a sensitive value that a hook prints reaches neither the model nor an event', async () => {
  const place = makePlace();
  const root = place.user(
    'x',
    manifest('x', {
      settings: [{ name: 'token', description: 'x', sensitive: true }],
      hooks: [{ name: 'h', event: 'before_agent', command: './h.sh' }],
    }),
  );
  script(
    join(root, 'h.sh'),
    `#!/bin/sh\nprintf '{"systemMessage":"it is %s","data":{"k":"%s"}}' "$APP_SETTING_TOKEN" "$APP_SETTING_TOKEN"\n`,
  );
  const model = scriptedModel(['done']);
  const { agent } = await place.load({ config: { extensions: { x: { token: 'plain-secret' } } } }, { model });

  const result = await agent.run('go');

  const shown = inspect([result, model.requests, place.logger.lines], { depth: 20 });
  expect(shown).toContain('it is [redacted]');
  expect(shown).not.toContain('plain-secret');
});

test('S0-12.2: an active hook and server get a changed value', async () => {
  const place = makePlace();
  const trace = join(place.root, 'trace');
  const root = place.user(
    'x',
    manifest('x', {
      settings: [setting({ envVar: 'X_LEVEL' })],
      hooks: [{ name: 'h', event: 'before_agent', command: './h.sh' }],
      mcpServers: { tell: { command: 'node', args: [echoServer] } },
    }),
  );
  script(join(root, 'h.sh'), `#!/bin/sh\necho "$X_LEVEL" >> ${trace}\necho '{}'\n`);
  const tell = calls('mcp__x-tell__echo', { variable: 'X_LEVEL' });
  const model = scriptedModel([tell, says('a'), tell, says('b')]);
  const { loader, agent } = await place.load({ config: { extensions: { x: { level: 'low' } } } }, { model });
  const [hook] = loader.hooks.list();

  const first = await agent.run('go');
  await loader.configure({ extensions: { x: { level: 'high' } } });
  await serversConnected(loader);
  const second = await agent.run('go');

  expect(loader.hooks.list()).toEqual([hook]);
  expect(linesOf(trace)).toEqual(['low', 'high']);
  expect(first.messages[2]).toMatchObject({ content: [{ content: 'X_LEVEL=low' }] });
  expect(second.messages[2]).toMatchObject({ content: [{ content: 'X_LEVEL=high' }] });
});
