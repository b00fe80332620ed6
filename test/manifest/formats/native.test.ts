import { readFileSync } from 'node:fs';
import { Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { manifestJsonSchema, parseManifest } from 'keelson/manifest';
import { describe, expect, test } from 'vitest';
import { parseJsonObject } from '../../../src/manifest/formats/strict-json.js';
import { hooksOf, makePlace, manifest } from '../../support/manifest/place.js';

type Json = Record<string, unknown>;

/** A manifest with one entry of every kind. */
const full = (): Json =>
  manifest('x', {
    mcpServers: { db: { command: 'db', args: [] } },
    hooks: [{ name: 'guard', event: 'before_tool', command: 'true' }],
    settings: [{ name: 'level', description: 'How much.' }],
    skills: [{ name: 'review', description: 'Reviews.', prompt: 'Review it.', parameters: [{ name: 'file' }] }],
  });

const problemsOf = (value: unknown) => {
  const read = parseManifest(JSON.stringify(value));
  return 'problems' in read ? read.problems.map(({ path, message }) => `${path}: ${message}`) : [];
};

const withServer = (server: Json) => manifest('x', { mcpServers: { db: server } });

function without(path: readonly (string | number)[]): Json {
  const value = full();
  const parent = path.slice(0, -1).reduce<Json>((inner, step) => inner[step] as Json, value);
  delete parent[String(path.at(-1))];
  return value;
}

describe('S0-6.1, S0-6.2, S0-6.3, S0-6.4, S0-6.5, S0-6.6: the required keys of a manifest', () => {
  const required: readonly (readonly (string | number)[])[] = [
    ...[['name'], ['version'], ['description']],
    ...[
      ['mcpServers', 'db', 'command'],
      ['mcpServers', 'db', 'args'],
    ],
    ...[
      ['hooks', 0, 'name'],
      ['hooks', 0, 'event'],
      ['hooks', 0, 'command'],
    ],
    ...[
      ['settings', 0, 'name'],
      ['settings', 0, 'description'],
    ],
    ...[
      ['skills', 0, 'name'],
      ['skills', 0, 'description'],
      ['skills', 0, 'prompt'],
    ],
  ];

  test.each(required.map((path) => [path]))(
    'a manifest without %j is refused, and the problem names the path',
    async (path) => {
      const place = makePlace();
      place.user('x', without(path));

      const { loader } = await place.load();

      const text = path
        .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
        .join('')
        .slice(1);
      expect(loader.extensions()).toEqual([]);
      expect(hooksOf(loader)).toEqual([]);
      expect(loader.mcp.status()).toEqual([]);
      expect(loader.skills.list()).toEqual([]);
      expect(loader.status().diagnostics).toMatchObject([{ level: 'error', problems: [{ path: text }] }]);
      expect(place.logger.lines.filter((line) => line.startsWith('error') && line.includes(text))).toHaveLength(1);
    },
  );

  test('D2: all missing keys are reported at once', () => {
    const bare = { mcpServers: { db: {} }, hooks: [{}], settings: [{}], skills: [{}] };

    expect(problemsOf(bare)).toEqual([
      ...['name', 'version', 'description'].map((path) => `${path}: it is missing`),
      ...['mcpServers.db.command: it is missing', 'mcpServers.db.args: it is missing: use [] for no arguments'],
      ...['hooks[0].name', 'hooks[0].command', 'hooks[0].event'].map((path) => `${path}: it is missing`),
      ...['settings[0].name', 'settings[0].description'].map((path) => `${path}: it is missing`),
      ...['skills[0].name', 'skills[0].description', 'skills[0].prompt'].map((path) => `${path}: it is missing`),
    ]);
  });

  test.each([
    [{ command: 'x', args: [] }, []],
    [{ transport: 'stdio', command: 'x', args: [] }, []],
    [{ transport: 'sse', url: 'https://x' }, []],
    [{ transport: 'http', url: 'https://x' }, []],
    [{ type: 'http', url: 'https://x' }, []],
    [{ transport: 'http', command: 'x', args: [] }, []],
    [{ transport: 'stdio', args: [] }, ['command']],
    [{ transport: 'stdio', command: 'x' }, ['args']],
    [{ command: 'x' }, ['args']],
    [{ args: [] }, ['command']],
    [{ url: 'https://x' }, ['url', 'command', 'args']],
    [{ transport: 'sse' }, ['url']],
    [{ transport: 'http' }, ['url']],
    [{ transport: 'carrier pigeon', command: 'x', args: [] }, ['transport']],
    [{ transport: 'http', url: 'https://x', command: 'x', args: [] }, ['url']],
    [{ command: 'x', args: 'y' }, ['args']],
    [{ command: 'x', args: [], env: { A: 1 } }, ['env.A']],
  ])('S0-6.2: the server %j has the problems %j', (server, paths) => {
    const found = problemsOf(withServer(server)).map((problem) => problem.split(':')[0]);

    expect(found).toEqual(paths.map((path) => `mcpServers.db.${path}`));
  });

  test('S0-6.3: the event of a hook defaults to the key that lists it, and must not differ from it', () => {
    const hook = { name: 'h', command: 'true' };

    expect(problemsOf(manifest('x', { hooks: { before_tool: [hook, { ...hook, event: 'before_tool' }] } }))).toEqual(
      [],
    );
    expect(problemsOf(manifest('x', { hooks: { before_tool: [{ ...hook, event: 'after_tool' }] } }))).toEqual([
      'hooks.before_tool[0].event: it must be "before_tool", the event that lists it, got "after_tool"',
    ]);
    expect(problemsOf(manifest('x', { hooks: { before_tool: [{ command: 'true' }] } }))).toEqual([
      'hooks.before_tool[0].name: it is missing',
    ]);
  });

  const slow = { name: 'slow', event: 'before_tool', command: 'sleep', args: ['60'] };
  const { event: _event, ...underEvent } = slow;

  test.each<[string, Json]>([
    ['an array', { timeout: 150, hooks: [slow] }],
    ['arrays by event', { timeout: 150, before_tool: [underEvent] }],
  ])('S0-14.1: `hooks.timeout` is the time limit of the hooks of the extension, with %s', async (_form, hooks) => {
    const place = makePlace();
    place.user('x', manifest('x', { hooks }));
    place.user('y', manifest('y', { hooks: [{ ...slow, name: 'other' }] }));

    const { loader } = await place.load();
    const [mine, other] = loader.hooks.list();
    expect([mine?.timeout, other?.timeout]).toEqual([150, undefined]);
  });

  test('S0-14.5: a hook may override `hooks.timeout`', () => {
    const hooks = { timeout: 150, hooks: [{ ...slow, timeout: 20 }] };
    const read = parseManifest(JSON.stringify(manifest('x', { hooks })));

    expect(read).toMatchObject({ content: { hooks: [{ timeout: 20 }] } });
  });

  test.each<[Json, string]>([
    [{ timeout: '5s', hooks: [slow] }, 'hooks.timeout'],
    [{ timeout: 0 }, 'hooks.timeout'],
    [{ timeout: 150, hooks: [{ name: 'x', command: 'true' }] }, 'hooks.hooks[0].event'],
    [{ timeout: 150, hooks: {} }, 'hooks.hooks'],
  ])('hooks with %j are refused with the path %s', (hooks, path) => {
    expect(problemsOf(manifest('x', { hooks })).map((problem) => problem.split(':')[0])).toEqual([path]);
  });

  const wrong: readonly (readonly [string, Json, string])[] = [
    ['a name with a slash', { name: 'a/b' }, 'name'],
    ['a name with dots', { name: 'a..b' }, 'name'],
    ['a long name', { name: 'a'.repeat(65) }, 'name'],
    ['an inherited name', { name: 'constructor' }, 'name'],
    ['an invalid semantic version', { version: '1' }, 'version'],
    ...[0, -1, 1e12, '30', null].map(
      (timeout) =>
        [
          `the timeout ${JSON.stringify(timeout)}`,
          { hooks: [{ name: 'h', event: 'before_tool', command: 'x', timeout }] },
          'hooks[0].timeout',
        ] as const,
    ),
    ['a string as hooks', { hooks: 'x' }, 'hooks'],
    ['a number as a skill', { skills: [1] }, 'skills[0]'],
    [
      'two settings with the same name',
      {
        settings: [
          { name: 'a', description: 'x' },
          { name: 'a', description: 'x' },
        ],
      },
      'settings[1].name',
    ],
    [
      'a default of another type',
      { settings: [{ name: 'a', description: 'x', type: 'number', default: 'x' }] },
      'settings[0].default',
    ],
    [
      'a default that is not in `enum`',
      { settings: [{ name: 'a', description: 'x', enum: ['b'], default: 'c' }] },
      'settings[0].default',
    ],
    [
      'two skills with the same name',
      { skills: [1, 2].map(() => ({ name: 'a', description: 'x', prompt: 'x' })) },
      'skills[1].name',
    ],
  ];

  test.each(wrong)('a manifest with %s is refused', (_what, more, path) => {
    expect(problemsOf(manifest('x', more)).map((problem) => problem.split(': ')[0])).toEqual([path]);
  });

  test.each(['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'node_options', 'BASH_ENV', 'GIT_SSH'])(
    'E8: a setting cannot use the variable %s',
    (envVar) => {
      const problems = problemsOf(manifest('x', { settings: [{ name: 'a', description: 'x', envVar }] }));

      expect(problems).toEqual([
        'settings[0].envVar: this variable can make another program run: choose a variable of your own',
      ]);
    },
  );

  const secret = [{ name: 'apiToken', description: 'x', envVar: 'API_TOKEN', sensitive: true }];

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references to settings use this syntax
  test.each(['{{apiToken}}', '{{ settings.api-token }}', '${apiToken}', '${user_config.apiToken}', '${API_TOKEN}'])(
    'E4: a skill that refers to a setting as %s is refused',
    (reference) => {
      const skills = [{ name: 's', description: 'x', prompt: `Use ${reference}.` }];

      expect(problemsOf(manifest('x', { settings: secret, skills }))).toEqual([
        expect.stringContaining('skills[0].prompt: '),
      ]);
    },
  );

  test.each([
    ['curl ${settings.apiToken}', true],
    ['curl {{apiToken}}', true],
    ['curl ${user_config.apiToken}', true],
    ['${settings.apiToken}', false],
    ['${apiToken}', false],
  ])('E4, E6: a hook that puts a setting into its command is refused: %s', (command, shell) => {
    const hooks = [{ name: 'h', event: 'before_tool', command, shell }];

    expect(problemsOf(manifest('x', { settings: secret, hooks }))).toEqual([
      expect.stringContaining('hooks[0].command: '),
    ]);
  });

  test('E6: a shell command may use the variable of a setting', () => {
    const hooks = [{ name: 'h', event: 'before_tool', command: 'curl -H "$API_TOKEN" ${API_TOKEN}', shell: true }];

    expect(problemsOf(manifest('x', { settings: secret, hooks }))).toEqual([]);
  });
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references to settings use this syntax
});

test('keys without effect do not reject a manifest, and an unknown key is a warning with the nearest known key', () => {
  const hooks = [{ name: 'h', event: 'before_tool', command: 'x', description: 'Why', onfailure: 'block' }];
  const settings = [
    { name: 'a', description: 'A', title: 'A', default: [], requird: true },
    { name: 'b', description: 'B', default: null },
  ];
  const parameters = [{ name: 'p', type: 'string', default: null, descripton: 'P' }];
  const skills = [{ name: 's', description: 'S', prompt: 'p', tags: ['x'], parameters, promt: '' }];
  const read = parseManifest(JSON.stringify(manifest('x', { hooks, settings, skills })));

  expect(read).toMatchObject({
    content: { hooks: [{ name: 'h' }], settings: [{ name: 'a' }, { name: 'b' }], skills: [{ name: 's' }] },
    warnings: [
      { path: 'hooks[0].onfailure', message: 'the key is unknown; did you mean "onFailure"?' },
      { path: 'settings[0].requird', message: 'the key is unknown; did you mean "required"?' },
      { path: 'skills[0].promt', message: 'the key is unknown; did you mean "prompt"?' },
      { path: 'skills[0].parameters[0].descripton', message: 'the key is unknown; did you mean "description"?' },
    ],
  });
  expect(JSON.stringify(read)).not.toMatch(/Why|"default"/);
});

test.each([{ default: ['x'] }, { default: {} }, { required: 'yes' }, { description: undefined }])(
  'the setting member %j still rejects a manifest',
  (wrong) => {
    const settings = [{ name: 'a', description: 'A', ...wrong }];
    expect(problemsOf(manifest('x', { settings }))).toHaveLength(1);
  },
);

test('`manifestJsonSchema` equals docs/manifest.schema.json', () => {
  const published = readFileSync(new URL('../../../docs/manifest.schema.json', import.meta.url), 'utf8');

  expect(JSON.parse(published)).toEqual(manifestJsonSchema());
});

describe('any JSON', () => {
  const key = fc.oneof(
    fc.constantFrom(
      'name',
      'version',
      'description',
      'mcpServers',
      'hooks',
      'settings',
      'skills',
      'command',
      'args',
      'url',
    ),
    fc.constantFrom(
      'event',
      'before_tool',
      'prompt',
      'parameters',
      'default',
      'enum',
      'envVar',
      '__proto__',
      'constructor',
      'a.b',
    ),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('x', '1.0.0', 'before_tool', '', '../x', 0, -1, 1e9, true, null),
      fc.string(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  }));

  test('is parsed to a valid extension or a list of problems with paths, without throwing', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { maxLength: 8 }), (entries) => {
        // As a string, so that `__proto__` is an ordinary key.
        const text = `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${JSON.stringify(inner)}`).join(',')}}`;
        const parsed = parseJsonObject(Buffer.from(text));
        if ('problems' in parsed) {
          expect(parsed.problems.every(({ message }) => message !== '')).toBe(true);
          return;
        }
        const read = parseManifest(text);
        if ('content' in read) expect(read.content.name).toMatch(/^[\w.-]{1,64}$/);
        else expect(read.problems.length).toBeGreaterThan(0);
        expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('is valid exactly if the published schema accepts it, for all rules in the schema', () => {
    const validator = new Validator(manifestJsonSchema() as object, '2020-12');
    const pick = (...items: unknown[]) => fc.constantFrom(...items);
    const some = (model: Record<string, fc.Arbitrary<unknown>>) => fc.record(model, { requiredKeys: [] });
    const server = some({
      command: pick('x', 1),
      args: pick([], 'x'),
      url: pick('https://x'),
      transport: pick('http', 'stdio', 'x'),
    });
    const hook = some({
      name: pick('h', 1),
      event: pick('before_tool'),
      command: pick('x', ''),
      timeout: pick(1, 0),
      other: pick(1),
    });
    const file = fc.record(
      {
        name: pick('x', 'a/b', 1),
        version: pick('1.0.0', '1'),
        description: pick('x', ''),
        mcpServers: fc.dictionary(fc.constantFrom('a', 'b'), server),
        hooks: fc.array(hook, { maxLength: 2 }),
      },
      { requiredKeys: ['name', 'version', 'description'] },
    );

    fc.assert(
      fc.property(file, (json) => {
        const schemaSays = validator.validate(json).valid;
        const weSay = problemsOf(json).length === 0;
        // The schema cannot express that `command` and `url` exclude each other.
        expect(weSay && !schemaSays).toBe(false);
        if (!Object.values(json.mcpServers ?? {}).some((entry) => 'url' in (entry as object)))
          expect(weSay).toBe(schemaSays);
      }),
      { numRuns: 500 },
    );
  });
});

test('a duplicate key is refused with its path, at any depth and in any spelling', () => {
  const text = JSON.stringify(full()).replace(
    '"command":"true"',
    '"command":"true","args":[{}],"comm\\u0061nd":"./gate"',
  );

  expect(parseManifest(text)).toMatchObject({
    problems: [
      {
        path: 'hooks[0].command',
        message: expect.stringMatching(
          /^the key at line 1, column \d+ is repeated in its object, so the file is refused: remove it$/,
        ),
      },
      {},
    ],
  });
  expect(parseJsonObject(Buffer.from('{"a":{"b":1},"c":[{"b":"a:"},{"b":"\\"b\\":"}]}'))).toMatchObject({
    lost: [],
  });
});

test('a manifest over the size limit is refused, for any size', () => {
  expect(parseManifest(JSON.stringify({ ...full(), description: 'a'.repeat(12_000_000) }))).toEqual({
    problems: [{ path: '', message: expect.stringContaining('at most 1048576') }],
  });
});
