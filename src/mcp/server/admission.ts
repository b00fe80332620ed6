import type { AllowedDecision, DeniedDecision } from '../../trust/decision.js';
import type { TrustedLaunch } from '../../trust/launch.js';
import type { McpServerDefinition } from '../config/definition.js';
import { decide, verify } from '../config/launch.js';
import type { McpSettings } from '../config/settings.js';

/** What the gate allows to be started. */
export interface Admitted {
  readonly allowed: true;
  readonly launch: TrustedLaunch | undefined;
}

/** The gate in front of one server. A yes is kept and checked before each start; a no is forgotten, so that it is asked again. */
export class Admission {
  private decision: AllowedDecision | undefined = undefined;

  constructor(
    private readonly definition: McpServerDefinition,
    private readonly settings: McpSettings,
  ) {}

  /** The gate has still to be asked. */
  get isOpen(): boolean {
    return this.definition.origin.scope !== 'builtin' && this.decision === undefined;
  }

  async admit(): Promise<Admitted | DeniedDecision> {
    const decision = this.decision ?? (await decide(this.definition, this.settings));
    this.decision = undefined;
    if (decision?.allowed === false) return decision;
    const verified = await verify(decision, this.settings);
    if (verified?.allowed === false) return verified;
    this.decision = decision;
    return { allowed: true, launch: verified?.launch };
  }
}
