import { join } from 'node:path';
import fc from 'fast-check';
import { Agent } from 'keelson';
import { manifests } from 'keelson/manifest';
import { mcpServers } from 'keelson/mcp';
import { calls, says, scriptedModel } from 'keelson/testing';
import { type ApprovalPart, type ApprovalRequest, createTrustGate } from 'keelson/trust';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makePlace, manifest } from '../support/manifest/place.js';
import { memoryServers } from '../support/mcp/memory-servers.js';
import { write } from '../support/process/scratch.js';

type Condition = 'valid' | 'disabled' | 'invalid';

/** A server with its origin. `extension` is the extension package that defines the server. */
interface Planned {
  readonly scope: 'builtin' | 'user' | 'workspace';
  readonly extension?: string | undefined;
  readonly server: string;
  readonly condition: Condition;
  readonly isApproved: boolean;
}

interface Plan {
  readonly servers: readonly Planned[];
  /** Extension packages that are disabled. */
  readonly off: readonly string[];
  readonly isHostFirst: boolean;
}

/** The name that the origin alone gives to a server. */
function idOf({ extension, server }: Planned): string {
  return extension === undefined || extension === server ? server : `${extension}-${server}`;
}

function urlOf({ scope, extension, server }: Planned): string {
  return `https://${scope}.test/${extension ?? ''}/${server}`;
}

function configOf(planned: Planned) {
  const url = planned.condition === 'invalid' ? 'ftp://nowhere.test/' : urlOf(planned);
  return { transport: 'http', url, disabled: planned.condition === 'disabled' } as const;
}

const mapOf = (servers: readonly Planned[]) => Object.fromEntries(servers.map((one) => [one.server, configOf(one)]));

/** Loads the servers of a plan. Returns the name of each tool with the URL of its server. */
async function load({ servers, off, isHostFirst }: Plan) {
  const place = makePlace();
  const { workspaceDir, userDir, logger } = place;
  const of = (scope: Planned['scope']) => servers.filter((one) => one.scope === scope);
  for (const scope of ['user', 'workspace'] as const) {
    for (const name of new Set(of(scope).flatMap(({ extension }) => extension ?? []))) {
      const own = of(scope).filter(({ extension }) => extension === name);
      place[scope](name, manifest(name, { mcpServers: mapOf(own) }));
    }
  }
  const free = of('workspace').filter(({ extension }) => extension === undefined);
  write(join(workspaceDir, '.mcp.json'), JSON.stringify({ mcpServers: mapOf(free) }));
  const approved = new Set(servers.filter(({ isApproved }) => isApproved).map(urlOf));
  const isApproved = ({ item }: ApprovalPart) => approved.has(String(item.details?.url));
  const approve = (request: ApprovalRequest) => {
    const declined = request.parts.filter((part) => !isApproved(part)).map(({ digest }) => digest);
    return request.parts.length > 0 ? { declined } : isApproved(request);
  };
  const gate = createTrustGate({ workspaceDir, stateDir: userDir, appName: 'app', approve, logger });
  const mcp = mcpServers({ workspaceDir, gate, system: { logger, fetch: memoryServers() } });
  const options = { workspaceDir, userDir, appName: 'app', gate, mcp, logger, skillFolders: [] };
  const loader = manifests(options);
  const addHost = () => Promise.all(of('builtin').map((one) => mcp.add(one.server, configOf(one))));
  if (isHostFirst) await addHost();
  const agent = new Agent({ model: scriptedModel([]), logger, loaders: [loader] });
  await agent.ready();
  for (const name of off) await loader.disable(name);
  if (!isHostFirst) await addHost();
  const found = () => mcp.tools.list().map(({ name, description }) => `${name} ${description.split('] ')[1]}`);
  return { agent, found, loader, mcp };
}

/** The tools that the rule allows: the server with precedence has the name, whatever its condition is. */
function expected({ servers, off }: Plan): readonly string[] {
  const rank = ({ scope, extension }: Planned) =>
    `${['builtin', 'user', 'workspace'].indexOf(scope)} ${extension === undefined ? '' : ` ${extension}`}`;
  const registered = servers.filter(({ extension }) => extension === undefined || !off.includes(extension));
  const ids = [...new Set(registered.map(idOf))];
  return ids.flatMap((id) => {
    const [first] = registered.filter((one) => idOf(one) === id).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
    if (first === undefined || first.condition !== 'valid') return [];
    return first.scope === 'workspace' && !first.isApproved ? [] : [`mcp__${id}__drop ${urlOf(first)}`];
  });
}

