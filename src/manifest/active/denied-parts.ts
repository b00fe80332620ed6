import { diagnosticsOf, type ManifestDiagnostic } from '../../internal/problem.js';
import { type DeniedDecision, isApprovable } from '../../trust/decision.js';
import type { TrustGate } from '../../trust/gate.js';
import type { TrustItem } from '../../trust/item.js';
import type { ExtensionPackage } from '../extension.js';

/** Collects the reasons why hooks, servers, settings and texts of an extension package are not approved. */
export class DeniedParts {
  /** The messages of the denials, shown in `status()`. */
  readonly messages: string[] = [];
  private readonly unapprovable: DeniedDecision[] = [];

  constructor(private readonly gate: TrustGate) {}

  async allows(part: TrustItem): Promise<boolean> {
    const decision = await this.gate.authorize(part);
    if (!decision.allowed) this.add(decision.message, decision);
    return decision.allowed;
  }

  /** Records a server that nobody can approve. Any other problem of a server is reported when the server connects. */
  async checkServer(part: TrustItem): Promise<void> {
    const decision = await this.gate.authorize(part);
    const isReported = decision.allowed || isApprovable(decision) || decision.reason === 'no-executable';
    if (!isReported) this.add(decision.message, decision);
  }

  diagnostics({ name, source }: ExtensionPackage): readonly ManifestDiagnostic[] {
    const problems = this.unapprovable.map(({ message }) => {
      return { level: 'error', path: '', message: `nobody can approve a part: ${message}` } as const;
    });
    return diagnosticsOf({ extension: name, source }, problems);
  }

  add(message: string, decision: DeniedDecision | undefined): void {
    this.messages.push(message);
    if (decision !== undefined && !isApprovable(decision)) this.unapprovable.push(decision);
  }
}
