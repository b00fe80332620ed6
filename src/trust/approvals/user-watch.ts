import { readFile, stat } from 'node:fs/promises';
import { describeError } from '../../errors.js';
import { sha256Of } from '../fingerprint/bound-file.js';
import { fingerprintItem } from '../fingerprint/fingerprint.js';
import type { GateSettings, UserHooksChange } from '../gate-options.js';
import type { TrustItem } from '../item.js';
import { identityOf, identityText } from './approval.js';
import type { TrustStore } from './store.js';

/** Notices, once each, what of the user's own changed since it last ran. */
export class UserWatch {
  private readonly noted = new Set<string>();

  constructor(
    private readonly store: TrustStore,
    private readonly settings: GateSettings,
  ) {}

  /** Tells the log and the host. Never rejects. */
  async report(item: TrustItem): Promise<void> {
    const { logger, onUserHooksChanged } = this.settings;
    const name = JSON.stringify(item.name);
    try {
      for (const change of await this.changesOf(item)) {
        logger.warn(`A hook of the user's has changed since it last ran: ${name}`, change);
        onUserHooksChanged?.(change);
      }
    } catch (error) {
      logger.warn(`It is unknown if ${name} has changed since it last ran: ${describeError(error)}`);
    }
  }

  private async changesOf(item: TrustItem): Promise<readonly UserHooksChange[]> {
    const itemKey = identityText(identityOf({ item, workspace: '', source: item.source }));
    if (this.noted.has(itemKey)) return [];
    this.noted.add(itemKey);
    const { digest, source } = await fingerprintItem(item, this.settings.place);
    const current = new Map([[itemKey, digest]]);
    const fileKey = `file ${source}`;
    // A pipe would be waited for, and was read by whoever loaded it.
    if (source !== undefined && !this.noted.has(fileKey) && (await stat(source)).isFile()) {
      this.noted.add(fileKey);
      current.set(fileKey, `sha256:${sha256Of(await readFile(source))}`);
    }
    const before = await this.store.noteSeen(current);
    return [...before].flatMap(([key, previous]): UserHooksChange[] => {
      const what = key === fileKey ? 'file' : 'item';
      return previous === undefined ? [] : [{ type: 'userHooksChanged', source, name: item.name, what }];
    });
  }
}