const planned = fc.record({
  scope: fc.constantFrom<Planned['scope']>('builtin', 'user', 'workspace'),
  extension: fc.constantFrom('a', 'a-b', 'db', 'b', undefined),
  server: fc.constantFrom('db', 'b-x', 'x', 'a', 'a-db', 'a-b-x'),
  condition: fc.constantFrom<Condition>('valid', 'valid', 'disabled', 'invalid'),
  isApproved: fc.boolean(),
});

const plan: fc.Arbitrary<Plan> = fc.record({
  servers: fc.array(planned, { minLength: 2, maxLength: 9 }).map(distinct),
  off: fc.subarray(['a', 'a-b', 'db', 'b']),
  isHostFirst: fc.boolean(),
});

/** Extension packages have names of one scope only, and the user has no servers outside of extension packages. */
function distinct(all: readonly Planned[]): readonly Planned[] {
  const scopes = new Map<string, string>();
  const seen = new Set<string>();
  return all.flatMap(({ extension, ...one }) => {
    const inPackage = one.scope === 'builtin' ? undefined : (extension ?? (one.scope === 'user' ? 'a' : undefined));
    if (inPackage !== undefined) scopes.set(inPackage, scopes.get(inPackage) ?? one.scope);
    const scope = inPackage === undefined ? one.scope : (scopes.get(inPackage) as Planned['scope']);
    const made = { ...one, scope, ...(inPackage !== undefined && { extension: inPackage }) };
    return seen.has(urlOf(made)) ? [] : seen.add(urlOf(made)) && [made];
  });
}

test('the name of every tool is a function of its origin, whatever else is defined, enabled or approved', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (one) => {
      const off = one.off.filter((name) => one.servers.some(({ extension }) => extension === name));
      const { agent, found } = await load({ ...one, off });
      try {
        await expect.poll(() => [...found()].sort()).toEqual([...expected({ ...one, off })].sort());
      } finally {
        await agent.close();
      }
    }),
    { numRuns: 15 },
  );
}, 60_000);

describe.each<Condition>(['valid', 'disabled', 'invalid'])('a server of the workspace that is %s', (condition) => {
  const ours = { scope: 'user', extension: 'db', server: 'db', condition: 'valid', isApproved: false } as const;

  test.each([undefined, 'db-db', 'a'])(
    'does not rename or replace a server of the user: in extension %s',
    async (extension) => {
      const theirs = { scope: 'workspace', server: 'db', condition, isApproved: true, ...(extension && { extension }) };
      const { agent, found } = await load({ servers: [ours, theirs as Planned], off: [], isHostFirst: false });
      onTestFinished(() => agent.close());

      expect(found()).toContain(`mcp__db__drop ${urlOf(ours)}`);
    },
  );

  test('does not make `add` of the host fail', async () => {
    const theirs = { scope: 'workspace', server: 'db', condition, isApproved: true } as const;
    const host = { ...theirs, scope: 'builtin', condition: 'valid' } as const;
    const { agent, found, loader, mcp } = await load({ servers: [theirs, host], off: [], isHostFirst: false });
    onTestFinished(() => agent.close());

    expect(found()).toEqual([`mcp__db__drop ${urlOf(host)}`]);
    await expect(mcp.add('db', configOf(host))).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' });
    expect(loader.status().diagnostics).toEqual([]);
  });
});

test('the server that was left out gets the name when the other server is removed', async () => {
  const theirs = { scope: 'workspace', server: 'db', condition: 'valid', isApproved: true } as const;
  const host = { ...theirs, scope: 'builtin' } as const;
  const { agent, found, mcp } = await load({ servers: [theirs, host], off: [], isHostFirst: true });
  onTestFinished(() => agent.close());

  expect(await mcp.remove('db')).toBe(true);

  await expect.poll(found).toEqual([`mcp__db__drop ${urlOf(theirs)}`]);
});

test('a guard for a tool of the user runs, also if the workspace defines a server of the same name', async () => {
  const place = makePlace();
  const { workspaceDir, logger } = place;
  place.user('db', manifest('db', { mcpServers: { db: { transport: 'http', url: 'https://user.test/db' } } }));
  const theirs = { mcpServers: { db: { url: 'https://workspace.test/db' } } };
  write(join(workspaceDir, '.mcp.json'), JSON.stringify(theirs));
  const mcp = mcpServers({ workspaceDir, system: { logger, fetch: memoryServers() } });
  const model = scriptedModel([calls('mcp__db__drop', {}), says('done')]);
  const { agent } = await place.load({ mcp }, { model });
  const seen: string[] = [];
  agent.use({
    wrapToolCall: ({ name }, next) => {
      seen.push(name);
      return next();
    },
  });

  const { messages } = await agent.run('go');

  expect(seen).toEqual(['mcp__db__drop']);
  expect(JSON.stringify(messages)).toContain('https://user.test/db');
  expect(logger.lines.join('\n')).toContain('is left out');
});
