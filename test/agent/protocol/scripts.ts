import {
  ResumeInvalidError,
  RunAbortedError,
  type RunStream,
  type Session,
  SessionExistsError,
  SessionLostError,
  SessionStoreError,
  textOf,
} from 'keelson';
import { COPY, type Process } from './process.js';
import { lastRole, openCalls, pendingCalls, saidUnder, waitingMessages } from './rules/record-path.js';
import type { Script } from './scenario.js';

/** How often a client asks again. */
const TRIES = 4;

/** The members of a session that the chat handler uses. */
interface HostedSession {
  readonly stored: { load(): Promise<void> };
  stream(input: string, options: object, hosted: object): RunStream;
}

/** Runs with a message, as a web server does that gets it from a page. */
export function runs(id: string, options: { readonly at?: string | null } = {}): Script {
  return async (me, session) => {
    const result = await accepted(me, () => session.run(id, { id, ...options }));
    if (result?.status === 'completed') me.world.answered.add(id);
  };
}

/** Calls the scripts at the same time, in one process. */
export function both(...scripts: readonly Script[]): Script {
  return async (me, session) => void (await Promise.all(scripts.map((script) => script(me, session))));
}

/** Calls the scripts one after the other. */
export function first(...scripts: readonly Script[]): Script {
  return async (me, session) => {
    for (const script of scripts) await script(me, session);
  };
}

/** Sends a message, and looks after it: if no run takes it up, the sender starts one. */
export function sends(id: string, options: Parameters<Session['send']>[1] = {}): Script {
  return async (me, session) => {
    await keep(() => session.send(id, { id, ...options }));
    await lookAfter(id, me, session);
  };
}

/** Sends a message, and takes it back or edits it. The answer must agree with the record. */
export function sendsAndThen(id: string, change: 'cancel' | 'edit'): Script {
  return async (me, session) => {
    const sent = await keep(() => session.send(id, { id }));
    const isChanged = await keep(() => (change === 'cancel' ? sent.cancel() : sent.edit('other')));
    me.world.promises.push(() => brokenPromise(me, { id, change, isChanged }));
    await lookAfter(id, me, session);
  };
}

/** Decides on the calls that wait, or that a dead process has left. Then sends the question again if it has no answer. */
export function resumes(decision: 'approve' | 'deny', question = 'm1'): Script {
  return async (me, session) => {
    const { world } = me;
    const isOpen = () => openCalls(world.entries()).length > 0;
    const isToDo = () => isOpen() || lastRole(world.entries()) === 'user' || lastRole(world.entries()) === 'tool';
    for (let tries = 0; tries < TRIES; tries++) {
      await me.waitFor('looks for open calls', () => isToDo() && world.isFree());
      if (!isToDo()) return;
      const resume = Object.fromEntries(openCalls(world.entries()).map((call) => [call, decision]));
      await accepted(me, () => (isOpen() ? session.run('', { resume }) : session.run(question, { id: question })));
    }
  };
}

/** Sends a message in place of a decision, as the chat handler does: calls that wait are denied. */
export function goesOn(id: string): Script {
  return async (me, session) => {
    const { stored } = session as unknown as HostedSession;
    for (let tries = 0; tries < TRIES; tries++) {
      await keep(() => stored.load());
      const isAsked = pendingCalls(session.entries).length > 0;
      const hosted = isAsked ? { deniesOpen: 'The person went on.' } : {};
      const run = () => (session as unknown as HostedSession).stream(id, { id }, hosted).result;
      const result = await accepted(me, run);
      if (result !== undefined) return;
    }
  };
}

/** Stops the run that it sees. */
export const stops: Script = async (me, session) => {
  await me.waitFor('looks for a run', () => !me.world.isFree());
  await keep(() => session.stop());
};

/** Stops the run that waits for a decision. */
export const stopsWaiting: Script = async (me, session) => {
  const { world } = me;
  await me.waitFor('looks for a question', () => pendingCalls(world.entries()).length > 0 && world.isFree());
  await keep(() => session.stop());
};

