import { realLocation } from '../../process/files/location.js';
import type { TrustStore } from '../../trust/approvals/store.js';

/** Runs changes one after another. Detects approvals of a workspace that this process or another one has revoked. */
export class Revocations {
  private known: ReadonlySet<string> = new Set();
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: Pick<TrustStore, 'list'>,
    private readonly workspaceDir: string,
  ) {}

  /** Returns true if an approval was revoked since the last call. */
  async areNew(): Promise<boolean> {
    const before = this.known;
    this.known = await this.read();
    return [...before].some((digest) => !this.known.has(digest));
  }

  /**
   * Calls `work` after the work of earlier calls. The next `areNew` also detects an approval that was revoked while
   * `work` ran.
   */
  during<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.queue.then(() => this.watch(work));
    this.queue = result.catch(() => {});
    return result;
  }

  private async watch<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = await this.read();
    try {
      return await work();
    } finally {
      this.known = new Set([...before, ...(await this.read())]);
    }
  }

  /** Returns the digests of the approved items of this workspace. If the file cannot be read, nothing is approved. */
  private async read(): Promise<ReadonlySet<string>> {
    const approvals = await this.store.list().catch(() => []);
    const workspace = realLocation(this.workspaceDir);
    return new Set(approvals.flatMap((approval) => (approval.workspace === workspace ? [approval.digest] : [])));
  }
}
