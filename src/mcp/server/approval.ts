import type { AllowedDecision, DeniedDecision, VerifiedItem } from '../../trust/decision.js';
import type { McpServerDefinition } from '../config/definition.js';
import type { McpSettings } from '../config/settings.js';
import { trustItemOf } from '../config/trust-item.js';

/**
 * The approval of one server by the trust gate. An approval is remembered. After a denial, the next attempt asks the
 * gate again.
 */
export class ServerApproval {
  /** Settles when the trust gate has decided. Undefined if the gate was not asked. */
  asked: Promise<unknown> | undefined = undefined;
  private kept: AllowedDecision | undefined = undefined;

  constructor(
    private readonly definition: McpServerDefinition,
    private readonly settings: Pick<McpSettings, 'gate'>,
  ) {}

  /** False for a server of the host application. */
  get isNeeded(): boolean {
    return this.definition.origin.scope !== 'builtin';
  }

  get isKept(): boolean {
    return this.kept !== undefined;
  }

  /**
   * False if the server was approved, and the approval does not cover its current content. May ask the user about
   * changes.
   */
  async isCurrent(): Promise<boolean> {
    const { kept } = this;
    if (kept === undefined) return true;
    // If the gate fails, the server is not approved.
    const now = await this.decide().catch(() => undefined);
    return now?.allowed === true && now.digest === kept.digest;
  }

  /** Verifies the approval, or asks for one. Call it right before each start. Returns undefined if none is needed. */
  verify(): Promise<VerifiedItem | DeniedDecision | undefined> {
    const verified = this.decideAndVerify();
    this.asked = verified.catch(() => {});
    return verified;
  }

  private async decideAndVerify(): Promise<VerifiedItem | DeniedDecision | undefined> {
    const decision = this.kept ?? (await this.decide());
    this.kept = undefined;
    if (!decision?.allowed) return decision;
    const verified = await this.settings.gate?.verify(decision);
    if (verified?.allowed !== false) this.kept = decision;
    return verified;
  }

  private async decide(): Promise<AllowedDecision | DeniedDecision | undefined> {
    const { definition } = this;
    const { gate } = this.settings;
    const { scope } = definition.origin;
    const item = trustItemOf(definition);
    if (gate !== undefined) return gate.authorize(item);
    if (scope === 'user') return undefined;
    const message = `The server "${definition.name}" comes from the workspace and must be approved; set \`approve\` or \`gate\``;
    const unknown = { digest: undefined, approvedBefore: false, failure: undefined };
    return { allowed: false, reason: 'no-approver', scope, item, message, ...unknown };
  }
}