/** Follows the run that it sees to its end, and must get every event. */
export const follows: Script = async (me, session) => {
  const { world } = me;
  await me.waitFor('looks for a run', () => !world.isFree());
  const stream = await keep(() => session.attach());
  if (stream === undefined) return;
  let run = '';
  let count = 0;
  stream.result.catch(() => {});
  try {
    for await (const event of stream) {
      run = event.runId;
      count += 1;
      if (event.type === 'run-start' && count > 1) world.fail(`${me.label} sees an event of ${run} twice`);
    }
  } catch {
    // The run has failed, or was lost.
  }
  world.promises.push(() => {
    const { end = 0 } = world.logs.get(run) ?? {};
    return count < end ? `${me.label} leaves the log of ${run} after ${count} of ${end} events` : undefined;
  });
};

/** Goes back to the start. */
export const branches: Script = async (_me, session) => keep(() => session.branch(null));

/** Adds a message without a run. It has no id, so it is not added again after a fault. */
export const appends: Script = async (_me, session) => {
  await session.append({ role: 'user', content: 'note' }).catch((error: unknown) => {
    if (!isFaultOfTheWorld(error)) throw error;
  });
};

/** Copies the conversation while others may work, and goes on in the copy. */
export const forks: Script = async (me, session) => {
  await me.waitFor('looks for a conversation', () => me.world.entries().length > 0);
  try {
    await keep(() => session.fork({ id: COPY }));
  } catch (error) {
    if (error instanceof SessionExistsError) return;
    throw error;
  }
  const copy = await me.open(COPY);
  await accepted(me, () => copy.run('f1', { id: 'f1' }));
  me.world.promises.push(() => {
    const entries = me.world.entries(COPY);
    const pending = pendingCalls(entries);
    const open = openCalls(entries).filter((id) => !pending.includes(id));
    return open.length > 0 ? `the call ${open} stays open in the copy` : undefined;
  });
};

/** Asks again after a fault of the world. */
async function keep<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isFaultOfTheWorld(error) || tries === TRIES) throw error;
    }
  }
}

function isFaultOfTheWorld(error: unknown): boolean {
  return error instanceof SessionStoreError || error instanceof SessionLostError;
}

/** Resolves with undefined if calls wait for a decision, if somebody has decided before, or if the run was stopped. */
async function accepted<T>({ world, label, claims }: Process, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await keep(work);
  } catch (error) {
    if (error instanceof ResumeInvalidError) return undefined;
    if (!(error instanceof RunAbortedError)) throw error;
    const isMeant = [...claims.values()].some((run) => world.stopped.has(run));
    if (!isMeant) world.fail(`${label} is stopped by a stop that names another run`);
    return undefined;
  }
}

/** Runs if nobody else does: if the message waits, or if the run that it has joined did not answer. */
async function lookAfter(id: string, me: Process, session: Session): Promise<void> {
  const { world } = me;
  const isServed = () =>
    !waitingMessages(world.entries()).includes(id) && (isTakenBack(me, id) || world.isAnswered(id));
  const canRun = () => world.isFree() && pendingCalls(world.entries()).length === 0;
  for (let tries = 0; tries < TRIES; tries++) {
    await me.waitFor('looks after its message', () => isServed() || canRun());
    if (isServed() || !canRun()) return;
    await accepted(me, () => session.run('', { id }));
  }
}

function isTakenBack({ world }: Process, id: string): boolean {
  return saidUnder(world.entries(), id) === undefined;
}

/** The answer that a sender got to a change of its message. */
interface ToldChange {
  readonly id: string;
  readonly change: 'cancel' | 'edit';
  readonly isChanged: boolean;
}

function brokenPromise({ world, label, number, hasLost }: Process, told: ToldChange): string | undefined {
  const { id, change, isChanged } = told;
  const said = saidUnder(world.entries(), id);
  if (said?.body.type !== 'message') return undefined;
  const text = textOf(said.body.message);
  if (change === 'cancel') return isChanged ? `${label} has taken ${id} back, and it joined` : undefined;
  // An edit before this one may have reached the message.
  const isRight = isChanged ? text === 'other' : text === id || number > 1 || hasLost;
  return isRight ? undefined : `${label} is told ${isChanged} of its edit, and "${text}" joined`;
}
