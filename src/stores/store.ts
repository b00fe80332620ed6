/**
 * Interfaces for your own stores of conversations, run logs and extension state.
 *
 * @packageDocumentation
 */
export type { EntryBody, MessageBody, Post, PostBody } from '../state/record/entry.js';
export type { PostState } from '../state/record/posts.js';
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
