/**
 * The interfaces of the stores for conversations, run logs and extension state, each with a store in memory.
 *
 * @packageDocumentation
 */
export { MemorySessionStore } from '../state/memory-session-store.js';
export { MemoryStateStore, type MemoryStateStoreOptions } from '../state/memory-state-store.js';
export type { EntryBody, MessageBody, Post, PostBody } from '../state/record/entry.js';
export type { PostState } from '../state/record/posts.js';
export { MemoryRunLog, type MemoryRunLogOptions } from '../state/run-log/memory-run-log.js';
export {
  type LoggedEvent,
  type RunLog,
  type RunLogAnswer,
  RunLogGoneError,
  type RunLogPage,
  type RunLogQuery,
  type RunOutcome,
} from '../state/run-log/run-log.js';
export type {
  AppendAnswer,
  ClaimAnswer,
  KnownRecord,
  PostAnswer,
  RecordQuery,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionHolder,
  SessionPage,
  SessionQuery,
  SessionRenewal,
  SessionStore,
  SessionSummary,
  StoredRecord,
} from '../state/session-store.js';
export { StateKeyError } from '../state/state-key.js';
export type { StateBatch, StateChange, StateEntry, StateScope, StateStore } from '../state/state-store.js';
