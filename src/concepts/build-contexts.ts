import { setImmediate } from 'node:timers/promises';
import { HookResultInvalidError, TimeoutExceededError } from '../errors.js';
import type { Clock } from '../internal/clock.js';
import { mapConcurrent } from '../internal/map-concurrent.js';
import { Stop } from '../internal/stop.js';
import type { ConceptSettings } from './concept-options.js';

/** One round of looking concepts up. */
export interface ContextBuild {
  readonly settings: ConceptSettings;
  readonly clock: Clock;
  /** Ends the round early. */
  readonly signal: AbortSignal | undefined;
  /** Called for each concept that failed or took too long. */
  readonly onFailure: (concept: string, error: unknown) => void;
}

/** Lookups without a pause hold up everything else in the process, the timers that end them included. */
const LONGEST_HOLD_MS = 20;

/**
 * Looks concepts up, some at once, and gives what is known of them in the order of the concepts. What fails is left out.
 * Rejects where all of them together take too long, and where the signal fires; every lookup is aborted then.
 */
export async function buildContexts(concepts: readonly string[], build: ContextBuild): Promise<string[]> {
  const { totalMs, parallel } = build.settings;
  const stop = new Stop();
  stop.follow(build.signal);
  const expire = () => stop.stop(new TimeoutExceededError('lookup of concepts', totalMs));
  const timer = build.clock.setTimeout(expire, totalMs);
  let freeAt = performance.now();
  const look = async (concept: string) => {
    if (stop.stopped) return '';
    const part = await buildOne(concept, build, stop);
    if (performance.now() - freeAt < LONGEST_HOLD_MS) return part;
    await setImmediate();
    freeAt = performance.now();
    return part;
  };
  try {
    const parts = await stop.race(mapConcurrent(concepts, look, Math.min(parallel, concepts.length)));
    return parts.filter((part) => part !== '');
  } finally {
    build.clock.clearTimeout(timer);
    stop.release();
  }
}

/** The text about one concept, or nothing where it fails. */
async function buildOne(concept: string, { settings, clock, onFailure }: ContextBuild, whole: Stop): Promise<string> {
  const { conceptMs, request, buildContext } = settings;
  const stop = new Stop();
  stop.followStop(whole);
  const expire = () => stop.stop(new TimeoutExceededError(`lookup of [[${concept}]]`, conceptMs));
  const timer = clock.setTimeout(expire, conceptMs);
  try {
    const text: unknown = await stop.race(buildContext({ conceptName: concept, ...request }, { signal: stop.signal }));
    if (typeof text === 'string') return text;
    if (text) throw new HookResultInvalidError('buildContext gives a text', text);
  } catch (error) {
    if (!whole.stopped) onFailure(concept, error);
  } finally {
    clock.clearTimeout(timer);
    stop.release();
  }
  return '';
}
