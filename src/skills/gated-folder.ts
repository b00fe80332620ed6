import type { TrustGate } from '../trust/gate.js';
import type { TrustItem } from '../trust/item.js';

/** A folder that may be read from now, or why not. */
export type OpenedFolder = { readonly root: string } | { readonly problem: string; readonly isDenied: true };

/**
 * A folder whose content counts only as it was approved. What lies in the user's own folder needs no approval, and is not
 * put to the gate, which would note each of perhaps a thousand in its file.
 */
export class GatedFolder {
  constructor(
    private readonly gate: TrustGate,
    private readonly item: TrustItem & { readonly root: string },
  ) {}

  /** Asks where that is needed, and says where the approved content lies: with the workspace, in a copy. */
  async open(): Promise<OpenedFolder> {
    if (this.item.scope === 'user') return { root: this.item.root };
    const decision = await this.gate.authorize(this.item);
    if (!decision.allowed) return { problem: decision.message, isDenied: true };
    const verified = await this.gate.verify(decision);
    if (!verified.allowed) return { problem: verified.message, isDenied: true };
    return { root: verified.root ?? this.item.root };
  }
}
