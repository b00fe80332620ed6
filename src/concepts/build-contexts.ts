import { setImmediate } from 'node:timers/promises';
import { HookResultInvalidError, TimeoutExceededError } from '../errors.js';
import type { Clock } from '../internal/clock.js';
import { mapConcurrent } from '../internal/map-concurrent.js';
import type { Awaitable } from '../internal/promise.js';
import { Stop } from '../internal/stop.js';
import type { ConceptSettings } from './concept-options.js';

/** The settings that all lookups of one tool call share. */
export interface ContextBuild {
  readonly settings: ConceptSettings;
  readonly clock: Clock;
  /** Aborts the lookups. */
  readonly signal: AbortSignal | undefined;
  /** Called for each concept whose lookup failed or timed out. */
  readonly onFailure: (concept: string, error: unknown) => void;
}

/**
 * Milliseconds after which a lookup lets other work run. Lookups that are synchronous would otherwise block the event
 * loop, and with it the timers of their time limits.
 */
const LONGEST_HOLD_MS = 20;

/**
 * Looks up concepts, several at a time, and returns their contexts in the order of the concepts. Failed lookups are
 * left out.
 * Rejects if the total time limit passes or the signal aborts. Every lookup is aborted then.
 */
export async function buildContexts(concepts: readonly string[], build: ContextBuild): Promise<string[]> {
  const { totalMs, parallel } = build.settings;
  const stop = new Stop();
  stop.follow(build.signal);
  let freeAt = performance.now();
  const look = async (concept: string) => {
    if (stop.stopped) return '';
    const part = await buildOne(concept, build, stop);
    if (performance.now() - freeAt < LONGEST_HOLD_MS) return part;
    await setImmediate();
    freeAt = performance.now();
    return part;
  };
  const late = new TimeoutExceededError('lookup of concepts', totalMs);
  const atOnce = Math.min(parallel, concepts.length);
  const parts = await raceTime(stop, { late, clock: build.clock }, () => mapConcurrent(concepts, look, atOnce));
  return parts.filter((part) => part !== '');
}

async function buildOne(concept: string, { settings, clock, onFailure }: ContextBuild, whole: Stop): Promise<string> {
  const { conceptMs, request, buildContext } = settings;
  const stop = new Stop();
  stop.followStop(whole);
  const late = new TimeoutExceededError(`lookup of [[${concept}]]`, conceptMs);
  const look = () => buildContext({ conceptName: concept, ...request }, { signal: stop.signal });
  try {
    const text: unknown = await raceTime(stop, { late, clock }, look);
    if (text && typeof text !== 'string') throw new HookResultInvalidError('buildContext must return a string', text);
    return typeof text === 'string' ? text : '';
  } catch (error) {
    if (!whole.stopped) onFailure(concept, error);
  }
  return '';
}

interface Limit {
  readonly late: TimeoutExceededError;
  readonly clock: Clock;
}

async function raceTime<T>(stop: Stop, { late, clock }: Limit, work: () => Awaitable<T>): Promise<T> {
  const timer = clock.setTimeout(() => stop.stop(late), late.timeoutMs);
  try {
    return await stop.race(work());
  } finally {
    clock.clearTimeout(timer);
    stop.release();
  }
}
