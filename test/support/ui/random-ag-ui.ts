import { createAgentHandler } from 'keelson/ui';
import { expect } from 'vitest';
import { seeded } from '../soak/random-agent.js';
import { agUIClient } from './ag-ui-client.js';
import { loadHistory } from './chat-client.js';
import { randomChatAgent } from './random-chat-agent.js';

/** An interrupt of a finished run. */
interface Interrupted {
  readonly outcome?: { readonly interrupts?: readonly { readonly id: string }[] };
}

/** Plays random runs with AG-UI's own client, which verifies every event. Compares its texts with the session. */
export async function playRandomAgUI(seed: number): Promise<void> {
  const random = seeded(seed);
  const agent = randomChatAgent(random);
  const handler = createAgentHandler(agent, {
    authorize: 'none',
    session: (id) => id,
    protocol: 'ag-ui',
    queueMs: 10_000,
    onDisconnect: 'abort',
  });
  const { client, run } = agUIClient(async (request) => {
    const response = await handler(request);
    if (response.status !== 200) return expect.fail(await response.text());
    return response;
  });
  let open: readonly string[] = [];
  for (let step = 0; step < 5; step += 1) {
    if (open.length === 0) client.addMessage({ id: `page-${step}`, role: 'user', content: `Message ${step}` });
    const resume = open.map((interruptId) => {
      const approved = random() < 0.7;
      return { interruptId, status: 'resolved' as const, payload: { approved } };
    });
    const timer = setTimeout(() => client.abortRun(), random() < 0.2 ? random() * 10 : 400);
    const events = await run(resume.length > 0 ? { resume } : {}).then(
      (ended) => ended.events,
      (error) => {
        expect(String(error)).toMatch(/ERR_MODEL_FAILED|abort/i);
        return undefined;
      },
    );
    clearTimeout(timer);
    const last = events?.at(-1) as Interrupted | undefined;
    // An aborted client does not know which calls are open, so it loads the history.
    if (last === undefined || last.outcome === undefined) return;
    open = last.outcome.interrupts?.map(({ id }) => id) ?? [];
    const { messages } = (await loadHistory(handler, 't1')) as unknown as { messages: readonly Shown[] };
    expect(answerTexts(client.messages)).toEqual(answerTexts(messages));
  }
}

interface Shown {
  readonly role: string;
  readonly content?: unknown;
}

/** Returns the text of the messages after the last user message. */
function answerTexts(messages: readonly Shown[]): string {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const texts = messages.slice(last + 1).map(({ role, content }) => (role === 'assistant' ? (content ?? '') : ''));
  return texts.join('');
}
