import type {
  Agent,
  AgentOptions,
  Message,
  PendingAnswer,
  PendingCall,
  ResumeDecisions,
  RunStream,
  Session,
} from 'keelson';
import { MemorySessionStore } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { openRun, sealRun } from 'keelson/lifecycles';
import type { SessionStore } from 'keelson/store';
import { storeOver } from '../../state/store-over.js';
import { temporaryFolder } from '../../stores/temporary-folder.js';

/** The members of a result that a run goes on from. */
export interface Suspended {
  readonly status: string;
  readonly history: readonly Message[];
  readonly pending: readonly (PendingCall | PendingAnswer)[];
}

/** Keeps a run while it waits. Each call is another process, with agents of its own. */
export interface Place {
  readonly options: () => Partial<AgentOptions>;
  start(boss: Agent, input: string): Promise<RunStream>;
  resume(boss: Agent, suspended: Suspended, resume: ResumeDecisions): Promise<RunStream>;
  /** The session, opened anew. Undefined without one. */
  session(boss: Agent): Promise<Session | undefined>;
}

const NESTED = { nested: true } as const;

/** Keeps the messages, as JSON. */
export function inJson(): Place {
  return {
    options: () => ({}),
    start: async (boss, input) => boss.stream(input, NESTED),
    resume: async (boss, { history }, resume) =>
      boss.stream('', { ...NESTED, messages: JSON.parse(JSON.stringify(history)), resume }),
    session: async () => undefined,
  };
}

/** Keeps the messages in a sealed text. */
export function sealed(): Place {
  const key = 'a key of at least thirty-two bytes';
  return {
    ...inJson(),
    async resume(boss, suspended, resume) {
      const text = await sealRun(suspended, key, { agent: 'boss', expiresInMs: 60_000 });
      const { messages } = await openRun(text, key, { agent: 'boss' });
      return boss.stream('', { ...NESTED, messages, resume });
    },
  };
}

/** Keeps the messages in a session. Each process has a store of its own. */
export function inSession(openStore: () => SessionStore): Place {
  const open = (boss: Agent) => boss.session({ id: 's' });
  return {
    options: () => ({ store: openStore() }),
    start: async (boss, input) => (await open(boss)).stream(input, NESTED),
    resume: async (boss, _suspended, resume) => (await open(boss)).stream('', { ...NESTED, resume }),
    session: open,
  };
}

export function inMemory(): Place {
  const store = new MemorySessionStore();
  return inSession(() => storeOver(store, {}));
}

export async function inFiles(): Promise<Place> {
  const folder = await temporaryFolder();
  return inSession(() => new FileSessionStore({ folder }));
}
