import type { Entry } from 'keelson';
import { type SessionRecord, waitingOf } from '../../../../src/state/record/session-record.js';
import type { Process } from '../process.js';
import type { World } from '../world.js';
import {
  deniedOpenCalls,
  openCalls,
  ownId,
  pendingCalls,
  saidUnder,
  sentUnder,
  waitingMessages,
} from './record-path.js';

/** The members of a session that show which calls it takes for open questions. */
interface Recorded {
  readonly stored: { readonly record: SessionRecord };
}

/** Returns the rule that the current state breaks. */
export function stateFault(world: World): string | undefined {
  const entries = world.entries();
  const pending = pendingCalls(entries);
  const [denied] = deniedOpenCalls(entries);
  if (denied !== undefined) return `${denied} was denied, and is open`;
  for (const process of world.processes) {
    const isOwner = process.owns(world.holder) && !process.isSettled;
    const shown = isOwner ? pending.find((id) => process.begun.has(ownId(id))) : undefined;
    if (shown !== undefined) return `the running call ${shown} is shown as a question`;
    const asked = process.isSettled ? [] : pendingCalls(process.session?.entries ?? []);
    const record = (process.session as unknown as Recorded | undefined)?.stored.record;
    const told = record === undefined ? [] : waitingOf(record).map(({ id }) => id);
    const hidden = asked.find((id) => !told.includes(id));
    if (hidden !== undefined) return `${hidden} waits for a person, and is not shown as a question`;
  }
  return undefined;
}

/** Returns the rule that the end of an execution breaks. */
export function endFault(world: World): string | undefined {
  const living = world.processes.filter(({ isDead }) => !isDead);
  const left = living.map(leftOver).find((why) => why !== undefined);
  return left ?? conversationFault(world) ?? world.promises.map((check) => check()).find((why) => why !== undefined);
}

/** A process must have ended well, and must leave nothing running. */
function leftOver({ label, outcome, agent, clock }: Process): string | undefined {
  if (outcome === undefined) return `${label} never ends`;
  if ('error' in outcome) return `${label} fails: ${outcome.error}`;
  if ((agent?.status().runs ?? 0) > 0) return `${label} leaves a run behind`;
  return clock.timers.size > 0 ? `${label} leaves a timer behind` : undefined;
}

/**
 * Nothing is open but what waits for a person, no message waits, and each message has an answer behind it. A process that
 * died without a successor may leave something.
 */
function conversationFault(world: World): string | undefined {
  const entries = world.entries();
  const wrong = wrongDrop(entries) ?? world.effects.wrongResult();
  if (wrong !== undefined) return wrong;
  const hasFailed = world.processes.some(({ isDead, hasLost }) => isDead || hasLost);
  if (!hasFailed && world.holder !== undefined) return `${world.holder} has ended, and holds the conversation`;
  const pending = pendingCalls(entries);
  const isLeft = world.processes.some((one) => one.isDead && !world.restarts(one.name));
  const open = openCalls(entries).filter((id) => !pending.includes(id));
  if (open.length > 0 && !isLeft) return `the call ${open} stays open`;
  if (pending.length > 0 || isLeft) return undefined;
  const waiting = waitingMessages(entries);
  if (waiting.length > 0) return `message ${waiting} waits, and nobody takes it up`;
  const lonely = [...world.answered].find((id) => !world.isAnswered(id));
  return lonely === undefined ? undefined : `a run has answered ${lonely}, and the record has no answer`;
}

/** A message is dropped only if somebody has taken it back. */
function wrongDrop(entries: readonly Entry[]): string | undefined {
  for (const { body } of entries) {
    if (body.type !== 'dropped') continue;
    const { post, why } = body;
    const sent = entries.find((entry) => sentUnder(entry) === post)?.body;
    const isMessage = sent?.type === 'post' && sent.post.type === 'message';
    if (isMessage && why !== 'withdrawn' && saidUnder(entries, post) === undefined) {
      return `message ${post} is dropped as "${why}", and is not said`;
    }
  }
  return undefined;
}
