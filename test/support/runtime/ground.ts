import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadRuntime, type Runtime, type RuntimeOptions } from 'keelson/runtime';
import { onTestFinished } from 'vitest';
import { keepingLogger } from '../agent/silent-logger.js';
import { echoServer, manifest } from '../manifest/place.js';
import { spawnScripted } from '../mcp/scripted-servers.js';
import { scratchFolder, script, write } from '../process/scratch.js';

/** A temporary home directory and workspace for one test. */
export interface Ground {
  readonly home: string;
  readonly cwd: string;
  readonly trace: string;
  readonly asked: string[];
  load(options?: RuntimeOptions): Promise<Runtime>;
}

/** Creates a home directory with a hook, and a workspace with a server, a plugin and an extension package. */
export function ground(): Ground {
  const root = scratchFolder();
  const [home, cwd, trace] = [join(root, 'home'), join(root, 'ws'), join(root, 'trace')];
  for (const folder of [home, cwd]) mkdirSync(folder, { recursive: true });
  const note = (path: string, word: string) => script(path, `#!/bin/sh\necho ${word} >> ${trace}\necho '{}'\n`);
  const hook = note(join(home, '.app/note.sh'), 'user hook');
  write(join(home, '.app/hooks.json'), JSON.stringify({ hooks: { before_agent: [{ name: 'note', command: hook }] } }));
  write(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { tell: { command: 'node', args: [echoServer] } } }));
  write(join(cwd, 'app.plugins.mjs'), `export default { plugins: [{ path: './plugin.mjs' }] };\n`);
  write(
    join(cwd, 'plugin.mjs'),
    `import { appendFileSync } from 'node:fs';
export default { name: 'note', hooks: { beforeMessage: (message) => { appendFileSync(${JSON.stringify(trace)}, 'plugin\\n'); return message; } } };\n`,
  );
  const extension = join(cwd, '.app/extensions/whole');
  note(join(extension, 'note.sh'), 'extension hook');
  const parts = {
    hooks: [{ name: 'ext', event: 'before_agent', command: './note.sh' }],
    skills: [{ name: 'greet', description: 'Greets.', prompt: 'Say hello.' }],
  };
  write(join(extension, 'manifest.json'), JSON.stringify(manifest('whole', parts)));
  const asked: string[] = [];
  const before = process.env.HOME;
  process.env.HOME = home;
  onTestFinished(() => {
    process.env.HOME = before;
  });
  return {
    ...{ home, cwd, trace, asked },
    async load(options = {}) {
      const system = { spawn: spawnScripted, ...options.mcp?.system };
      const mcp = { waitForServers: true, ...options.mcp, system };
      const runtime = await loadRuntime({ appName: 'app', cwd, logger: keepingLogger(), ...options, mcp });
      onTestFinished(() => runtime.close());
      return runtime;
    },
  };
}
