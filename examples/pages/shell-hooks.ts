import { Agent, defineTool } from 'keelson';
import { shellHooks } from 'keelson/shell-hooks';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const erase = defineTool({
  name: 'erase',
  description: 'Erases a file.',
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `erased ${path}`,
});

// A program in any language: it reads the event on standard input, and exit code 2 blocks the call.
const guard = {
  name: 'guard',
  matcher: 'erase',
  command: '/bin/sh',
  args: ['-c', 'grep -q "logs/" || { echo "Only logs may be erased." >&2; exit 2; }'],
  exitCodes: true,
};
const hooks = shellHooks({ hooks: { before_tool: [guard] } });

const model = scriptedModel([calls('erase', { path: 'main.ts' }), says('I may not erase it.')]);
const agent = new Agent({ model, tools: [erase], loaders: [hooks] });
const { messages } = await agent.run('Erase main.ts.');
console.log(messages.find(({ role }) => role === 'tool')?.content);
await agent.close();
