import { realLocation } from '../../process/files/location.js';
import type { TrustStore } from '../../trust/approvals/store.js';

type Approvals = Awaited<ReturnType<TrustStore['list']>>;

/** Runs changes one after another. Detects approvals of a workspace that this process or another one has revoked. */
export class Revocations {
  private seen: Approvals | undefined = undefined;
  private known: ReadonlySet<string> = new Set();
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: Pick<TrustStore, 'list'>,
    private readonly workspaceDir: string,
  ) {}

  /** Returns true if an approval was revoked since the last call. Parses the approval file only if it has changed. */
  async areNew(): Promise<boolean> {
    const { known } = this;
    return (await this.look()) && [...known].some((digest) => !this.known.has(digest));
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
    await this.look();
    const before = this.known;
    try {
      return await work();
    } finally {
      await this.look();
      this.known = new Set([...before, ...this.known]);
      this.seen = undefined;
    }
  }

  /** Returns false if the approvals are unchanged. If the file cannot be read, nothing is approved. */
  private async look(): Promise<boolean> {
    const approvals = await this.store.list().catch((): Approvals => []);
    if (approvals === this.seen) return false;
    const workspace = realLocation(this.workspaceDir);
    const own = approvals.filter((approval) => approval.workspace === workspace);
    this.seen = approvals;
    this.known = new Set(own.map(({ digest }) => digest));
    return true;
  }
}
