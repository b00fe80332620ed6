import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { calls, says, scriptedModel } from 'keelson/testing';
import { type ApprovalRequest, type Approver, createTrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';
import { echoServer, linesOf, makePlace, manifest, type Place, tracer } from '../support/manifest/place.js';
import { write } from '../support/process/scratch.js';

/** Writes a workspace package with three hooks, two of one name, two servers, a setting and a skill. */
function makePackage(place: Place, hasServer = false): { root: string; trace: string } {
  const trace = join(place.root, 'trace');
  const note = { name: 'note', command: './note.sh' };
  const root = place.workspace(
    'whole',
    manifest('whole', {
      hooks: { before_agent: [note, { ...note, command: './second.sh' }], before_tool: [{ ...note, name: 'guard' }] },
      mcpServers: {
        ...(hasServer && { tell: { command: 'node', args: [echoServer] } }),
        off: { command: 'node', args: [echoServer], disabled: true },
      },
      settings: [{ name: 'depth', description: 'The depth.', default: 5 }],
    }),
  );
  tracer(join(root, 'note.sh'), trace, 'note');
  tracer(join(root, 'second.sh'), trace, 'second');
  write(join(root, 'skills/greet/SKILL.md'), '---\nname: greet\ndescription: Greets.\n---\nSay hello.\n');
  return { root, trace };
}

const NAMES = ['hook note', 'hook note#2', 'hook guard', 'mcp-server whole-tell', 'settings whole', 'skill whole'];
const namesOf = ({ parts }: ApprovalRequest) => parts.map(({ item }) => `${item.kind} ${item.name}`);
const model = () =>
  scriptedModel([
    calls('mcp__whole-tell__echo', { variable: 'X' }),
    calls('skill', { name: 'whole:greet' }),
    says('done'),
  ]);

/** An approver that declines the parts with these names, and records each request. */
function decliner(asked: ApprovalRequest[], ...names: readonly string[]): Approver {
  return (request) => {
    asked.push(request);
    const isNamed = ({ item }: { item: { kind: string; name: string } }) => names.includes(`${item.kind} ${item.name}`);
    return { declined: request.parts.filter(isNamed).map(({ digest }) => digest) };
  };
}

test('a package causes one question, which lists its parts and their files', async () => {
  const place = makePlace();
  const { trace } = makePackage(place, true);
  const { loader, agent } = await place.load({ approve: place.yes }, { model: model() });
  const { messages } = await agent.run('go');
  await loader.reload();

  expect(place.asked).toHaveLength(1);
  const [request] = place.asked;
  expect(request).toMatchObject({ why: 'new', item: { kind: 'extension', name: 'whole' }, argv: [] });
  expect(namesOf(request as ApprovalRequest)).toEqual(NAMES);
  expect(request?.files.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['manifest.json', 'note.sh', 'second.sh', 'skills/greet/SKILL.md']),
  );
  expect(request?.parts.map(({ scripts }) => Object.keys(scripts))).toEqual([
    ['note.sh'],
    ['second.sh'],
    ['note.sh'],
    [],
    [],
    [],
  ]);
  expect(request?.parts[3]).toMatchObject({ argv: ['node', echoServer] });
  expect(linesOf(trace)).toEqual(['note', 'second', 'note', 'note']);
  expect(JSON.stringify(messages)).toContain('Say hello.');
  expect(loader.status().extensions).toMatchObject([{ state: 'active', approved: true }]);
  expect((await loader.gate.store.list()).map(({ kind }) => kind).sort()).toEqual([
    ...['hook', 'hook', 'hook', 'mcp-server', 'settings', 'skill'],
  ]);
});

test.each(['hook note#2', 'mcp-server whole-tell', 'settings whole', 'skill whole'])(
  'the part %j can be declined alone, and the other parts work',
  async (name) => {
    const place = makePlace();
    const { trace } = makePackage(place, name.startsWith('mcp'));
    const asked: ApprovalRequest[] = [];
    const { loader, agent } = await place.load({ approve: decliner(asked, name) }, { model: model() });
    await agent.run('go').catch(() => {});

    const ran = linesOf(trace);
    const hooks = [ran.filter((line) => line === 'second').length, ran.filter((line) => line === 'note').length];
    expect(hooks).toEqual([name === 'hook note#2' ? 0 : 1, 3]);
    const states = loader.mcp.status().map(({ state }) => state);
    expect(states).toEqual(name.startsWith('mcp') ? ['denied', 'disabled'] : ['disabled']);
    expect(loader.status().skills).toEqual(name === 'skill whole' ? [] : ['whole:greet']);
    expect(loader.config).toEqual({ extensions: { whole: name === 'settings whole' ? {} : { depth: 5 } } });
    expect(asked).toHaveLength(1);
    expect(loader.status().extensions).toMatchObject([{ state: 'pending', approved: false }]);
  },
);

