import { openSync } from 'node:fs';
import { Agent, defineTool } from 'keelson';
import { HookRegistry, shellHooks } from 'keelson/shell-hooks';
import { scriptedModel } from 'keelson/testing';

/** Order for one run of an agent whose guard refuses every call. Written as JSON in the first argument. */
export interface CrowdedOrder {
  readonly workspaceDir: string;
  readonly calls: number;
  readonly hook: object;
  readonly maxProcesses?: number;
  /** Number of file descriptors that stay free. Absent: the host opens no extra files. */
  readonly free?: number;
}

const order: CrowdedOrder = JSON.parse(process.argv[2] ?? '');
const { workspaceDir, calls, hook, maxProcesses, free } = order;
let ran = 0;
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object' },
  execute: () => {
    ran += 1;
    return 'paid';
  },
});
const registry = new HookRegistry();
registry.register({ event: 'before_tool', name: 'guard', ...hook } as Parameters<HookRegistry['register']>[0]);
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const hooks = shellHooks({ workspaceDir, registry, machine: { logger: quiet }, ...(maxProcesses && { maxProcesses }) });
const model = scriptedModel([
  () => ({
    finishReason: 'tool-calls',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    content: Array.from({ length: calls }, (_, at) => ({
      type: 'tool-call' as const,
      id: `c${at}`,
      name: 'pay',
      input: {},
    })),
  }),
  'done',
]);
const agent = new Agent({ model, tools: [pay], loaders: [hooks], logger: quiet });
await agent.ready();
if (free !== undefined) {
  const opened: number[] = [];
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'));
  } catch {
    const { closeSync } = await import('node:fs');
    for (const file of opened.splice(0, free)) closeSync(file);
  }
}
const { history } = await agent.run('pay');
const results = history.flatMap((message) => (message.role === 'tool' ? message.content : []));
const reasons = new Set(results.map(({ content }) => String(content)));
process.stdout.write(JSON.stringify({ ran, results: results.length, reasons: [...reasons].slice(0, 5) }));
