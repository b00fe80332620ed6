import type { Entry } from '../../../state/record/entry.js';
import { entryFromJson, entryToJson } from '../../../state/record/entry-json.js';
import type {
  ClaimAnswer,
  SessionClaim,
  SessionDetails,
  SessionRenewal,
  SessionSummary,
} from '../../../state/session-store.js';
import { encodeEntries } from '../../sql-session.js';
import type { Draft } from '../step.js';
import { addLine, createLine, detailsLine } from './form.js';
import type { SessionFile } from './session-file.js';
import { holdClaim } from './side-files.js';

type SessionDraft = Draft<SessionFile>;

/** Copies entries, so that the caller cannot change them in memory. Returns the JSON of each copy. */
export function copyEntries(entries: readonly Entry[]): ReadonlyMap<Entry, string> {
  return new Map(encodeEntries(entries).map((json) => [entryFromJson(json), json]));
}

export function claimSession({ state, now, write }: SessionDraft, id: string, claim: SessionClaim): ClaimAnswer {
  const { log } = state;
  const isNew = log.uid === '';
  const before = log.details;
  const answer = log.claim(claim, now, now < state.keptUntil);
  if (!answer.claimed) return answer;
  state.id = id;
  holdClaim(state, claim.ttlMs);
  if (isNew) write(createLine(state, now), true);
  else if (JSON.stringify(log.details) !== JSON.stringify(before)) write(detailsLine(state), true);
  return answer;
}

/** Runs `change`, which adds entries, and writes a line with what it has changed. */
export function addEntries<Answer>(
  { state, now, write }: SessionDraft,
  copies: ReadonlyMap<Entry, string>,
  change: (added: (entry: Entry) => void) => Answer,
): Answer {
  const { log } = state;
  const { context, waits } = log;
  const position = log.length;
  const entries: string[] = [];
  const answer = change((entry) => entries.push(copies.get(entry) ?? entryToJson(entry)));
  const changed = {
    ...(log.context !== context && { context: log.context }),
    ...(log.waits !== waits && { waits: log.waits }),
  };
  if (entries.length > 0 || Object.keys(changed).length > 0) {
    const at = write([...addLine(position, now, changed), ...entries], true);
    state.lines.push({ position, at });
  }
  return answer;
}

export function renewClaim({ state, now }: SessionDraft, claim: SessionRenewal): boolean {
  const isRenewed = state.log.renew(claim, now);
  if (isRenewed) holdClaim(state, claim.ttlMs);
  return isRenewed;
}

export function updateDetails({ state, write }: SessionDraft, details: SessionDetails): SessionSummary | undefined {
  const { id, log } = state;
  if (log.length === 0) return undefined;
  if (log.update(details)) write(detailsLine(state), true);
  return log.summary(id);
}
