import { readFile, stat } from 'node:fs/promises';
import { describeError } from '../../errors.js';
import { sha256Of } from '../fingerprint/bound-file.js';
import { fingerprintItem } from '../fingerprint/fingerprint.js';
import type { GateSettings, UserHooksChange } from '../gate-options.js';
import type { TrustItem } from '../item.js';
import { identityOf, identityText, type TrustStore } from './store.js';

/** Detects changes of the user's own items since their last run. Reports each item once. */
export class UserWatch {
  private readonly noted = new Set<string>();
  private readonly failed = new Set<string>();

  constructor(
    private readonly store: TrustStore,
    private readonly settings: GateSettings,
  ) {}

  /** Reports changes to the logger and to the host. Never rejects. */
  async report(item: TrustItem): Promise<void> {
    const { logger, onUserHooksChanged } = this.settings;
    const name = JSON.stringify(item.name);
    try {
      for (const change of await this.changesOf(item)) {
        logger.warn(
          `${name} has changed since it last ran. It runs without a question, because it belongs to the user.`,
          change,
        );
        onUserHooksChanged?.(change);
      }
    } catch (error) {
      // One report is enough for an extension package: its items share its files, so they fail with the same problem.
      const { root: key = keyOf(item), extension = item.name } = item;
      const subject = item.root === undefined ? name : `the extension ${JSON.stringify(extension)}`;
      const level = this.failed.has(key) ? 'debug' : 'warn';
      this.failed.add(key);
      logger[level](`Could not check whether ${subject} has changed since it last ran: ${describeError(error)}`);
    }
  }

  private async changesOf(item: TrustItem): Promise<readonly UserHooksChange[]> {
    const itemKey = keyOf(item);
    if (this.noted.has(itemKey)) return [];
    this.noted.add(itemKey);
    const { digest, source } = await fingerprintItem(item, this.settings.place);
    const current = new Map([[itemKey, digest]]);
    const fileKey = `file ${source}`;
    // Skips pipes, because reading a pipe would block: the loader has already consumed its content.
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

function keyOf(item: TrustItem): string {
  return identityText(identityOf({ item, workspace: '', source: item.source }));
}
