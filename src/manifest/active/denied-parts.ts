import { diagnosticOf, type ManifestDiagnostic } from '../../internal/problem.js';
import { type DeniedDecision, isApprovable } from '../../trust/decision.js';
import type { TrustGate } from '../../trust/gate.js';
import type { TrustItem } from '../../trust/item.js';
import type { ExtensionPackage } from '../extension.js';
import type { ExtensionTexts } from './texts.js';

/** Collects the denials of an extension package's parts. */
export class DeniedParts {
  /** The reasons for `status()`. */
  readonly messages: string[] = [];
  private readonly unapprovable: DeniedDecision[] = [];
  /** True if a part is allowed or can be approved. */
  private hasUsable = false;

  constructor(private readonly gate: TrustGate) {}

  /** Returns true if the gate allows the part. */
  async allows(part: TrustItem): Promise<boolean> {
    const decision = await this.gate.authorize(part);
    if (decision.allowed) this.hasUsable = true;
    else this.add(decision.message, decision);
    return decision.allowed;
  }

  /** Notes a server that nobody can approve. Other problems of a server are reported when it connects. */
  async checkServer(part: TrustItem): Promise<void> {
    const decision = await this.gate.authorize(part);
    const isReported = decision.allowed || isApprovable(decision) || decision.reason === 'no-executable';
    if (isReported) this.hasUsable = true;
    else this.add(decision.message, decision);
  }

  addTexts({ denied, skills, context, excludedTools }: ExtensionTexts): void {
    if (denied !== undefined) this.add(denied.problem, denied.decision);
    else if (skills.length + excludedTools.length > 0 || context !== '') this.hasUsable = true;
  }

  /** Reports the parts that nobody can approve: as an error if a hook or the whole package is lost. */
  diagnostics({ name, source }: ExtensionPackage): readonly ManifestDiagnostic[] {
    const { unapprovable: lost } = this;
    if (lost.length === 0) return [];
    const isError = !this.hasUsable || lost.some(({ item }) => item.kind === 'hook');
    const problems = lost.map(({ message }) => ({ path: '', message: `nobody can approve a part: ${message}` }));
    return [diagnosticOf(isError ? 'error' : 'warning', { extension: name, source }, problems)];
  }

  private add(message: string, decision: DeniedDecision | undefined): void {
    this.messages.push(message);
    if (decision === undefined || isApprovable(decision)) this.hasUsable = true;
    else this.unapprovable.push(decision);
  }
}
