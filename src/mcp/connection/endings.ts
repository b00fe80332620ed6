/** Work that goes on after its outcome is known, such as the end of a process. */
export class Endings {
  private readonly open = new Set<Promise<void>>();

  constructor(private readonly onError: (error: unknown) => void) {}

  add(ending: Promise<void>): void {
    const settled = ending.catch(this.onError).finally(() => this.open.delete(settled));
    this.open.add(settled);
  }

  /** Resolves when nothing is left. Never rejects. */
  async settled(): Promise<void> {
    while (this.open.size > 0) await Promise.all(this.open);
  }
}
