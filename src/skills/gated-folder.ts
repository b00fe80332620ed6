import type { DeniedDecision } from '../trust/decision.js';
import type { TrustGate } from '../trust/gate.js';
import type { TrustItem } from '../trust/item.js';

/** A directory that may be read now, or the reason why it must not be read. */
export type OpenedFolder =
  | { readonly root: string }
  | { readonly problem: string; readonly isDenied: true; readonly decision: DeniedDecision };

/**
 * A directory whose content is used only as it was approved. A directory of the user needs no approval, and does not go
 * through the gate, which would record each skill in the approval file.
 */
export class GatedFolder {
  constructor(
    private readonly gate: TrustGate,
    private readonly item: TrustItem & { readonly root: string },
  ) {}

  /**
   * Asks for approval if necessary. Returns the directory with the approved content, which is a copy if it is from the
   * workspace.
   */
  async open(): Promise<OpenedFolder> {
    if (this.item.scope === 'user') return { root: this.item.root };
    const decision = await this.gate.authorize(this.item);
    if (!decision.allowed) return denied(decision);
    const verified = await this.gate.verify(decision);
    if (!verified.allowed) return denied(verified);
    return { root: verified.root ?? this.item.root };
  }
}

function denied(decision: DeniedDecision): OpenedFolder {
  return { problem: decision.message, isDenied: true, decision };
}
