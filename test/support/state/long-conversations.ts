import { Agent, type AgentLifecycle, type AgentOptions, MemorySessionStore, type Session, textOf } from 'keelson';
import { scriptedModel } from 'keelson/testing';

/** A stored conversation with the id `s1`. */
export interface LongConversation {
  readonly store: MemorySessionStore;
  /** The texts of the current path, as people read them. */
  readonly said: readonly string[];
  /** The texts of the messages that the model reads. */
  readonly read: readonly string[];
  /** The number of runs. */
  readonly runs: number;
}

type Talk = (session: Session) => Promise<void>;

/** Summarizes everything before the question `three`. */
const summarizer: AgentLifecycle = {
  name: 'summarizer',
  priority: 15,
  beforeModel: (messages, run) => {
    const from = run.messages.at(-1);
    if (messages.length === 5 && from !== undefined) run.summarize({ text: 'They counted.', from, messages });
    return run.messages;
  },
};

const FIRST = ['one', 'to one', 'two', 'to two'];
const SUMMARY = '[Summary of the conversation so far]\nThey counted.';

async function count(session: Session): Promise<void> {
  for (const text of ['one', 'two', 'three', 'four']) await session.run(text, { id: text });
}

/** Asks another question in the place of the question `old`. */
async function ask(session: Session, text: string, old: string): Promise<void> {
  const { parent = null } = session.entries.find(({ id }) => id === old) ?? {};
  await session.run(text, { id: text, at: parent });
}

async function talk(play: Talk, options: Partial<AgentOptions>, lifecycle: readonly AgentLifecycle[]) {
  const store = new MemorySessionStore();
  const model = scriptedModel(({ messages }) => `to ${messages.slice(-1).map(textOf)}`);
  const agent = new Agent({ model, store, ...options, lifecycle });
  await play((await agent.session({ id: 's1' })) as Session);
  await agent.close();
  return store;
}

function kind(play: Talk, expected: Omit<LongConversation, 'store'>, lifecycle: readonly AgentLifecycle[]) {
  return async (options: Partial<AgentOptions> = {}): Promise<LongConversation> => ({
    store: await talk(play, options, lifecycle),
    ...expected,
  });
}

const branched = [...FIRST.slice(0, 2), 'TWO', 'to TWO'];

/** Kinds of conversations whose path is not the list of entries. Each function makes one, and closes its session. */
export const longConversations = [
  [
    'compacted',
    kind(
      count,
      {
        said: [...FIRST, 'three', 'to three', 'four', 'to four'],
        read: [SUMMARY, 'three', 'to three', 'four', 'to four'],
        runs: 4,
      },
      [summarizer],
    ),
  ],
  [
    'branched',
    kind(
      (session) => count(session).then(() => ask(session, 'TWO', 'two')),
      { said: branched, read: branched, runs: 5 },
      [],
    ),
  ],
  [
    'compacted, and branched behind the summary',
    kind(
      (session) => count(session).then(() => ask(session, 'FOUR', 'four')),
      {
        said: [...FIRST, 'three', 'to three', 'FOUR', 'to FOUR'],
        read: [SUMMARY, 'three', 'to three', 'FOUR', 'to FOUR'],
        runs: 5,
      },
      [summarizer],
    ),
  ],
  [
    'compacted, and branched before the summary',
    kind(
      (session) => count(session).then(() => ask(session, 'TWO', 'two')),
      { said: branched, read: branched, runs: 5 },
      [summarizer],
    ),
  ],
] as const;
