import { type Clock, repeat } from '../../internal/clock.js';
import type { SessionStore } from '../../state/session-store.js';

/** How often a run looks for posts if its store cannot announce them. */
const LOOK_MS = 1_000;

/** The conversation to watch. */
interface Watched {
  readonly store: SessionStore;
  readonly id: string;
  readonly clock: Clock;
}

/** Calls `look` when somebody may have posted to a conversation, until it is stopped. A failed look is repeated later. */
export function watchPosts({ store, id, clock }: Watched, look: () => Promise<void>): () => void {
  if (store.watch !== undefined) return store.watch(id, () => void look().catch(() => {}));
  return repeat(look, LOOK_MS, clock);
}