test('a declined part is asked about again by the next process, alone', async () => {
  const place = makePlace();
  makePackage(place);
  await place.load({ approve: decliner([], 'hook guard', 'skill whole') });
  const asked: ApprovalRequest[] = [];
  await place.load({ approve: decliner(asked) });
  await place.load({ approve: decliner(asked) });

  expect(asked.map(namesOf)).toEqual([['hook guard', 'skill whole']]);
});

test('a change of one byte asks one question about all parts, and tells which script changed', async () => {
  const place = makePlace();
  const { root } = makePackage(place);
  const { loader } = await place.load({ approve: place.yes });
  appendFileSync(join(root, 'second.sh'), '#');
  await loader.reload();

  expect(place.asked).toHaveLength(2);
  const [before, after] = place.asked;
  expect(after?.why).toBe('changed');
  expect(after?.parts).toHaveLength(NAMES.length - 1);
  expect(after?.previousScripts).toEqual(before?.scripts);
  expect(after?.scripts).not.toEqual(before?.scripts);
});

test('a hook that loses its twin of the same name keeps its number, and causes one question', async () => {
  const place = makePlace();
  const { trace } = makePackage(place);
  const { loader, agent } = await place.load({ approve: place.yes }, { model: scriptedModel(['done']) });
  const second = { name: 'note', command: './second.sh' };
  place.workspace('whole', manifest('whole', { hooks: { before_agent: [second] } }));
  await loader.reload();
  await agent.run('go');

  expect(place.asked.slice(1).map(namesOf)).toEqual([['hook note#2', 'skill whole']]);
  expect(linesOf(trace)).toEqual(['second']);
  expect(loader.status().extensions).toMatchObject([{ state: 'active', approved: true }]);
});

test('a hook that is added beside a kept hook of its name causes one question', async () => {
  const place = makePlace();
  const { root, trace } = makePackage(place);
  const third = tracer(join(root, 'third.sh'), trace, 'third');
  const { loader, agent } = await place.load({ approve: place.yes }, { model: scriptedModel(['done']) });
  const hooks = [third, './second.sh'].map((command) => ({ name: 'note', command }));
  place.workspace('whole', manifest('whole', { hooks: { before_agent: hooks } }));
  await loader.reload();
  await agent.run('go');

  expect(place.asked).toHaveLength(2);
  expect(linesOf(trace)).toEqual(['third', 'second']);
});

test.each([[{ declined: ['sha256:unknown'] }], [{ declined: 'all' }], [{}], ['yes'], [undefined]])(
  'the answer %j approves nothing',
  async (answer) => {
    const place = makePlace();
    const { trace } = makePackage(place);
    const { loader, agent } = await place.load({ approve: () => answer as never }, { model: scriptedModel(['done']) });
    await agent.run('go');

    expect(linesOf(trace)).toEqual([]);
    expect(loader.status().extensions).toMatchObject([{ state: 'pending', skills: [] }]);
    expect(await loader.gate.store.list()).toEqual([]);
  },
);

test('`declined` for a single item approves nothing', async () => {
  const place = makePlace();
  write(join(place.workspaceDir, '.agents/skills/x/SKILL.md'), '---\nname: x\ndescription: x\n---\nx\n');
  const { loader } = await place.load({ skillFolders: ['.agents/skills'], approve: () => ({ declined: [] }) });

  expect(loader.status().skills).toEqual([]);
});

test('a gate without `authorizeParts` is asked about each part', async () => {
  const place = makePlace();
  makePackage(place);
  const { workspaceDir, userDir } = place;
  const { authorize, verify, ...gate } = createTrustGate({ workspaceDir, stateDir: userDir, approve: place.yes });
  const own = createTrustGate({ workspaceDir, stateDir: userDir, approve: place.yes });
  const plain = { ...gate, authorize: own.authorize.bind(own), verify: own.verify.bind(own), store: own.store };
  const { loader } = await place.load({ gate: { ...plain, revoke: own.revoke.bind(own) } as never });

  expect(place.asked.map(({ item }) => item.kind).sort()).toEqual(['hook', 'hook', 'hook', 'settings', 'skill']);
  expect(loader.status().extensions).toMatchObject([{ state: 'active' }]);
});

test('a package of the user, and one without parts, cause no question', async () => {
  const place = makePlace();
  place.user('mine', manifest('mine', { hooks: { before_agent: [{ name: 'n', command: 'true' }] } }));
  place.workspace('empty', manifest('empty'));
  const { loader } = await place.load({ approve: place.yes });

  expect(place.asked).toEqual([]);
  expect(loader.status().extensions).toMatchObject([{ state: 'active' }, { state: 'active' }]);
});
