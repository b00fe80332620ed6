import { Agent, defineLifecycle, defineTool } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const deleteFile = defineTool({
  name: 'delete_file',
  description: 'Deletes a file.',
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `deleted ${path}`,
});

const onlyLogs = defineLifecycle({
  name: 'only-logs',
  // If this hook fails, the call does not run.
  onFailure: 'block',
  wrapToolCall(call, next) {
    if (call.name !== 'delete_file') return next(call);
    const { path } = Object(call.input);
    if (typeof path === 'string' && /^logs\/\w+\.txt$/.test(path)) return next(call);
    // The model reads this result instead of the tool's result.
    return { content: 'Only files in logs/ may be deleted.', isError: true };
  },
});

const model = scriptedModel([calls('delete_file', { path: 'main.ts' }), says('I may not delete main.ts.')]);
const agent = new Agent({ model, tools: [deleteFile], lifecycle: [onlyLogs] });
const { text, decisions } = await agent.run('Delete main.ts.');
console.log(text, decisions);
