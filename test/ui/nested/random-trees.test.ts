import fc from 'fast-check';
import type { Agent, Tool } from 'keelson';
import { MemorySessionStore } from 'keelson';
import { fails, says } from 'keelson/testing';
import { type AgentHandlerOptions, createAgentHandler } from 'keelson/ui';
import { test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { ChatClient, loadHistory } from '../../support/ui/chat-client.js';
import { agentOf, drawnRuns, prompt } from '../../support/ui/nested-agents.js';

/** A run: its turns with the calls, and its end. A call is a tool that works or throws, or a run. */
interface Tree {
  readonly turns: readonly { readonly text: string; readonly calls: readonly (Tree | 'works' | 'throws')[] }[];
  readonly end: string | undefined;
}

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    turns: fc.array(
      fc.record({
        text: fc.constantFrom('', 'One.', 'x'.repeat(900)),
        calls: fc.array(fc.oneof({ maxDepth: 2 }, fc.constantFrom('works', 'throws'), tie('tree')), {
          minLength: 1,
          maxLength: 3,
        }),
      }),
      { maxLength: 2 },
    ),
    end: fc.option(fc.constantFrom('Done.', 'y'.repeat(500)), { nil: undefined, freq: 4 }),
  }),
})) as { tree: fc.Arbitrary<Tree> };

const works = toolOf('works', () => ({ worked: true }));
const throws = toolOf('throws', () => {
  throw new TypeError('no');
});

/** An agent whose run is the tree. */
function agentIn({ turns, end }: Tree, name: string, options: Parameters<typeof agentOf>[2] = {}): Agent {
  const tools: Tool[] = [works, throws];
  const script = turns.map(({ text, calls }, turn) =>
    says(text, {
      calls: calls.map((call, index) => {
        const id = `${turn}-${index}`;
        if (typeof call === 'string') return { name: call, id };
        const helper = `helper-${id}`;
        tools.push(agentIn(call, helper).asTool({ description: 'Helps.' }));
        return { name: helper, id, input: prompt };
      }),
    }),
  );
  const ending = end === undefined ? fails('broken') : end;
  return agentOf(name, [...script, ending], { tools, logger: keepingLogger(), ...options });
}

const texts: Pick<AgentHandlerOptions<unknown>, 'errorText' | 'toolErrorText'> = {
  errorText: (error) => `Broken: ${(error as Error).message}`,
  toolErrorText: ({ name, result }) => `${name}: ${result.content}`,
};

test('a page shows the same tree of runs live and after a reload', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (given) => {
      const agent = agentIn({ ...given, end: 'Done.' }, 'boss', { store: new MemorySessionStore() });
      const handler = createAgentHandler(agent, { authorize: 'none', session: (id) => id, ...texts });
      const page = new ChatClient(handler);
      await page.sendMessage({ text: 'Go.' });
      const live = drawnRuns(page.lastMessage?.parts ?? []);
      const { messages } = await loadHistory(handler);
      const loaded = drawnRuns(messages.at(-1)?.parts ?? []);
      const isSame = JSON.stringify(live.toSorted()) === JSON.stringify(loaded.toSorted());
      if (!isSame) throw new Error(`live:\n${live.join('\n')}\nloaded:\n${loaded.join('\n')}`);
    }),
    { numRuns: 30 },
  );
});
