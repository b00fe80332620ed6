// A plugin as a class. Blocks all tool calls after the first ten, or after the number in its entry.
// #region plugin
export default class Counter {
  readonly name = 'counter';
  private readonly most: number;
  private calls = 0;

  constructor({ most = 10 }: { readonly most?: number } = {}) {
    this.most = most;
  }

  beforeToolExecute(name: string, input: Record<string, unknown>) {
    this.calls += 1;
    return this.calls > this.most ? null : { name, input };
  }
}
// #endregion
