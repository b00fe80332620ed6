import type { DeniedDecision } from '../trust/decision.js';
import type { TrustGate } from '../trust/gate.js';
import type { TrustItem } from '../trust/item.js';

/** A directory that may be read now, or the reason why it must not be read. */
export type OpenedFolder =
  | { readonly root: string }
  | { readonly problem: string; readonly isDenied: true; readonly decision: DeniedDecision };

/**
 * Returns a function that opens a directory, after the approval that the directory may need. A directory of the
 * workspace is opened as a copy with the approved content. A directory of the user bypasses the gate, because the gate
 * would record each skill in the approval file.
 */
export function gatedFolder(gate: TrustGate, item: TrustItem & { readonly root: string }): () => Promise<OpenedFolder> {
  return async () => {
    if (item.scope === 'user') return { root: item.root };
    const decision = await gate.authorize(item);
    const verified = decision.allowed ? await gate.verify(decision) : decision;
    if (verified.allowed) return { root: verified.root ?? item.root };
    return { problem: verified.message, isDenied: true, decision: verified };
  };
}
